import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { SHIPPED_PROMPTS } from '../../prompts/shipped.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { LEAST_ROOM } from './ladder.ts';
import { answerShare, learntRoom, roomsOf } from './room.ts';
import type { ModelLimits, Room } from './room.ts';

const SEED = { seed: 20_261_121 };

const PROMPTS = {
  system: SHIPPED_PROMPTS['compact-system.md'],
  request: SHIPPED_PROMPTS['compact.md'],
  hasSections: true,
};
const NEEDS = { mostTokens: 8_000, prompts: PROMPTS };
const WORDS = approximateTokens(PROMPTS.system + PROMPTS.request);

function roomOf(limits: Partial<ModelLimits>, needs = NEEDS): Room {
  const [room] = roomsOf([{ window: 200_000, thinks: false, ...limits }], needs);
  assert.ok(room !== undefined, 'one for each model');
  return room;
}

test('a request and its answer take four fifths of the window', () => {
  const { transcript, answer } = roomOf({ outputLimit: 64_000 });
  assert.equal(answer, 16_000, 'an analysis as long as the summary');
  assert.ok(transcript + answer + WORDS <= 160_000, 'seed 002');
  assert.ok(transcript > 140_000, `${transcript}`);
});

test('thinking has room of its own, an unknown limit of the output is a small one', () => {
  assert.equal(roomOf({ outputLimit: 64_000, thinks: true }).answer, 32_000);
  assert.equal(roomOf({}).answer, 8_192);
  assert.equal(roomOf({ outputLimit: 4_096 }).answer, 4_096);
});

test('a model that is too small has no room, and a small one a small answer', () => {
  assert.ok(roomOf({ window: 1_500 }).transcript < LEAST_ROOM, 'the words alone take it');
  const small = roomOf({ window: 8_192 });
  assert.equal(small.answer, 2_048);
  assert.ok(small.transcript > LEAST_ROOM, `${small.transcript}`);
});

test('for every window the parts are within it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000_000 }),
      fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: undefined }),
      fc.boolean(),
      fc.integer({ min: 0, max: 500_000 }),
      (window, outputLimit, thinks, mostTokens) => {
        const limits = { window, thinks, ...(outputLimit === undefined ? {} : { outputLimit }) };
        const { transcript, answer } = roomOf(limits, { ...NEEDS, mostTokens });
        assert.ok(answer >= 0 && answer <= answerShare(window), `${answer} of ${window}`);
        assert.ok(answer <= (outputLimit ?? Infinity), `${answer} of ${outputLimit}`);
        if (transcript > 0) assert.ok(transcript + answer + WORDS <= window, `${transcript} in ${window}`);
      },
    ),
    SEED,
  );
});

test('an overflow always teaches a smaller room', () => {
  const sent = { sentTokens: 50_000, answerTokens: 8_000, order: NEEDS };
  assert.equal(learntRoom({}, sent), 25_000, 'without numbers half of what was sent');
  const named = learntRoom({ limitTokens: 32_000, requestedTokens: 62_000 }, sent);
  assert.ok(named > 10_000 && named < 17_000, `${named}`);
  const counted = learntRoom({ limitTokens: 32_000, requestedTokens: 200_000 }, sent);
  assert.ok(counted < named / 2, 'the provider counts otherwise than we do');
  fc.assert(
    fc.property(
      fc.option(fc.integer({ min: -10, max: 3_000_000 }), { nil: undefined }),
      fc.option(fc.integer({ min: -10, max: 3_000_000 }), { nil: undefined }),
      fc.integer({ min: 1, max: 3_000_000 }),
      (limitTokens, requestedTokens, sentTokens) => {
        const said = {
          ...(limitTokens === undefined ? {} : { limitTokens }),
          ...(requestedTokens === undefined ? {} : { requestedTokens }),
        };
        const room = learntRoom(said, { ...sent, sentTokens });
        assert.ok(Number.isSafeInteger(room) && room < sentTokens, `${room} after ${sentTokens}`);
      },
    ),
    SEED,
  );
});
