import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setKittyProtocolActive } from '@earendil-works/pi-tui/dist/keys.js';
import { Keyboard } from './keyboard.io.ts';
import type { Heard } from './keyboard.io.ts';

function listen(): { readonly keyboard: Keyboard; readonly heard: Heard[]; readonly keys: () => string[] } {
  const heard: Heard[] = [];
  const keyboard = new Keyboard((each) => heard.push(each));
  return {
    keyboard,
    heard,
    keys: () =>
      heard.map((each) => {
        if (each.type === 'focus') return each.hasFocus ? 'focus' : 'blur';
        const { key, text } = each.press;
        return text === '' || key === text ? key : `${key}|${text}`;
      }),
  };
}

function keysOf(...chunks: readonly (string | Uint8Array)[]): string[] {
  const { keyboard, keys } = listen();
  for (const chunk of chunks) keyboard.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  keyboard.close();
  return keys();
}

afterEach(() => setKittyProtocolActive(false));

test('keys as terminals send them', () => {
  const cases: readonly (readonly [sent: string, ...keys: string[]])[] = [
    ['a', 'a'],
    ['A?', 'A', '?'],
    [' ', 'space| '],
    ['\r', 'enter'],
    ['\n', 'ctrl+j'],
    ['\t', 'tab'],
    ['\u001B[Z', 'shift+tab'],
    ['\u007F', 'backspace'],
    ['\u0003\u0004\u001A', 'ctrl+c', 'ctrl+d', 'ctrl+z'],
    ['\u001B[A\u001BOB', 'up', 'down'],
    ['\u001B\r', 'alt+enter'],
    ['\u001B\n', 'alt+enter'],
    ['\u001Bb\u001By', 'alt+left', 'alt+y'],
    ['\u001B[1;3A', 'alt+up'],
    ['\u001B\u001B[A', 'alt+up'],
    ['\u001B\u001B', 'escape', 'escape'],
    ['\u001B[27;2;13~', 'shift+enter'],
    ['\u001B[13;2u', 'shift+enter'],
    ['\u001B[13;3u', 'alt+enter'],
    ['\u001B[27u', 'escape'],
    ['\u001B[99;5u', 'ctrl+c'],
    ['\u001B[97:65;2u', 'A'],
    ['\u001B[47:63;2u', '?'],
    // A press and its release, as Kitty reports them with its second flag.
    ['\u001B[97;1:1u\u001B[97;1:3u', 'a'],
    ['é你👍', 'é', '你', '👍'],
    ['\u001B[I\u001B[O', 'focus', 'blur'],
    // Answers of the terminal are not keys.
    ['\u001B[?62;4c\u001B]11;rgb:0000/0000/0000\u0007x', 'x'],
  ];
  for (const [sent, ...keys] of cases) assert.deepEqual(keysOf(sent), keys, JSON.stringify(sent));
});

test('what a terminal splits arrives whole', () => {
  assert.deepEqual(keysOf('\u001B', '[', 'A'), ['up']);
  assert.deepEqual(keysOf('x\u001B[1;', '3A'), ['x', 'alt+up']);
  assert.deepEqual(keysOf('\u001B[20', '0~one\rtwo\u001B[2', '01~z'), ['|one\rtwo', 'z']);
  const emoji = Buffer.from('👩‍🚀');
  for (let at = 1; at < emoji.length; at++) {
    const { keyboard, heard } = listen();
    keyboard.write(emoji.subarray(0, at));
    keyboard.write(emoji.subarray(at));
    keyboard.close();
    const text = heard.map((each) => (each.type === 'press' ? each.press.text : '')).join('');
    assert.equal(text, '👩‍🚀');
  }
});

test('invalid bytes become a replacement character and swallow nothing', () => {
  assert.deepEqual(keysOf(Uint8Array.of(0xe4, 0xbd), Uint8Array.of(0x61)), ['\uFFFD', 'a']);
  assert.deepEqual(keysOf(Uint8Array.of(0xff), 'b'), ['\uFFFD', 'b']);
});

test('Esc alone is a key after ten milliseconds, and does not swallow the next one', async () => {
  const { keyboard, keys } = listen();
  keyboard.write(Buffer.from('\u001B'));
  assert.deepEqual(keys(), []);
  await sleep(40);
  assert.deepEqual(keys(), ['escape']);
  keyboard.write(Buffer.from('b'));
  assert.deepEqual(keys(), ['escape', 'b']);
  keyboard.close();
});

test("Kitty's answer changes what the ambiguous sequences mean", () => {
  assert.deepEqual(keysOf('\u001B[?1u', '\u001B\r'), ['shift+enter']);
  assert.deepEqual(keysOf('\u001B[?0u', '\u001B\r'), ['alt+enter']);
});

test('a paste of 10,000 lines in small chunks is one paste, within a second', () => {
  const pasted = Array.from(
    { length: 10_000 },
    (_, at) => `line ${at}: \u001B[31mred ${'x'.repeat(60)}`,
  ).join('\r');
  const bytes = Buffer.from(`\u001B[200~${pasted}\u001B[201~\r`);
  const { keyboard, heard } = listen();
  const before = process.cpuUsage();
  for (let at = 0; at < bytes.length; at += 4095) keyboard.write(bytes.subarray(at, at + 4095));
  const { user, system } = process.cpuUsage(before);
  keyboard.close();
  assert.deepEqual(
    heard.map((each) => each.type === 'press' && each.press),
    [
      { key: '', text: pasted },
      { key: 'enter', text: '' },
    ],
  );
  assert.ok(user + system < 1_000_000, `${(user + system) / 1000} ms`);
});

test('a paste without an end does not swallow the keyboard for ever', async () => {
  const { keyboard, keys } = listen();
  keyboard.write(Buffer.from('\u001B[200~half'));
  await sleep(2100);
  keyboard.write(Buffer.from('k'));
  assert.deepEqual(keys(), ['|half', 'k']);
  keyboard.close();
});
