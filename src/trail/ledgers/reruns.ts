// What a run that went well says of one that failed: the same act, the same in other words, a part of it, or nothing.

import {
  actOf,
  includesCheck,
  isCheck,
  isMisspelled,
  withoutAssignments,
  withoutLauncher,
} from '../../shell/runners.ts';
import { saysPassed } from '../outputs/outputs.ts';
import { isOwn } from './tasks.ts';
import type { PackageTask } from './tasks.ts';
import type { LaterRun } from '../trail.ts';

/** A run by which others are compared with it. */
export interface ComparedRun {
  /** Its commands in all their words, but for those that only decide how much is printed. */
  readonly parts: readonly string[];
  /** Where it ran, as far as the call or its script said so. */
  readonly directory: string | undefined;
  readonly telling: readonly string[];
}

/** Whether two runs are known to have had different places: one of which nothing is known may have been anywhere. */
export function isElsewhere(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Whether all that failed ran well again, word by word: alone, in a longer script, or as what a task runs. */
export function hasPassed(failed: ComparedRun, well: ComparedRun, tasks: readonly PackageTask[]): boolean {
  const { parts, directory } = failed;
  if (!isElsewhere(directory, well.directory) && parts.every((part) => well.parts.includes(part)))
    return true;
  const commands = tasks
    .filter(({ owner }) => directory !== undefined && isOwn(owner, directory))
    .flatMap((task) => task.commands);
  return commands.length > 0 && parts.every((part) => commands.includes(withoutLauncher(part)));
}

/** What a run that went well says of a failed one that did not pass, where no file is known to have been mended. */
export function lightOf(failed: ComparedRun, well: ComparedRun): LaterRun['as'] | undefined {
  if (isElsewhere(failed.directory, well.directory)) return undefined;
  if (isMisspelled(failed.telling) && !isWithoutRefused(failed, well)) {
    const acts = new Set(failed.parts.map(actOf));
    return well.parts.some((part) => acts.has(actOf(part))) ? 'respelled' : undefined;
  }
  if (failed.parts.every((part) => well.parts.some((one) => isPartOf(one, part)))) return 'part';
  const operands = new Set(well.parts.map((part) => operandsOf(part).join(' ')));
  return failed.parts.every((part) => operands.has(operandsOf(part).join(' '))) ? 'variant' : undefined;
}

/** Whether a run has all words of one that was spelled wrong but for options, and none that it had not. */
function isWithoutRefused(failed: ComparedRun, well: ComparedRun): boolean {
  const had = new Set(failed.parts.flatMap((part) => part.split(' ')));
  return well.parts.every((part) => part.split(' ').every((word) => had.has(word)));
}

/** Whether a check that ran well looks at all that each command of a failed run had looked at. */
export function includesAll(failed: ComparedRun, well: ComparedRun): boolean {
  if (isElsewhere(failed.directory, well.directory)) return false;
  return failed.parts.every((part) => well.parts.some((one) => includesCheck(one, part)));
}

/** Whether a run says that it passed all files that a failed check was given, whatever runs them. */
export function passesFiles(failed: ComparedRun, well: ComparedRun): boolean {
  if (isElsewhere(failed.directory, well.directory) || !well.telling.some(saysPassed)) return false;
  return failed.parts.every((part) => {
    const files = isCheck(part) ? operandsOf(part).slice(1).filter(namesFile) : [];
    return (
      files.length > 0 &&
      well.parts.some((one) => {
        const own = operandsOf(one).slice(1);
        return !isPicking(one) && files.every((file) => own.some((word) => isInside(file, word)));
      })
    );
  });
}

/** How `go test` says that all tests of a package passed, whoever called it. @source cmd/go, Go 1.22 */
const PASSED_PACKAGE = /^ok[ \t]{1,8}(\S+)[ \t](?!.*\[no tests to run\])/gm;

/** Options of `go test` that pick some tests of a package, or only change what is printed and how often they run. */
const OF_WHOLE_PACKAGE = /^-(?:v|run|count|timeout|failfast)(?:=|$)/;

/** Whether an output says that all packages passed that a failed `go test` was given. */
export function passesPackages({ parts }: ComparedRun, output: string): boolean {
  if (!parts.every((part) => part.startsWith('go test ')) || !output.includes('ok')) return false;
  const passed = [...output.matchAll(PASSED_PACKAGE)].map(([, name = '']) => name);
  return parts.every((part) => {
    const words = part.split(' ');
    const places = words.filter((word) => word.startsWith('./')).map(packageOf);
    const isWhole = words.every((word) => !word.startsWith('-') || OF_WHOLE_PACKAGE.test(word));
    const isPassed = (place: string): boolean => passed.some((name) => name.endsWith(place));
    return isWhole && places.length > 0 && places.every((place) => place !== '' && isPassed(place));
  });
}

/** How pytest names what failed, and counts it. @source pytest 5 to 8, short test summary */
const FAILED_TEST = /^(FAILED|ERROR) (\S+)/gm;
const FAILED_TESTS = /\b(\d{1,5}) failed\b/;

/** An option by which tests are left that come after a failure. */
const STOPS_EARLY = /^(?:-[a-wyz]*x[a-z]*|--exitfirst|--maxfail\b.*)$/;

/**
 * Whether a run of more tests that failed passed those that a failed run of pytest had picked: it names all that failed, and
 * not them.
 * @param run with its command in all its words
 */
export function passesTests(
  failed: ComparedRun,
  run: ComparedRun & { readonly command: string },
  output: string,
): boolean {
  if (isElsewhere(failed.directory, run.directory) || !output.includes('FAILED ')) return false;
  const named = [...output.matchAll(FAILED_TEST)];
  const count = named.filter(([, how]) => how === 'FAILED').length;
  if (count !== Number(FAILED_TESTS.exec(output)?.[1]) || !/\b\d+ passed\b/.test(output)) return false;
  if (run.command.split(' ').some((word) => STOPS_EARLY.test(word))) return false;
  const hasFailed = (test: string): boolean => named.some(([, , name = '']) => isOfTest(name, test));
  return failed.parts.every((part) => {
    const tests = operandsOf(part).filter((word) => word.includes('::'));
    const hasRun = (test: string): boolean => run.parts.some((one) => runsTest(one, test));
    return tests.length > 0 && tests.every((test) => hasRun(test) && !hasFailed(test));
  });
}

/** Whether a name is that of a test, of one of its cases, or of one inside of it. */
function isOfTest(name: string, test: string): boolean {
  return name === test || name.startsWith(`${test}[`) || name.startsWith(`${test}::`);
}

/** Whether a command of pytest runs a test, among others. */
function runsTest(command: string, test: string): boolean {
  const words = command.split(' ');
  const at = words.indexOf('pytest');
  if (at < 0 || isPicking(command)) return false;
  const places = words.slice(at + 1).filter((word) => !word.startsWith('-'));
  return places.length === 0 || places.some((place) => isInside(test, place));
}

/** `/cli/strategy` of `./cli/strategy/...`; empty for all packages. */
function packageOf(word: string): string {
  return word.slice(1).replace(/\/?(?:\.\.\.)?$/, '');
}

/** Whether a word of a check names a file, or a test in one. */
function namesFile(word: string): boolean {
  return /$(?<=\.\w{1,5}(?:::\S+)?)/.test(word);
}

/** Program and operands of a command, without variables, options, and where it writes to. */
function operandsOf(part: string): string[] {
  return withoutAssignments(part)
    .split(' ')
    .filter((word, at, all) => !word.startsWith('-') && all[at - 1] !== '-o');
}

/** Options that pick a few of all tests. */
const PICKING = /^--?(?:run|grep|filter|k|t|g|testNamePattern|testPathPattern)=/;

/** Whether a check looks at a part of what another one looks at: it has more operands, or narrower ones. */
export function isPartOf(part: string, whole: string): boolean {
  if (!isCheck(whole)) return false;
  const [few, all] = [operandsOf(part), operandsOf(whole)];
  if (few[0] !== all[0] || !all.every((word) => few.some((own) => isInside(own, word)))) return false;
  return few.join(' ') !== all.join(' ') || (isPicking(part) && !isPicking(whole));
}

function isPicking(command: string): boolean {
  return command.split(' ').some((word) => PICKING.test(word));
}

/** Whether an operand is another one, or lies in what it names. */
function isInside(own: string, word: string): boolean {
  const place = word.replace(/\/?(?:\.\.\.)?$/, '');
  return own === word || own.startsWith(`${place}/`) || own.startsWith(`${place}::`);
}
