// The state of a session while its log is read, and the ledgers that record what the session did.

import { ChecklistLedger } from './ledgers/checklists.ts';
import { DeliveryLedger } from './ledgers/deliveries.ts';
import { FileLedger } from './ledgers/files.ts';
import type { LogMoment } from './ledgers/files.ts';
import { GitLedger } from './git/ledger.ts';
import { IdentifierIndex } from '../text/identifiers/identifiers.ts';
import type { Mention, Quotable } from '../text/identifiers/identifiers.ts';
import { ItemLedger } from './talk/items.ts';
import { PlaceLedger } from './ledgers/places.ts';
import { PlanLedger } from './ledgers/plan.ts';
import { withoutSecrets } from '../text/redact.ts';
import { RequestLedger } from './talk/requests.ts';
import { RunLedger } from './ledgers/runs.ts';
import { endsOf } from '../text/sentences.ts';
import { StatementPool } from './talk/statements.ts';
import { StepLedger } from './ledgers/steps.ts';

/** Characters of one text that are searched for identifiers, at its head and again at its tail. */
const INDEXED_LENGTH = 24_000;

/** The ledgers of one trail. */
export class TrailState {
  readonly requests = new RequestLedger();
  readonly runs = new RunLedger();
  readonly plan = new PlanLedger();
  readonly items = new ItemLedger();
  readonly checklists = new ChecklistLedger();
  readonly statements = new StatementPool();
  readonly index = new IdentifierIndex();
  readonly files = new FileLedger(this.index);
  readonly deliveries = new DeliveryLedger();
  readonly git = new GitLedger(this.files);
  readonly steps = new StepLedger();
  readonly place = new PlaceLedger();
  /** Working directory as the log names it, without a trailing slash. */
  cwd: string | undefined;
  /** Position in the log. The non-text parts of an answer come half a position after it. */
  position = 0;
  /** Whether the log itself shows anything of the past. */
  hasPast = false;

  get moment(): LogMoment {
    return { turn: this.requests.turn, position: this.position };
  }

  /** The working directory, or empty. */
  get root(): string {
    return this.cwd ?? '';
  }

  /** A path relative to the working directory if it is inside it. */
  relative(path: string): string {
    const { root } = this;
    const bare = path.endsWith('/.') ? path.slice(0, -2) : path;
    if (root !== '' && bare === root) return '.';
    if (root !== '' && bare.startsWith(`${root}/`)) return bare.slice(root.length + 1);
    return bare.startsWith('./') ? bare.slice(2) : bare;
  }

  /** Indexes the names in a text. A secret on its own looks like a name; only the text before it gives it away. */
  note(text: string, by: Mention, quotable?: Quotable): void {
    this.index.add(withoutSecrets(text), { by, position: this.position, root: this.root, quotable });
  }

  /** A text whose names may be quoted. */
  quotable(by: Quotable['by'], text: string): Quotable {
    return { by, position: this.position, text: excerpt(text), outcome: undefined };
  }
}

/** The part of a text that is searched for names. */
export function excerpt(text: string): string {
  return endsOf(text, INDEXED_LENGTH);
}
