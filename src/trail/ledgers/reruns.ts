// What a successful run says about a failed one: the same command, the same in other words, a part of it, or nothing.

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

/** A run with what comparisons need. */
export interface ComparedRun {
  /** Its commands in full, without words that only control how much is printed. */
  readonly parts: readonly string[];
  /** Where it ran, if the call or its script says so. */
  readonly directory: string | undefined;
  readonly outcomeLines: readonly string[];
}

/** Whether two runs are known to have run in different places: a run of unknown place may have run anywhere. */
export function isElsewhere(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Whether everything that failed ran again and succeeded, word for word: alone, in a longer script, or in a task. */
export function hasPassed(failed: ComparedRun, well: ComparedRun, tasks: readonly PackageTask[]): boolean {
  const { parts, directory } = failed;
  if (!isElsewhere(directory, well.directory) && parts.every((part) => well.parts.includes(part)))
    return true;
  const commands = tasks
    .filter(({ owner }) => directory !== undefined && isOwn(owner, directory))
    .flatMap((task) => task.commands);
  return commands.length > 0 && parts.every((part) => commands.includes(withoutLauncher(part)));
}

/** What a successful run says about a failed one that did not pass, if no file is known to have been repaired. */
export function lightOf(failed: ComparedRun, well: ComparedRun): LaterRun['as'] | undefined {
  if (isElsewhere(failed.directory, well.directory)) return undefined;
  if (isMisspelled(failed.outcomeLines) && !isWithoutRefused(failed, well)) {
    const acts = new Set(failed.parts.map(actOf));
    return well.parts.some((part) => acts.has(actOf(part))) ? 'respelled' : undefined;
  }
  if (failed.parts.every((part) => well.parts.some((one) => isPartOf(one, part)))) return 'part';
  const operands = new Set(well.parts.map((part) => operandsOf(part).join(' ')));
  return failed.parts.every((part) => operands.has(operandsOf(part).join(' '))) ? 'variant' : undefined;
}

/** Whether a run has all words of a misspelled one except options, and no others. */
function isWithoutRefused(failed: ComparedRun, well: ComparedRun): boolean {
  const had = new Set(failed.parts.flatMap((part) => part.split(' ')));
  return well.parts.every((part) => part.split(' ').every((word) => had.has(word)));
}

/** Whether a successful check covers what each command of a failed run covered. */
export function includesAll(failed: ComparedRun, well: ComparedRun): boolean {
  if (isElsewhere(failed.directory, well.directory)) return false;
  return failed.parts.every((part) => well.parts.some((one) => includesCheck(one, part)));
}

/** Whether a run reports that all files given to a failed check passed, whatever ran them. */
export function passesFiles(failed: ComparedRun, well: ComparedRun): boolean {
  if (isElsewhere(failed.directory, well.directory) || !well.outcomeLines.some(saysPassed)) return false;
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

/** How `go test` reports that all tests of a package passed, whatever called it. @source cmd/go, Go 1.22 */
const PASSED_PACKAGE = /^ok[ \t]{1,8}(\S+)[ \t](?!.*\[no tests to run\])/gm;

/** Options of `go test` that select some tests of a package, or only change the output and the number of runs. */
const OF_WHOLE_PACKAGE = /^-(?:v|run|count|timeout|failfast)(?:=|$)/;

/** Whether an output reports that all packages given to a failed `go test` passed. */
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

/** How pytest lists and counts failures. @source pytest 5 to 8, short test summary */
const FAILED_TEST = /^(FAILED|ERROR) (\S+)/gm;
const FAILED_TESTS = /\b(\d{1,5}) failed\b/;

/** An option that skips the tests after a failure. */
const STOPS_EARLY = /^(?:-[a-wyz]*x[a-z]*|--exitfirst|--maxfail\b.*)$/;

/**
 * Whether a failed run of more tests passed those that an earlier failed pytest run had selected: it lists all failures, and
 * they are not among them.
 * @param run with its command in full
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

/** Whether a name is that of a test, of one of its cases, or of one inside it. */
function isOfTest(name: string, test: string): boolean {
  return name === test || name.startsWith(`${test}[`) || name.startsWith(`${test}::`);
}

/** Whether a pytest command runs a test, among others. */
function runsTest(command: string, test: string): boolean {
  const words = command.split(' ');
  const at = words.indexOf('pytest');
  if (at < 0 || isPicking(command)) return false;
  const places = words.slice(at + 1).filter((word) => !word.startsWith('-'));
  return places.length === 0 || places.some((place) => isInside(test, place));
}

/** `/cli/strategy` for `./cli/strategy/...`; empty for all packages. */
function packageOf(word: string): string {
  return word.slice(1).replace(/\/?(?:\.\.\.)?$/, '');
}

/** Whether an argument of a check names a file, or a test in one. */
function namesFile(word: string): boolean {
  return /$(?<=\.\w{1,5}(?:::\S+)?)/.test(word);
}

/** Program and operands of a command, without variables, options and redirections. */
function operandsOf(part: string): string[] {
  return withoutAssignments(part)
    .split(' ')
    .filter((word, at, all) => !word.startsWith('-') && all[at - 1] !== '-o');
}

/** Options that select a few of all tests. */
const PICKING = /^--?(?:run|grep|filter|k|t|g|testNamePattern|testPathPattern)=/;

/** Whether a check covers part of what another one covers: it has more operands, or narrower ones. */
export function isPartOf(part: string, whole: string): boolean {
  if (!isCheck(whole)) return false;
  const [few, all] = [operandsOf(part), operandsOf(whole)];
  if (few[0] !== all[0] || !all.every((word) => few.some((own) => isInside(own, word)))) return false;
  return few.join(' ') !== all.join(' ') || (isPicking(part) && !isPicking(whole));
}

function isPicking(command: string): boolean {
  return command.split(' ').some((word) => PICKING.test(word));
}

/** Whether an operand equals another one or is inside it. */
function isInside(own: string, word: string): boolean {
  const place = word.replace(/\/?(?:\.\.\.)?$/, '');
  return own === word || own.startsWith(`${place}/`) || own.startsWith(`${place}::`);
}
