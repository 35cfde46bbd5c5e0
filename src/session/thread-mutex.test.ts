import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { ThreadMutex } from './thread-mutex.io.ts';

describe('the turnstile', () => {
  it('lets one through after the other, and goes on behind a failure', async () => {
    const turnstile = new ThreadMutex(() => true);
    const seen: string[] = [];
    const slow = turnstile.pass(async () => {
      await Promise.resolve();
      seen.push('slow');
      throw new RangeError('it broke');
    });
    const quick = turnstile.pass(() => Promise.resolve(seen.push('quick')));
    await assert.rejects(slow, RangeError);
    await quick;
    assert.deepEqual(seen, ['slow', 'quick']);
  });

  it('tears nothing apart, keeps to whoever has the thread to himself, and forgets nobody, in any order', async () => {
    const step = fc.constantFrom('between', 'busy', 'take', 'free', 'ask', 'breathe');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        let isBetween = true;
        let inside = 0;
        const turnstile = new ThreadMutex(() => isBetween);
        const asked: Promise<void>[] = [];
        const work = async (): Promise<void> => {
          assert.ok(isBetween, 'something was put where it tears');
          assert.ok(!turnstile.isTaken, 'somebody else had the thread to himself');
          assert.equal(++inside, 1, 'two at once');
          await Promise.resolve();
          inside--;
        };
        // Like every change of a session, these pass one at a time, too.
        const change = (to: () => void) => turnstile.pass(() => Promise.resolve(to()));
        for (const one of steps) {
          if (one === 'ask') asked.push(turnstile.whenQuiet(work));
          else if (one === 'take') await change(() => turnstile.take());
          else if (one === 'free') await change(() => turnstile.free());
          else if (one === 'breathe') await new Promise(setImmediate);
          else await change(() => (isBetween = one === 'between'));
        }
        isBetween = true;
        turnstile.free();
        await Promise.all(asked);
        await turnstile.nextQuiet();
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});
