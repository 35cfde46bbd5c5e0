// Parses git's output: commits, the state of the work tree, pushes, what is checked out.

/** A commit that git reports: `[branch abc1234] subject`. */
export interface ReportedCommit {
  readonly branch: string;
  readonly hash: string;
  readonly subject: string;
  /** Number of files it changed, if git printed it below. */
  readonly files: number | undefined;
}

/** The commits that git reports to have made, in order. */
export function commitsIn(output: string): ReportedCommit[] {
  if (!output.includes('[')) return [];
  const rows = output.split('\n');
  return rows.flatMap((row, at) => {
    if (!row.startsWith('[') || row.length > 400) return [];
    const [, branch, hash, subject] =
      /^\[([^\]]{1,200}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.{1,200})/.exec(row) ?? [];
    if (branch === undefined || hash === undefined || subject === undefined) return [];
    const count = rows.slice(at + 1, at + 4).find((below) => /^ \d+ files? changed/.test(below));
    return [{ branch, hash, subject, files: count === undefined ? undefined : Number.parseInt(count, 10) }];
  });
}

/** A path in a listing of `git status`. */
export interface ListedPath {
  readonly path: string;
  /** The index holds a change of it for the next commit. */
  readonly isStaged: boolean;
  /** It has a change that the index does not hold. */
  readonly isDirty: boolean;
  readonly isUntracked: boolean;
  readonly isDeleted: boolean;
  /** Git has an older text of it. */
  readonly isModified: boolean;
}

/** The listing of `git status`, in either form; empty if nothing is to be committed. */
export function statusIn(output: string): ListedPath[] {
  return /^(?:On branch |HEAD detached |nothing to commit|Changes (?:to be committed|not staged)|no changes added)/m.test(
    output,
  )
    ? longStatus(output)
    : shortStatus(output);
}

const SHORT_ROW = /^([ MADRCUT?!])([ MADRCUT?!]) (\S.*)$/;

/** The first run of rows such as ` M src/a.ts`: other commands may have printed before and after it. */
function shortStatus(output: string): ListedPath[] {
  const rows = output.split('\n');
  const isRow = (row: string): boolean => SHORT_ROW.test(row) && !row.startsWith('  ');
  const from = rows.findIndex(isRow);
  const listed: ListedPath[] = [];
  for (let at = Math.max(0, from); at < rows.length && isRow(rows[at] ?? ''); at++) {
    const [, index = ' ', tree = ' ', path = ''] = SHORT_ROW.exec(rows[at] ?? '') ?? [];
    listed.push({
      path: newName(path),
      isStaged: !' ?!'.includes(index),
      isDirty: tree !== ' ',
      isUntracked: index === '?',
      isDeleted: index === 'D' || tree === 'D',
      isModified: index === 'M' || (index === ' ' && tree === 'M'),
    });
  }
  return listed;
}

const LONG_ROW =
  /^\s+(?:(new file|modified|deleted|renamed|copied|typechange|both \w+|\w+ by (?:us|them)): +)?(\S.*)$/;

function longStatus(output: string): ListedPath[] {
  const listed: ListedPath[] = [];
  const added = new Set<string>();
  let section = '';
  for (const row of output.split('\n')) {
    const heading = /^(Changes to be committed|Changes not staged|Unmerged paths|Untracked files)/.exec(row);
    if (heading !== null) section = heading[1] ?? '';
    else if (/^\S/.test(row)) section = '';
    const [, how = '', written = ''] = LONG_ROW.exec(row) ?? [];
    const isUntracked = section === 'Untracked files';
    if (section === '' || written === '' || written.startsWith('(use ') || (how === '' && !isUntracked))
      continue;
    const isStaged = section === 'Changes to be committed';
    const path = newName(written);
    if (how === 'new file') added.add(path);
    listed.push({
      path,
      isStaged,
      isDirty: !isStaged,
      isUntracked,
      isDeleted: how === 'deleted',
      isModified: how === 'modified' && !added.has(path),
    });
  }
  return listed;
}

/** The current name of a path, without the quotes around one with blanks. */
function newName(written: string): string {
  const to = written.slice(written.lastIndexOf(' -> ') + (written.includes(' -> ') ? 4 : 1));
  return to.replace(/^"(.*)"$/, '$1').trimEnd();
}

/** How many commits a branch has that its remote lacks, and the reverse. */
export interface Distance {
  readonly ahead: number;
  readonly behind: number;
}

/**
 * How far the branch is from its own upstream, according to `git status` and `git checkout`; undefined if they do not say, or
 * if the upstream is another branch from which this one was created.
 */
export function distanceIn(output: string): Distance | undefined {
  const short = /^## ((?:[^\s.]|\.(?!\.\.))+)\.\.\.[^\s/]+\/(\S+)(?: \[(.{1,60})\])?$/m.exec(output);
  if (short !== null) {
    const [, branch, upstream, distance = ''] = short;
    const count = (word: RegExp): number => Number(word.exec(distance)?.[1] ?? 0);
    return branch === upstream ? { ahead: count(/ahead (\d+)/), behind: count(/behind (\d+)/) } : undefined;
  }
  const [, own, theirs] =
    /^Your branch and '[^']+' have diverged,\nand have (\d+) and (\d+) different/m.exec(output) ?? [];
  if (own !== undefined && theirs !== undefined) return { ahead: Number(own), behind: Number(theirs) };
  const [, relation, upstream] =
    /^Your branch (is ahead of|is up to date with|is behind) '[^'/]+\/([^']+)'/m.exec(output) ?? [];
  if (upstream === undefined) return undefined;
  const branch = /^On branch (\S+)|^(?:Switched to|Already on)(?: branch)? '([^']+)'/m.exec(output);
  const name = branch?.[1] ?? branch?.[2];
  if (name !== undefined && name !== upstream) return undefined;
  const count = Number(/ by (\d+) commit/.exec(output)?.[1] ?? 1);
  return {
    ahead: relation === 'is ahead of' ? count : 0,
    behind: relation === 'is behind' ? count : 0,
  };
}

/** How a push of a branch ended. `other`: only other branches or tags were pushed. */
export interface PushReport {
  readonly result: 'pushed' | 'refused' | 'other';
  /** The remote's new commit, if git prints it. */
  readonly hash: string | undefined;
  /** The reason for a rejection, in git's words. */
  readonly reason: string | undefined;
}

const PUSH_ROW = /^ ([ +*=!-]) +(\[[^\]]+\]|\S+) +(\S+) -> (\S+)(?: \((.{1,80})\))?/;

/** Parses the report of a push; `branch` is undefined if the checked-out branch is unknown. */
export function pushIn(output: string, branch: string | undefined): PushReport | undefined {
  const rows = output.split('\n').flatMap((row) => {
    const [, mark, range = '', from, to, reason] = PUSH_ROW.exec(row) ?? [];
    return mark === undefined || range === '[new tag]' || to?.startsWith('origin/') === true
      ? []
      : [{ isRefused: mark === '!', hash: /\.\.([0-9a-f]{7,40})$/.exec(range)?.[1], from, to, reason }];
  });
  const own = rows.filter(
    ({ from, to }) => branch === undefined || from === branch || to === branch || from === 'HEAD',
  );
  const row = own.find(({ isRefused }) => !isRefused) ?? own[0];
  if (row !== undefined) {
    return { result: row.isRefused ? 'refused' : 'pushed', hash: row.hash, reason: row.reason };
  }
  if (output.includes('Everything up-to-date'))
    return { result: 'pushed', hash: undefined, reason: undefined };
  const reason = /^(?:error|fatal): (.{1,80})/m.exec(output)?.[1];
  if (reason !== undefined) return { result: 'refused', hash: undefined, reason };
  return rows.length > 0 || output.includes('[new tag]')
    ? { result: 'other', hash: undefined, reason: undefined }
    : undefined;
}

/** A commit in a listing. */
export interface LoggedCommit {
  readonly hash: string;
  readonly subject: string;
}

/** The commits that `git log` or `git show` listed, newest first, in the formats that begin with the hash. */
export function loggedIn(output: string): LoggedCommit[] {
  const rows = output.split('\n');
  return rows.flatMap((row, at) => {
    const long = /^commit ([0-9a-f]{40})\b/.exec(row)?.[1];
    if (long !== undefined) {
      const subject = rows.slice(at + 1, at + 8).find((below) => /^ {4}\S/.test(below));
      return subject === undefined ? [] : [{ hash: long, subject: subject.trim() }];
    }
    const [, hash, subject] = /^(?:\* )?([0-9a-f]{7,40}) (?:\([^)\n]{1,200}\) )?(\S.{0,199})/.exec(row) ?? [];
    return hash === undefined || subject === undefined ? [] : [{ hash, subject }];
  });
}

/**
 * The first commit of a listing, in a format that begins with its hash; the subject follows on the same line or, with a line
 * feed in the format, on the next.
 */
export function firstLogged(output: string): LoggedCommit | undefined {
  const [first = '', second = ''] = output.trimStart().split('\n', 2);
  const [logged] = loggedIn(output.trimStart());
  if (/^[0-9a-f]{40}$/.test(first) && second.trim() !== '') return { hash: first, subject: second.trim() };
  return logged !== undefined && first.includes(logged.hash) ? logged : undefined;
}

/** The files of commits, as `--stat` and `--name-only` list them; git cuts long paths at the front. */
export function listedFiles(output: string): string[] {
  return output.split('\n').flatMap((row) => {
    const path = /^ (?:\.\.\.\/)?(\S[^|]{0,300}?) +\| +(?:\d|Bin)|^(?:[AMDR]\d*\t)?([\w./-]+\.\w+)$/.exec(
      row,
    );
    return path === null ? [] : [path[1] ?? path[2] ?? ''];
  });
}

/** `HEAD is now at abc1234 subject`, as `reset --hard`, `checkout` and `worktree add` print it. */
export function headIn(output: string): LoggedCommit | undefined {
  const [, hash, subject] = /^HEAD is now at ([0-9a-f]{7,40}) (.{1,200})/m.exec(output) ?? [];
  return hash === undefined || subject === undefined ? undefined : { hash, subject };
}
