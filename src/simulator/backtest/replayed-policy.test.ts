import { describe, expect, test } from 'vitest';
import { validPolicy } from '../../model/testing/policies.ts';
import { percentilesOf } from '../../model/usage-window.ts';
import { createOurMemory } from './our-memory.ts';
import { replayMemory } from './replay-memory.ts';
import { createExactWindow, replayedPolicyOf } from './replayed-policy.ts';

const HOUR = 3_600_000;

describe('the exact window of a replay', () => {
  test('holds the samples of its length and no older ones', () => {
    const window = createExactWindow(HOUR);
    window.add(900, 0);
    for (let minute = 30; minute <= 80; minute += 10) window.add(minute, minute * 60_000);
    expect(window.percentiles(80 * 60_000)).toEqual(percentilesOf([30, 40, 50, 60, 70, 80]));
  });

  test('is read anew as often as the operator does, 96 times in its length', () => {
    const window = createExactWindow(96 * 60_000);
    window.add(1, 0);
    expect(window.percentiles(0)?.max).toBe(1);
    window.add(2, 30_000);
    expect(window.percentiles(59_000)?.max).toBe(1);
    expect(window.percentiles(60_000)?.max).toBe(2);
  });

  test('without a length, or a sample, it knows nothing', () => {
    const none = createExactWindow(undefined);
    none.add(1, 0);
    expect(none.percentiles(0)).toBeUndefined();
    expect(createExactWindow(HOUR).percentiles(0)).toBeUndefined();
  });
});

describe('a policy of CostAware that says nothing else', () => {
  const metricsConfig = { provider: 'prometheus', strategy: 'CostAware' };
  const { spec } = validPolicy({ spec: { metricsConfig } });

  test.each([0.2, 0.5, 1])('never lets memory that grows by %f %% an hour reach what it has', (percent) => {
    const points = Array.from({ length: 7 * 288 }, (_, index) => ({
      at: index * 300_000,
      demand: [300 * 2 ** 20 * (1 + percent / 100) ** (index / 12)],
      isSeen: true,
    }));
    const { ooms } = replayMemory({ name: 'leak', points }, createOurMemory(replayedPolicyOf(spec)));
    expect(ooms).toBe(0);
  });
});
