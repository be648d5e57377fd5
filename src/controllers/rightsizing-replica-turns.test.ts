import { expect, test } from 'vitest';
import type { ContainerSize, ContainerSpecRecord } from '../model/sizing-records.ts';
import { gatheringFor, noteRaised, restedOf, urgent } from './rightsizing-replica-turns.ts';

const aContainer = (size: ContainerSize): ContainerSpecRecord => ({
  name: 'app',
  isSidecar: false,
  size,
  cpuRestart: 'NotRequired',
  memoryRestart: 'NotRequired',
  hasReadinessProbe: false,
});
const own = { watches: new Map(), absentSince: new Map(), awaitingSince: new Map(), raisedAt: new Map() };

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

test('what was raised is not lowered for twenty minutes; other resources and replicas are', () => {
  const memory = { raisedAt: new Map<string, number>() };
  const before = [aContainer({ cpuRequest: 100, memoryRequest: 1000 })];
  noteRaised(
    memory,
    { replica: '0', before, changes: [{ container: 'app', to: { cpuRequest: 200, memoryRequest: 500 } }] },
    0,
  );
  const less = [{ container: 'app', to: { cpuRequest: 50, memoryRequest: 400 } }];
  expect(restedOf(memory, '0', less, 1_199_999)).toEqual([{ container: 'app', to: { memoryRequest: 400 } }]);
  expect(restedOf(memory, '1', less, 0)).toEqual(less);
  expect(restedOf(memory, '0', less, 1_200_000)).toEqual(less);
});

test('a twentieth more memory waits for nobody, a little more can, and CPU', () => {
  const before = [aContainer({ cpuRequest: 100, memoryRequest: 1000 })];
  const to = (memoryRequest: number) => [{ container: 'app', to: { cpuRequest: 200, memoryRequest } }];
  expect(urgent(to(1051), before)).toEqual([{ container: 'app', to: { memoryRequest: 1051 } }]);
  expect(urgent(to(1050), before)).toEqual([]);
});
