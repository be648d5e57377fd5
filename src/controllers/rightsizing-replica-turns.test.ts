import { expect, test } from 'vitest';
import { gatheringFor } from './rightsizing-replica-turns.ts';

const own = { watches: new Map(), absentSince: new Map(), awaitingSince: new Map() };

test.each([
  { revertMillis: 1_800_000, after: 0, memory: 15_000, all: 60_000 },
  { revertMillis: 1_800_000, after: 15_000, memory: 0, all: 45_000 },
  { revertMillis: 1_800_000, after: 60_000, memory: 0, all: 0 },
  // The first of them is still watched when the others may follow.
  { revertMillis: 60_000, after: 0, memory: 15_000, all: 30_000 },
  { revertMillis: 0, after: 0, memory: 0, all: 0 },
])('with decreases watched for $revertMillis ms, $after ms after a write', ({ revertMillis, after, memory, all }) => {
  expect(gatheringFor({ ...own, writtenAt: 1_000_000 }, { revertMillis }, 1_000_000 + after)).toEqual({ memory, all });
});

test('nothing was written yet: nothing is waited for', () => {
  expect(gatheringFor({ ...own, writtenAt: undefined }, { revertMillis: 60_000 }, 0)).toEqual({ memory: 0, all: 0 });
});
