import { describe, expect, test } from 'vitest';
import { fieldOf, type GreedQuestion, nextGreed, type Standing, standingOf } from './greed.ts';
import type { GreedMemory } from './node-input.ts';
import { defaultAllocationRules } from './rules.ts';
import { using } from './testing/pods.ts';

const rules = defaultAllocationRules.greedy;
const hog: GreedQuestion = {
  measured: using(900),
  share: 600,
  limit: undefined,
  standing: { weight: 'lowest', isLongest: true },
  hasCeiling: false,
  isCongested: true,
  isBatch: false,
  isLatencySensitive: false,
  isComingUp: false,
};

const equal: Standing = { weight: 'equal', isLongest: true };
const higher: Standing = { weight: 'higher', isLongest: true };

function greedAfter(ticks: number, change: Partial<GreedQuestion> = {}, start?: GreedMemory): GreedMemory | undefined {
  let memory = start;
  for (let tick = 0; tick < ticks; tick++) memory = nextGreed(memory, { ...hog, ...change }, rules);
  return memory;
}

describe('after a restart nothing is remembered, but a ceiling that is in force', () => {
  const capped: Partial<GreedQuestion> = { hasCeiling: true, limit: 330, share: 300, measured: using(328, 1) };

  test('was set for greed, and stays', () => {
    expect(greedAfter(1, capped)?.isGreedy).toBe(true);
    expect(greedAfter(1, { ...capped, hasCeiling: false })?.isGreedy).toBe(false);
  });

  test('is let go as any other', () => {
    const idle = { ...capped, measured: using(20, 0) };
    expect(greedAfter(rules.releaseTicks - 1, idle)?.isGreedy).toBe(true);
    expect(greedAfter(rules.releaseTicks, idle)?.isGreedy).toBe(false);
  });

  test('says nothing of a pod that is known', () => {
    const known: GreedMemory = { ticksAtShare: 0, isGreedy: false, calmTicks: 0 };
    expect(greedAfter(1, capped, known)?.isGreedy).toBe(false);
  });
});

describe('who would eat everything', () => {
  test.each<[string, number, Partial<GreedQuestion>, boolean]>([
    ['low weight, at its share for four ticks', 4, {}, false],
    ['for five', 5, {}, true],
    ['equal weight: fourteen ticks are a burst', 14, { standing: equal }, false],
    ['fifteen are greed', 15, { standing: equal }, true],
    [
      'somebody else began: nineteen ticks are a burst',
      19,
      { standing: { weight: 'lowest', isLongest: false } },
      false,
    ],
    ['twenty are not', 20, { standing: { weight: 'lowest', isLongest: false } }, true],
    ['while somebody of less weight contends it never is', 50, { standing: higher }, false],
    ['who needs just what it has', 50, { measured: using(600, undefined, 0.05) }, false],
    ['and waits for more', 5, { measured: using(600, undefined, 0.4) }, true],
    ['who waits for nothing, and takes what others leave', 5, { measured: using(900, undefined, 0) }, true],
    ['declared batch: at once', 1, { isBatch: true, standing: higher }, true],
    ['nobody goes short: no harm done', 50, { isCongested: false }, false],
    ['latency-sensitive pods never are', 50, { isLatencySensitive: true, isBatch: true }, false],
    ['below its share', 50, { measured: using(500) }, false],
    ['mostly throttled at a ceiling counts as at its share', 5, { measured: using(500, 0.8), limit: 500 }, true],
    ['not measured: no judgement', 50, { measured: undefined }, false],
  ])('%s', (_name, ticks, change, isGreedy) => {
    expect(greedAfter(ticks, change)?.isGreedy).toBe(isGreedy);
  });

  test('integration 9: not who is coming up; once it is there, what it has taken counts', () => {
    const coming = greedAfter(50, { isComingUp: true });
    expect(coming?.isGreedy).toBe(false);
    expect(greedAfter(1, {}, coming)?.isGreedy).toBe(true);
  });

  test('a tick below its share starts the count anew', () => {
    const four = greedAfter(4);
    const broken = nextGreed(four, { ...hog, measured: using(10) }, rules);
    expect(greedAfter(4, {}, broken)?.isGreedy).toBe(false);
  });
});

describe('greed ends', () => {
  const greedy = greedAfter(5);
  const calm = { measured: using(100, 0), limit: 660 };

  test('after fifteen calm ticks', () => {
    expect(greedAfter(14, calm, greedy)?.isGreedy).toBe(true);
    expect(greedAfter(15, calm, greedy)?.isGreedy).toBe(false);
  });

  test('not while it runs into its ceiling', () => {
    expect(greedAfter(100, { measured: using(640, 0.9), limit: 660 }, greedy)?.isGreedy).toBe(true);
  });

  test('not because the node has room for once', () => {
    expect(greedAfter(3, { isCongested: false }, greedy)?.isGreedy).toBe(true);
  });

  test('at once for one declared latency-sensitive', () => {
    expect(greedAfter(1, { isLatencySensitive: true }, greedy)?.isGreedy).toBe(false);
  });
});

describe('standing among those at their share', () => {
  const contender = (weight: number, ticksAtShare: number) => ({ weight, ticksAtShare });
  const [a, b, hog1, rested] = [contender(4, 3), contender(2, 6), contender(1, 60), contender(1, 0)];

  test.each<[string, Standing, Standing]>([
    ['the hog', standingOf(hog1, fieldOf([a, b, hog1])), { weight: 'lowest', isLongest: true }],
    ['in between: the hog comes first', standingOf(b, fieldOf([a, b, hog1])), { weight: 'higher', isLongest: false }],
    [
      'the hog is idle: now b is the lowest',
      standingOf(b, fieldOf([a, b, contender(1, 0)])),
      { weight: 'lowest', isLongest: true },
    ],
    [
      'the weightiest, alone at its share',
      standingOf(a, fieldOf([a, contender(1, 0)])),
      { weight: 'equal', isLongest: true },
    ],
    [
      'nobody is at its share',
      standingOf(rested, fieldOf([contender(4, 0), rested])),
      { weight: 'lowest', isLongest: true },
    ],
    [
      'all of one weight',
      standingOf(contender(1, 5), fieldOf([contender(1, 5), contender(1, 9)])),
      { weight: 'equal', isLongest: false },
    ],
  ])('%s', (_name, found, wanted) => {
    expect(found).toEqual(wanted);
  });
});
