import { describe, expect, test } from 'vitest';
import { noAdvice } from '../../decide/rightsizing/advice.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import type { ContainerSize, ContainerSpecRecord } from '../../model/sizing-records.ts';
import { inTime, lasting, ReplicaTurns } from './replica-turns.ts';

const aContainer = (size: ContainerSize): ContainerSpecRecord => ({
  name: 'app',
  isSidecar: false,
  size,
  cpuRestart: 'NotRequired',
  memoryRestart: 'NotRequired',
  hasReadinessProbe: false,
});
const aTurns = (): ReplicaTurns => new ReplicaTurns(new Map());

test.each([
  { revertMillis: 1_800_000, after: 0, memory: 15_000, all: 60_000 },
  { revertMillis: 1_800_000, after: 15_000, memory: 0, all: 45_000 },
  { revertMillis: 1_800_000, after: 60_000, memory: 0, all: 0 },
  // The first of them is still watched when the others may follow.
  { revertMillis: 60_000, after: 0, memory: 15_000, all: 30_000 },
  { revertMillis: 0, after: 0, memory: 0, all: 0 },
])('with decreases watched for $revertMillis ms, $after ms after a write', ({ revertMillis, after, memory, all }) => {
  const turns = aTurns();
  turns.noteWritten([], 1_000_000);
  expect(turns.gathering({ revertMillis }, 1_000_000 + after)).toEqual({ memory, all });
});

test('nothing was written yet: nothing is waited for', () => {
  expect(aTurns().gathering({ revertMillis: 60_000 }, 0)).toEqual({ memory: 0, all: 0 });
});

test('what was raised is not lowered for twenty minutes; other resources and replicas are', () => {
  const turns = aTurns();
  const before = [aContainer({ cpuRequest: 100, memoryRequest: 1000 })];
  turns.noteWritten(
    [{ replica: '0', before, changes: [{ container: 'app', to: { cpuRequest: 200, memoryRequest: 500 } }] }],
    0,
  );
  const less = [{ container: 'app', to: { cpuRequest: 50, memoryRequest: 400 } }];
  expect(turns.restedOf('0', less, 1_199_999)).toEqual([{ container: 'app', to: { memoryRequest: 400 } }]);
  expect(turns.restedOf('1', less, 0)).toEqual(less);
  expect(turns.restedOf('0', less, 1_200_000)).toEqual(less);
});

const HOUR = 3_600_000;
const before = [aContainer({ cpuRequest: 100, memoryRequest: 1000, memoryLimit: 2000 })];

test('where more memory had to wait for its turn, no memory is lowered for an hour', () => {
  const turns = aTurns();
  for (const at of [7 - 30_000, 7]) turns.noteShort(true, at);
  const less = [{ container: 'app', to: { cpuRequest: 50, memoryRequest: 400 } }];
  expect(turns.restedOf('0', less, 6 + HOUR)).toEqual([{ container: 'app', to: { cpuRequest: 50 } }]);
  expect(turns.restedOf('0', less, 7 + HOUR)).toEqual(less);
});

test.each<[string, Readonly<Record<string, number | undefined>>, number, 'all' | 'cpu' | 'none']>([
  ['nothing: nothing is held back', { 0: undefined, 1: undefined }, 0, 'all'],
  ['another replica: others may have waited for memory, so none is lowered for an hour', { 1: 0 }, HOUR - 1, 'cpu'],
  ['another replica, an hour ago', { 1: 0 }, HOUR, 'all'],
  ['this one: it may have been raised', { 0: 0 }, 1_199_999, 'none'],
  ['this one, twenty minutes ago', { 0: 0 }, 1_200_000, 'cpu'],
])('another leader changed %s', (_, changedAt, now, expected) => {
  const common = { sizes: new Map(), before: undefined, lessons: { floors: [], reverts: 0 } };
  const found = Object.entries(changedAt).map(([replica, at]) => [replica, { ...common, changedAt: at }] as const);
  const turns = new ReplicaTurns(new Map(found));
  const all = [{ container: 'app', to: { cpuRequest: 50, memoryRequest: 400 } }];
  const cpu = [{ container: 'app', to: { cpuRequest: 50 } }];
  expect(turns.restedOf('0', all, now)).toEqual({ all, cpu, none: [] }[expected]);
});

test('turns are scarce where more memory waits at every look for half a minute', () => {
  const turns = aTurns();
  const look = (at: number, isShort: boolean): boolean => {
    turns.noteShort(isShort, at);
    return turns.isScarce(at);
  };
  expect([look(0, true), look(29_999, true), look(29_999, false), look(30_000, true)]).toEqual(Array(4).fill(false));
  expect([look(60_000, true), look(60_000, false)]).toEqual([true, true]);
  expect([turns.isScarce(59_999 + HOUR), turns.isScarce(60_000 + HOUR)]).toEqual([true, false]);
});

test('a twentieth more memory waits for nobody, a little more can, and CPU', () => {
  const to = (memoryRequest: number) => [{ container: 'app', to: { cpuRequest: 200, memoryRequest } }];
  const soon = { memory: 0, all: 1 };
  expect(inTime(to(1051), before, soon)).toEqual([{ container: 'app', to: { memoryRequest: 1051 } }]);
  expect(inTime(to(1050), before, soon)).toEqual([]);
  expect(inTime(to(1050), before, { memory: 0, all: 0 })).toEqual(to(1050));
  expect(inTime(to(1051), before, { memory: 1, all: 2 })).toEqual([]);
});

describe('where turns are scarce, memory is raised to what is advised for all', () => {
  const ofAll = (request: number, limit?: number): readonly SizedAdvice[] => [
    {
      container: 'app',
      current: {},
      cpu: noAdvice('NoData', ''),
      memory: { ...noAdvice('NoData', ''), request, limit },
    },
  ];
  const raise = (to: ContainerSize, advice: readonly SizedAdvice[]) =>
    lasting([{ container: 'app', to }], before, advice)[0]?.to;

  test.each<[string, ContainerSize, readonly SizedAdvice[], ContainerSize]>([
    [
      'request and limit',
      { memoryRequest: 1100, memoryLimit: 2200 },
      ofAll(3000, 6000),
      { memoryRequest: 3000, memoryLimit: 6000 },
    ],
    ['a request below a limit that stays', { memoryRequest: 1100 }, ofAll(3000, 6000), { memoryRequest: 2000 }],
    [
      'not below what its own need is',
      { memoryRequest: 1100, memoryLimit: 2200 },
      ofAll(900, 1800),
      { memoryRequest: 1100, memoryLimit: 2200 },
    ],
    ['CPU is its own', { cpuRequest: 200 }, ofAll(3000, 6000), { cpuRequest: 200 }],
    ['without advice for all, its own', { memoryRequest: 1100 }, [], { memoryRequest: 1100 }],
  ])('%s', (_, to, advice, expected) => {
    expect(raise(to, advice)).toEqual(expected);
  });
});
