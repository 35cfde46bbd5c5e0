import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FromTerminal, Port, ToTerminal } from '../../tui/channel.ts';
import { LatePort } from './late-port.ts';
import { isPlainUi } from './plain-ui.ts';

test('only a command line that cannot mean anything else opens the terminal UI early', () => {
  const plain = [
    [],
    ['--last'],
    ['--resume', 'last'],
    ['--model', 'rehearsal', '--speed', '20'],
    ['--resume', 'a1', '--model', 'b'],
  ];
  for (const args of plain) assert.equal(isPlainUi(args), true, args.join(' '));
  const other = [
    ['inspect'],
    ['fix it'],
    ['--help'],
    ['--resume'],
    ['--resume', '--last'],
    ['--speed', 'fast'],
    ['--model', 'a', '--sandbox', 'read_only'],
    ['-c', 'a=1'],
    ['--json'],
    ['toString', 'a'],
  ];
  for (const args of other) assert.equal(isPlainUi(args), false, args.join(' '));
});

class RecordedPort implements Port {
  readonly sent: FromTerminal[] = [];
  isClosed = false;
  readonly #takers: ((message: ToTerminal) => void)[] = [];
  postMessage(message: FromTerminal): void {
    this.sent.push(message);
  }
  on(event: 'message' | 'close', take: ((message: ToTerminal) => void) & (() => void)): void {
    if (event === 'message') this.#takers.push(take);
  }
  close(): void {
    this.isClosed = true;
  }
  deliver(message: ToTerminal): void {
    for (const take of this.#takers) take(message);
  }
}

test('messages wait for the other end, in order', () => {
  const [late, real] = [new LatePort(), new RecordedPort()];
  const heard: string[] = [];
  late.on('message', ({ type }) => void heard.push(type));
  late.postMessage({ type: 'rehearse' });
  late.attach(real);
  late.postMessage({ type: 'leave' });
  real.deliver({ type: 'end' });
  assert.deepEqual(
    real.sent.map(({ type }) => type),
    ['rehearse', 'leave'],
  );
  assert.deepEqual(heard, ['end']);
});

test('closing before the other end is there closes it as soon as it is', () => {
  const [late, real] = [new LatePort(), new RecordedPort()];
  late.postMessage({ type: 'leave' });
  late.close();
  late.attach(real);
  assert.equal(real.isClosed, true);
  assert.equal(real.sent.length, 1);
});
