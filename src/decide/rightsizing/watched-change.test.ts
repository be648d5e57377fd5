import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SizeChange } from '../../model/pod-size.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { judgeChange } from './judge-change.ts';
import {
  changedResources,
  isDecrease,
  keysOf,
  loweredResources,
  lowersCpuLimit,
  resumeWatch,
  watchChange,
  watchMillis,
  whileRolledOut,
} from './watched-change.ts';

const container = aContainer();
const lessCpu: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];
const moreCpu: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 900 } }];

describe('which change is a decrease', () => {
  test.each<[string, SizeChange['to'], readonly string[]]>([
    ['a lower request', { cpuRequest: 199 }, ['cpu']],
    ['a lower limit', { memoryLimit: 255 * MIB }, ['memory']],
    ['both', { cpuRequest: 1, memoryRequest: 1 }, ['cpu', 'memory']],
    ['a higher one', { cpuRequest: 201, memoryRequest: 999 * MIB }, []],
    ['a higher request with a lower limit', { cpuRequest: 201, cpuLimit: 399 }, ['cpu']],
  ])('%s', (_, to, expected) => {
    expect(loweredResources({ container: 'app', to }, [container])).toEqual(expected);
    expect(isDecrease({ changes: [{ container: 'app', to }], before: [container] })).toBe(expected.length > 0);
  });

  test('a first request lowers nothing', () => {
    expect(loweredResources({ container: 'app', to: { cpuRequest: 1 } }, [aContainer({ size: {} })])).toEqual([]);
  });

  test.each<[string, SizeChange['to'], boolean]>([
    ['a lower quota', { cpuLimit: 100 }, true],
    ['a lower request', { cpuRequest: 100 }, false],
    ['a higher quota', { cpuLimit: 4000 }, false],
  ])('only a lower limit of CPU may throttle: %s', (_, to, expected) => {
    expect(lowersCpuLimit({ container: 'app', to }, [container])).toBe(expected);
  });
});

describe('the parts of a change', () => {
  test('request and limit belong together', () => {
    expect(keysOf).toEqual({ cpu: ['cpuRequest', 'cpuLimit'], memory: ['memoryRequest', 'memoryLimit'] });
  });

  test.each<[SizeChange['to'], readonly string[]]>([
    [{}, []],
    [{ cpuLimit: 1 }, ['cpu']],
    [{ memoryRequest: 1, cpuRequest: 1 }, ['cpu', 'memory']],
  ])('%j', (to, expected) => {
    expect(changedResources({ container: 'app', to })).toEqual(expected);
  });
});

describe('how the pods were', () => {
  const owner = aReplicaSet(aDeployment());
  const record = aSizedPod(
    owner,
    'web-1',
    { statuses: [aContainerStatus(container, { restartCount: 4 })] },
    { uid: 'a' },
  );
  const unready = aSizedPod(owner, 'web-2', {}, { uid: 'b', ready: false });
  const pods = [record, unready].map((pod) => ({ pod, sizing: pod.sizing }));

  test('restarts of each container, and who was not ready', () => {
    const watched = watchChange(lessCpu, [container], pods, NOON);
    expect(watched.restarts.get('a/app')).toBe(4);
    expect([...watched.unready]).toEqual(['b']);
    expect(watched.startedAt).toBe(NOON);
  });

  test('which containers the change restarts, where pods are resized in place', () => {
    const spec = [aContainer({ cpuRestart: 'RestartContainer' })];
    expect([...watchChange(lessCpu, spec, pods, NOON, true).restarting]).toEqual(['app']);
    expect(watchChange(lessCpu, spec, pods, NOON).restarting.size).toBe(0);
    expect(watchChange(lessCpu, [container], pods, NOON, true).restarting.size).toBe(0);
  });
});

test('what pods of a template that is rolled out meanwhile go through is none of its harm, but for want of memory', () => {
  const owner = aReplicaSet(aDeployment());
  const pod = (uid: string, restartCount: number, reason = 'Error') => {
    const lastTermination = { reason, exitCode: 1, finishedAt: NOON };
    const statuses = [aContainerStatus(container, { restartCount, lastTermination })];
    const record = aSizedPod(owner, uid, { statuses }, { uid });
    return { pod: record, sizing: record.sizing };
  };
  const changes = [{ container: 'app', to: { cpuRequest: 100, memoryRequest: MIB } }];
  const begun = watchChange(changes, [container], [pod('old', 1)], NOON, true);
  const rolled = whileRolledOut(begun, [pod('old', 2), pod('new', 2)]);
  expect(whileRolledOut(rolled, [pod('old', 2), pod('new', 2)])).toBe(rolled);
  const partsOf = (...pods: ReturnType<typeof pod>[]) =>
    judgeChange(rolled, pods, NOON + 1)?.parts.map(({ resource }) => resource);
  expect(partsOf(pod('new', 2))).toBeUndefined();
  expect(partsOf(pod('new', 3))).toEqual(['cpu', 'memory']);
  expect(partsOf(pod('old', 2))).toEqual(['cpu', 'memory']);
  expect(partsOf(pod('new', 2, 'OOMKilled'))).toEqual(['memory']);
});

describe('a watch that somebody else began', () => {
  const owner = aReplicaSet(aDeployment());
  const ended = (finishedAt: number | undefined, restartCount = 2) => ({
    statuses: [
      aContainerStatus(container, { restartCount, lastTermination: { reason: 'Error', exitCode: 1, finishedAt } }),
    ],
  });
  const resume = (
    sizing: Parameters<typeof aSizedPod>[2],
    changes: Parameters<typeof aSizedPod>[3] = {},
    before = [container],
  ) => {
    const record = aSizedPod(owner, 'web-1', sizing, { uid: 'a', createdAt: NOON - 60_000, ...changes });
    const pods = [{ pod: record, sizing: record.sizing }];
    return resumeWatch({ changes: lessCpu, before, startedAt: NOON, pods, isInPlace: true });
  };

  test.each<[string, number | undefined, number]>([
    ['ended since', NOON + 1, 1],
    ['ended before', NOON - 1, 2],
    ['ended nobody knows when', undefined, 2],
  ])('a container that %s had so many restarts then', (_, finishedAt, expected) => {
    expect(resume(ended(finishedAt)).restarts.get('a/app')).toBe(expected);
  });

  test('one that ended since by what was seen, whatever its node told, had one less', () => {
    const lastTermination = { reason: 'Error', exitCode: 1, finishedAt: NOON - 3_600_000, seenAt: NOON + 1 };
    const statuses = [aContainerStatus(container, { restartCount: 2, lastTermination })];
    expect(resume({ statuses }).restarts.get('a/app')).toBe(1);
  });

  test('one that never ended had none, whatever its last state says', () => {
    expect(resume(ended(NOON + 1, 0)).restarts.get('a/app')).toBe(0);
  });

  test('what was told of the pods counts, whatever clocks say of when they restarted, became unready, or were made', () => {
    const at = fc.integer({ min: -1e10, max: 1e10 }).map((millis) => NOON + millis);
    const counts = fc.record({ before: fc.nat(5), since: fc.nat(5), wasReady: fc.boolean() });
    fc.assert(
      fc.property(counts, at, at, at, ({ before, since, wasReady }, endAt, createdAt, readyChangedAt) => {
        const own = { uid: 'a', createdAt, ready: false, readyChangedAt };
        const record = aSizedPod(owner, 'web-1', ended(endAt, before + since), own);
        const pods = [{ pod: record, sizing: record.sizing }];
        const then = {
          restarts: new Map(before === 0 ? [] : [['a/app', before]]),
          unready: new Set(wasReady ? [] : ['a']),
        };
        const common = { changes: lessCpu, before: [container], startedAt: NOON, isInPlace: true };
        const { restarts, unready } = resumeWatch({ ...common, then, pods });
        expect([restarts.get('a/app') ?? 0, unready.has('a')]).toEqual([before, !wasReady]);
      }),
    );
  });

  test('a pod that came later began with none', () => {
    expect(resume(ended(NOON + 1), { createdAt: NOON + 1 }).restarts.size).toBe(0);
  });

  test('only a pod that was unready before is none of its doing', () => {
    const unready = (readyChangedAt: number) => [...resume({}, { ready: false, readyChangedAt }).unready];
    expect([unready(NOON - 1), unready(NOON), unready(NOON + 1)]).toEqual([['a'], [], []]);
  });

  test('a pod that has been ready for long is looked after', () => {
    expect(resume({}, { ready: true, readyChangedAt: NOON - 1 }).unready.size).toBe(0);
  });

  test('what the change itself restarts is known from its policy', () => {
    const spec = [aContainer({ cpuRestart: 'RestartContainer' })];
    expect([...resume({}, {}, spec).restarting]).toEqual(['app']);
  });

  describe('of a container that more memory restarts', () => {
    const spec = [aContainer({ memoryRestart: 'RestartContainer' })];
    const watched = (restartCount: number, told?: number, of = spec) => {
      const pod = aSizedPod(owner, 'web-1', ended(NOON + 1, restartCount), { uid: 'a', createdAt: NOON - 60_000 });
      const then =
        told === undefined ? undefined : { restarts: new Map([['a/app', told]]), unready: new Set<string>() };
      const pods = [{ pod, sizing: pod.sizing }];
      return resumeWatch({ changes: lessCpu, before: of, startedAt: NOON, then, pods, isInPlace: true });
    };
    const harms = (watch: ReturnType<typeof watched>, restartCount: number, late = 0) => {
      const unready = late > 0 ? { ready: false, readyChangedAt: NOON + 1 } : {};
      const changes = { uid: 'a', createdAt: NOON - 60_000, ...unready };
      const pod = aSizedPod(owner, 'web-1', ended(NOON + 1, restartCount), changes);
      return judgeChange(watch, [{ pod, sizing: pod.sizing }], NOON + 1 + late) !== undefined;
    };

    test('one restart since may have been asked for, and one more is harm', () => {
      expect([harms(watched(1), 1), harms(watched(1), 2)]).toEqual([false, true]);
      expect(harms(watched(1, undefined, [container]), 1)).toBe(true);
    });

    test('what is told of its restarts counts', () => {
      expect([harms(watched(2, 1), 2), harms(watched(2, 2), 2)]).toEqual([true, false]);
    });

    test('it has the time of one that is restarted to be ready again', () => {
      const grace = 30_000;
      for (const watch of [watched(1), watched(1, 1)])
        expect([harms(watch, 1, 299_999 + grace), harms(watch, 1, 300_000 + grace)]).toEqual([false, true]);
      expect(harms(watched(1, 1, [container]), 1, 60_000)).toBe(true);
    });
  });

  test('for any restarts, whoever resumes blames what whoever began would', () => {
    const counts = fc.record({ before: fc.nat(5), since: fc.nat(3) });
    fc.assert(
      fc.property(counts, ({ before, since }) => {
        const at = since > 0 ? NOON + 1 : NOON - 1;
        const restarts = before + since;
        const resumed = resume(ended(restarts === 0 ? undefined : at, restarts)).restarts.get('a/app') ?? 0;
        // Several since are seen as one: enough to be blamed for.
        expect(restarts > resumed).toBe(since > 0);
      }),
    );
  });
});

test('what lowers nothing is soon forgotten, a decrease when it can no longer be taken back', () => {
  const before = [container];
  expect(watchMillis({ changes: lessCpu, before }, 1_800_000)).toBe(1_800_000);
  expect(watchMillis({ changes: moreCpu, before }, 1_800_000)).toBe(30_000);
  expect(watchMillis({ changes: moreCpu, before }, 5_000)).toBe(5_000);
});

test('more for one container and less for another is a decrease', () => {
  const before = [container, aContainer({ name: 'log' })];
  const changes = [...moreCpu, { container: 'log', to: { cpuRequest: 1 } }];
  expect([isDecrease({ changes, before }), isDecrease({ changes: moreCpu, before })]).toEqual([true, false]);
});
