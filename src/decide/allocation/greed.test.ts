import { describe, expect, test } from 'vitest';
import { type GreedQuestion, nextGreed } from './greed.ts';
import type { GreedMemory } from './node-input.ts';
import { defaultAllocationRules } from './rules.ts';
import { using } from './testing/pods.ts';

const rules = defaultAllocationRules.greedy;
const hog: GreedQuestion = {
  measured: using(900),
  share: 600,
  limit: undefined,
  power: 'low',
  isCongested: true,
  isBatch: false,
  isLatencySensitive: false,
};

function greedAfter(ticks: number, change: Partial<GreedQuestion> = {}, start?: GreedMemory): GreedMemory | undefined {
  let memory = start;
  for (let tick = 0; tick < ticks; tick++) memory = nextGreed(memory, { ...hog, ...change }, rules);
  return memory;
}

describe('who would eat everything', () => {
  test.each<[string, number, Partial<GreedQuestion>, boolean]>([
    ['low weight, at its share for four ticks', 4, {}, false],
    ['for five', 5, {}, true],
    ['equal weight: fourteen ticks are a burst', 14, { power: 'equal' }, false],
    ['fifteen are greed', 15, { power: 'equal' }, true],
    ['the weightiest never is', 50, { power: 'high' }, false],
    ['declared batch: at once', 1, { isBatch: true, power: 'high' }, true],
    ['nobody goes short: no harm done', 50, { isCongested: false }, false],
    ['latency-sensitive pods never are', 50, { isLatencySensitive: true, isBatch: true }, false],
    ['below its share', 50, { measured: using(500) }, false],
    ['mostly throttled at a ceiling counts as at its share', 5, { measured: using(500, 0.8), limit: 500 }, true],
    ['not measured: no judgement', 50, { measured: undefined }, false],
  ])('%s', (_name, ticks, change, isGreedy) => {
    expect(greedAfter(ticks, change)?.isGreedy).toBe(isGreedy);
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
