import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SizeChange } from '../../model/pod-size.ts';
import type { ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, aTemplate, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB, smallSize } from '../../model/testing/sizing-records.ts';
import { judgeChange, judgedPods, startPatience, type Throttling } from './judge-change.ts';
import { watchChange, whileAsked } from './watched-change.ts';

const owner = aReplicaSet(aDeployment());
const container = aContainer();
const pod = (status: Partial<ContainerStatusRecord> = {}, changes: Parameters<typeof aSizedPod>[3] = {}): SizedPod => {
  const record = aSizedPod(
    owner,
    'web-1',
    { statuses: [aContainerStatus(container, status)] },
    { uid: 'web-1', ...changes },
  );
  return { pod: record, sizing: record.sizing };
};
const less: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 64 * MIB } }];
const lessCpu: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];
const more: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 900 } }];
const killed: Partial<ContainerStatusRecord> = {
  restartCount: 1,
  lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON + 60_000 },
};
const restarted: Partial<ContainerStatusRecord> = {
  restartCount: 1,
  lastTermination: { reason: 'Error', exitCode: 1, finishedAt: NOON + 60_000 },
};
const judge = (changes: readonly SizeChange[], after: SizedPod, before = pod(), later = 120_000) =>
  judgeChange(watchChange(changes, [container], [before], NOON), [after], NOON + later);

describe('what a decrease did', () => {
  test.each<[string, readonly SizeChange[], SizedPod, readonly string[] | undefined]>([
    ['nothing', less, pod(), undefined],
    ['killed for want of memory', less, pod(killed), ['memory']],
    ['a kill says nothing about CPU', lessCpu, pod(killed), undefined],
    ['restarted', less, pod(restarted), ['cpu', 'memory']],
    ['no longer ready', lessCpu, pod({}, { ready: false, readyChangedAt: NOON + 30_000 }), ['cpu']],
    ['not ready for a moment', less, pod({}, { ready: false, readyChangedAt: NOON + 100_000 }), undefined],
    ['an increase is never to blame', more, pod(restarted), undefined],
  ])('%s', (_, changes, after, expected) => {
    expect(judge(changes, after)?.parts.map(({ resource }) => resource)).toEqual(expected);
  });

  test('what was so before is not our doing', () => {
    expect(judge(less, pod(restarted), pod(restarted))).toBeUndefined();
    const unready = pod({}, { ready: false, readyChangedAt: NOON - 1 });
    expect(judge(less, unready, unready)).toBeUndefined();
    const again = pod({}, { ready: false, readyChangedAt: NOON + 1 });
    expect(judge(less, again, unready)).toBeUndefined();
    expect(judge(less, pod(killed), pod(killed))).toBeUndefined();
  });

  test('a pod that was seen ready became unready since, though the clock of its node is behind', () => {
    const unready = pod({}, { ready: false, readyChangedAt: NOON - 20_000 });
    expect(judge(less, unready, pod(), 59_999)).toBeUndefined();
    expect(judge(less, unready, pod(), 60_000)?.parts).toHaveLength(2);
  });

  test('a pod that is ready is well, however lately it became so', () => {
    expect(judge(less, pod({}, { ready: true, readyChangedAt: NOON + 1 }))).toBeUndefined();
  });

  test('unready since the very moment of the change, for exactly as long as one is patient, is harm', () => {
    const unready = pod({}, { ready: false, readyChangedAt: NOON });
    expect(judge(less, unready, pod(), 59_999)).toBeUndefined();
    expect(judge(less, unready, pod(), 60_000)?.parts).toHaveLength(2);
  });

  test('a pod born with the new size that is killed tells too', () => {
    const born = { ...pod(killed), pod: { ...pod(killed).pod, uid: 'web-9' } };
    expect(judge(less, born)?.cause).toContain('killed for want of memory');
  });

  test('a pod that was never ready is only starting', () => {
    const starting = { ...pod(), pod: { ...pod().pod, uid: 'web-9', ready: false, readyChangedAt: NOON + 1 } };
    expect(judge(less, starting)).toBeUndefined();
  });

  test('names the container and the pod', () => {
    expect(judge(less, pod(killed))).toMatchObject({
      parts: [{ container: 'app', resource: 'memory' }],
      cause: expect.stringContaining('web-1'),
    });
  });
});

describe('several containers', () => {
  const proxy = aContainer({ name: 'proxy' });
  const two = (app: Partial<ContainerStatusRecord>, other: Partial<ContainerStatusRecord>, changes = {}): SizedPod => {
    const statuses = [aContainerStatus(container, app), aContainerStatus(proxy, other)];
    const record = aSizedPod(owner, 'web-1', { statuses }, { uid: 'web-1', ...changes });
    return { pod: record, sizing: record.sizing };
  };
  const both: readonly SizeChange[] = [...less, { container: 'proxy', to: { cpuRequest: 50 } }];
  const judgeTwo = (after: SizedPod) =>
    judgeChange(watchChange(both, [container, proxy], [two({}, {})], NOON), [after], NOON + 120_000);

  test('what one of them shows is put down to what it was given less of', () => {
    expect(judgeTwo(two({}, restarted))?.parts).toEqual([{ container: 'proxy', resource: 'cpu' }]);
    expect(judgeTwo(two(killed, {}))?.parts).toEqual([{ container: 'app', resource: 'memory' }]);
  });

  test('a pod that is not ready is put down to all of it', () => {
    expect(judgeTwo(two({}, {}, { ready: false, readyChangedAt: NOON + 1 }))?.parts).toHaveLength(3);
  });

  test('several signs at once are counted', () => {
    const harm = judgeTwo(two(killed, restarted));
    expect(harm?.parts).toEqual([
      { container: 'app', resource: 'memory' },
      { container: 'proxy', resource: 'cpu' },
    ]);
    expect(harm?.cause).toMatch(/killed for want of memory, and 1 more signs? of it$/);
  });
});

describe('a container that is restarted by the change itself', () => {
  const restarts = aContainer({ memoryRestart: 'RestartContainer' });
  const judgeIt = (after: SizedPod, isInPlace = true, later = 120_000) =>
    judgeChange(watchChange(less, [restarts], [pod()], NOON, isInPlace), [after], NOON + later);

  test.each<[string, SizedPod, boolean, number]>([
    ['once is the change', pod(restarted), true, 0],
    ['twice is harm', pod({ ...restarted, restartCount: 2 }), true, 2],
    ['by new pods nothing restarts', pod(restarted), false, 2],
    ['a kill is harm the first time', pod(killed), true, 1],
    ['it has to start again before it is ready', pod({}, { ready: false, readyChangedAt: NOON + 1 }), true, 0],
  ])('%s', (_, after, isInPlace, parts) => {
    expect(judgeIt(after, isInPlace)?.parts ?? []).toHaveLength(parts);
  });

  test('and is given five minutes for it, and the time it has to end', () => {
    const slow = pod({}, { ready: false, readyChangedAt: NOON + 1 });
    expect(judgeIt(slow, true, 330_000)).toBeUndefined();
    expect(judgeIt(slow, true, 330_001)?.parts).toHaveLength(2);
  });
});

describe('a container that another change restarts meanwhile', () => {
  const spec = aContainer({ memoryRestart: 'RestartContainer' });
  const record = aSizedPod(
    owner,
    'web-1',
    { containers: [spec], statuses: [aContainerStatus(spec, { restartCount: 2 })] },
    { uid: 'web-1' },
  );
  const there: SizedPod = { pod: record, sizing: record.sizing };
  const begun = watchChange(lessCpu, [spec], [there], NOON, true);
  const judgeIt = (asked: SizeChange['to'], after: SizedPod, later = 120_000) =>
    judgeChange(whileAsked(begun, there, [{ container: 'app', to: asked }]), [after], NOON + later);
  const moreMemory = { memoryRequest: 2 * (smallSize.memoryRequest ?? 0) };

  test.each<[string, SizeChange['to'], Partial<ContainerStatusRecord>, boolean]>([
    ['once, for more memory, has not been harmed', moreMemory, { ...restarted, restartCount: 3 }, false],
    ['and once more, has', moreMemory, { ...restarted, restartCount: 4 }, true],
    ['for what restarts nothing, has', { cpuRequest: 900 }, { ...restarted, restartCount: 3 }, true],
    ['for what it has already, has', { ...smallSize }, { ...restarted, restartCount: 3 }, true],
  ])('%s', (_, asked, status, isHarm) => {
    expect(judgeIt(asked, pod(status)) !== undefined).toBe(isHarm);
  });

  test('has as long to be ready again', () => {
    const template = aTemplate({ terminationGraceSeconds: 600 });
    const slow = pod({ restartCount: 3 }, { ready: false, readyChangedAt: NOON + 1, template });
    expect(judgeIt(moreMemory, slow, 900_000)).toBeUndefined();
    expect(judgeIt(moreMemory, slow, 900_001)?.parts).toHaveLength(1);
  });

  test('is that of one pod: others are judged as ever', () => {
    const other = { ...pod(restarted), pod: { ...pod(restarted).pod, uid: 'web-2', name: 'web-2' } };
    expect(judgeIt(moreMemory, other)?.cause).toContain('pod web-2 restarted');
  });
});

describe('a new pod that does not get ready', () => {
  const watched = watchChange(less, [container], [pod()], NOON);
  const starting = { ready: false, readyChangedAt: NOON + 1, uid: 'web-9' };
  const born = { ...pod(), pod: { ...pod().pod, ...starting } };
  const judgeAfter = (millis: number, startMillis?: number) =>
    judgeChange(watched, [born], NOON + 1 + millis, undefined, startMillis)?.parts.map(({ resource }) => resource);

  test('may be starting, and what is wrong with it anything', () => {
    expect(judgeAfter(86_400_000)).toBeUndefined();
  });

  test('is harm once it is waited for no more, where new pods bring the change', () => {
    expect([judgeAfter(599_999, 600_000), judgeAfter(600_000, 600_000)]).toEqual([undefined, ['cpu', 'memory']]);
  });

  test('is waited for as long as a Deployment waits, or three times the quickest start of those that are ready', () => {
    const started = (millis: number, ready = true) => {
      const { pod: record, sizing } = pod();
      return { sizing, pod: { ...record, ready, createdAt: NOON, readyChangedAt: NOON + millis } };
    };
    expect(startPatience([])).toBe(600_000);
    expect(startPatience([started(30_000)])).toBe(600_000);
    expect(startPatience([started(900_000), started(86_400_000), started(1, false)])).toBe(2_700_000);
  });
});

describe('whom a change in place is judged by', () => {
  const watched = watchChange(less, [container], [pod()], NOON);
  const born = { ...pod(killed), pod: { ...pod(killed).pod, uid: 'web-9' } };

  test('pods of a template that somebody rolls out meanwhile are not among them', () => {
    expect(judgedPods([pod(), born], watched, true)).toEqual([pod()]);
    expect(judgeChange(watched, judgedPods([pod(), born], watched, true), NOON + 120_000)).toBeUndefined();
  });

  test('otherwise all are', () => {
    expect(judgedPods([pod(), born], watched, false)).toEqual([pod(), born]);
  });
});

describe('throttling', () => {
  const lessQuota: readonly SizeChange[] = [{ container: 'app', to: { cpuLimit: 100 } }];
  const judgeIt = (changes: readonly SizeChange[], seen: Throttling | undefined) =>
    judgeChange(watchChange(changes, [container], [pod()], NOON), [pod()], NOON + 600_000, () => seen);

  test.each<[string, readonly SizeChange[], Throttling | undefined, boolean]>([
    ['much more often than before', lessQuota, { before: 0.02, now: 0.6 }, true],
    ['not often', lessQuota, { before: 0, now: 0.24 }, false],
    ['just often enough, and just as much more often', lessQuota, { before: 0, now: 0.25 }, true],
    ['as much more often, from what was much', lessQuota, { before: 0.25, now: 0.5 }, true],
    ['often, as before', lessQuota, { before: 0.5, now: 0.69 }, false],
    ['not known: no sign of anything', lessQuota, undefined, false],
    ['a lower request makes no quota smaller', lessCpu, { before: 0, now: 0.9 }, false],
    ['nor does less memory', [{ container: 'app', to: { memoryLimit: MIB } }], { before: 0, now: 0.9 }, false],
  ])('%s', (_, changes, seen, isHarm) => {
    expect(judgeIt(changes, seen)?.parts).toEqual(isHarm ? [{ container: 'app', resource: 'cpu' }] : undefined);
  });

  test('the figures are told', () => {
    expect(judgeIt(lessQuota, { before: 0.02, now: 0.6 })?.cause).toBe(
      'container app is throttled in 60 % of its periods, 2 % before',
    );
  });
});

test('for any change that lowers nothing, nothing is ever put down to it', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(5), fc.boolean(), (extra, restartCount, ready) => {
      const changes = [{ container: 'app', to: { cpuRequest: (smallSize.cpuRequest ?? 0) + extra } }];
      const after = pod({ ...killed, restartCount }, { ready, readyChangedAt: NOON + 1 });
      expect(judge(changes, after)).toBeUndefined();
    }),
    { numRuns: 100 },
  );
});
