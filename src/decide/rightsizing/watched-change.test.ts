import { describe, expect, test } from 'vitest';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import type { SizeChange } from '../size-decision.ts';
import {
  changedResources,
  isDecrease,
  keysOf,
  loweredResources,
  lowersCpuLimit,
  watchChange,
  watchMillis,
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

test('what lowers nothing is soon forgotten, a decrease when it can no longer be taken back', () => {
  const before = [container];
  expect(watchMillis({ changes: lessCpu, before }, 1_800_000)).toBe(1_800_000);
  expect(watchMillis({ changes: moreCpu, before }, 1_800_000)).toBe(30_000);
  expect(watchMillis({ changes: moreCpu, before }, 5_000)).toBe(5_000);
});
