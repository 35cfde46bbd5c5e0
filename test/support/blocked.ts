// A thread that never comes back: a module, loaded into the built program from outside, makes chosen code spin for ever.

/** What makes a text be spun over. */
export const SPIN = 'spin-for-ever-0123456789';

/**
 * The environment in which `JSON.parse` of a text with `SPIN` in it, or where functions are named any look of a regular
 * expression at such a text while one of them is on the stack, never returns. Before it spins it writes `SPIN` to standard
 * error.
 */
export function spinning(functions: readonly string[] = []): Record<string, string> {
  const source = `
    import { writeSync } from 'node:fs';
    Error.stackTraceLimit = 100;
    const functions = ${JSON.stringify(functions)};
    const spin = () => { writeSync(2, ${JSON.stringify(`${SPIN}\n`)}); for (;;); };
    const isOnStack = () => {
      // The address of this module has the names in it, too.
      const frames = new Error().stack.split('\\n').filter((line) => !line.includes('data:'));
      return frames.some((frame) => functions.some((name) => frame.includes(name)));
    };
    if (functions.length === 0) {
      const { parse } = JSON;
      JSON.parse = (text, ...rest) => (String(text).includes(${JSON.stringify(SPIN)}) ? spin() : parse(text, ...rest));
    } else {
      const { exec } = RegExp.prototype;
      const slow = function (text) {
        if (typeof text === 'string' && text.includes(${JSON.stringify(SPIN)}) && isOnStack()) spin();
        return exec.call(this, text);
      };
      RegExp.prototype.exec = slow;
    }`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}
