// A process for commands under test: what they print is collected, the world is what the test says.

import type { CommandIo } from '../../src/cli/io.ts';

/** A command's world, with what it printed. */
export interface TestIo extends CommandIo {
  readonly printed: () => string;
  readonly complained: () => string;
  readonly bytes: () => Buffer;
}

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A world without terminal, colour or variables; `changes` replace parts of it. */
export function testIo(changes: Partial<CommandIo> & Pick<CommandIo, 'cwd' | 'homeDirectory'>): TestIo {
  const out: Buffer[] = [];
  const err: string[] = [];
  let ids = 0;
  return {
    stdout: (text) => void out.push(Buffer.from(text)),
    stderr: (text) => void err.push(text),
    stdoutBytes: async (bytes) => void out.push(Buffer.from(bytes)),
    stdoutWaiting: () => 0,
    stdin: noInput(),
    env: {},
    now: () => new Date(NOW),
    clock: { now: () => NOW },
    ids: { uuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}` },
    look: { hasColor: false, seal: '', hasUnicode: true, width: 80, isPiped: true },
    showsProgress: false,
    signal: new AbortController().signal,
    ...changes,
    printed: () => Buffer.concat(out).toString('utf8'),
    complained: () => err.join(''),
    bytes: () => Buffer.concat(out),
  };
}

async function* noInput(): AsyncGenerator<Buffer> {}
