import { describe, expect, test } from 'vitest';
import type { PolicyMode } from '../../api/optimization-policy.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { requeueAfter } from './requeue.ts';

const MINUTE = 60_000;
const random = createSeededRandom(7);

describe('the next look at a policy', () => {
  test.each<[string, PolicyMode, number, number, number, number]>([
    ['optipod pinned: Recommend after 1m comes again after 2m', 'Recommend', 1, 5, 5, 2],
    ['optipod pinned: Recommend after 2m comes again after 4m', 'Recommend', 2, 5, 5, 4],
    ['Disabled waits four intervals', 'Disabled', 5, 5, 0, 20],
    ['Auto without workloads waits three', 'Auto', 5, 0, 0, 15],
    ['Auto with nothing that could be worked on waits two', 'Auto', 5, 3, 0, 10],
  ])('%s', (_, mode, minutes, discovered, processed, expected) => {
    expect(requeueAfter(mode, minutes * MINUTE, { discovered, processed }, random)).toBe(expected * MINUTE);
  });

  test('Auto comes again after its interval and 5 to 10 %, not always the same', () => {
    const times = Array.from({ length: 50 }, () =>
      requeueAfter('Auto', 100_000, { discovered: 3, processed: 3 }, random),
    );
    expect(Math.min(...times)).toBeGreaterThanOrEqual(105_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(110_000);
    expect(new Set(times).size).toBeGreaterThan(10);
  });
});
