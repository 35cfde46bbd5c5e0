// Which steps are known to only look: of others, that no file was edited is not that nothing was changed.

import { ELLIPSIS } from '../sentences.ts';
import type { Activity } from '../trail.ts';

/** Tools and programs that only read, as calls begin with them. */
const READS =
  /^(?:(?:read|view|grep|glob|ls|list|search|find|open|fetch|web)(?:[_ ]?[A-Z]?[a-z]*)*\b|(?:cat|ls|rg|head|tail|wc|echo|printf|pwd|cd|nl|sort|uniq|cut|jq|tree|stat|file|which|diff|test|true|sed -n|awk)\b)/i;
/** What changes something whatever stands before it. */
const CHANGES = /(?:^|\s)(?:-delete|-exec\w*|-i\b|--in-place)|(?<![0-9&<])>(?!\s*\/dev\/null|&)|\bxargs\b/;

/** Whether a step is known to have only looked; one that is not told whole may have done anything. */
export function onlyLooked({ call, deed, isRead }: Activity): boolean {
  if (deed !== undefined) return false;
  if (isRead) return true;
  if (call.endsWith(ELLIPSIS) || CHANGES.test(call)) return false;
  return call.split(/&&|\|\||[;|\n]/).every((part) => READS.test(part.trim()));
}
