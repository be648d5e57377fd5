import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SizeChange } from '../../model/pod-size.ts';
import type { PodRecord } from '../../model/records.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { isWaitingForRoom, lackOfRoom } from './lack-of-room.ts';
import { watchChange } from './watched-change.ts';

const MINUTE = 60_000;
const small: ContainerSize = { cpuRequest: 200, memoryRequest: 64 * MIB };
const more: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 900 } }];

const podOf = (name: string, size: ContainerSize, changes: Partial<PodRecord> = {}): SizedPod => {
  const record = aSizedPod(
    aReplicaSet(aDeployment()),
    name,
    { containers: [aContainer({ size })] },
    { uid: name, ...changes },
  );
  return { pod: record, sizing: record.sizing };
};
const old = podOf('web-1', small);
/** Made at noon with more; no node was found for it since. */
const stranded = (size: ContainerSize = { ...small, cpuRequest: 900 }, changes: Partial<PodRecord> = {}) =>
  podOf('web-2', size, {
    createdAt: NOON,
    phase: 'Pending',
    ready: false,
    readyChangedAt: undefined,
    nodeName: undefined,
    unschedulableSince: NOON,
    ...changes,
  });
const begun = (changes = more, pods: readonly SizedPod[] = [old]) =>
  watchChange(changes, [aContainer({ size: small })], pods, NOON);
/** Minutes after noon. */
const lack = (minutes: number, pods: readonly SizedPod[], change = begun()) =>
  lackOfRoom(change, pods, NOON + minutes * MINUTE);

describe('more, for whose new pods there is no room', () => {
  test('is harm once a pod has waited for as long as one that starts', () => {
    expect(lack(9.9, [old, stranded()])).toBeUndefined();
    expect(lack(10, [old, stranded()])).toEqual({
      parts: [{ container: 'app', resource: 'cpu' }],
      cause: `no node has room for pod web-2 since ${new Date(NOON).toISOString()}`,
    });
  });

  test('is waited for as long as it goes on: nodes may be made one by one', () => {
    const placed = podOf(
      'web-3',
      { ...small, cpuRequest: 900 },
      { createdAt: NOON, readyChangedAt: NOON + 8 * MINUTE },
    );
    expect(lack(17, [placed, stranded()])).toBeUndefined();
    expect(lack(34, [placed, stranded()])?.parts).toHaveLength(1);
  });

  test('names who has waited longest', () => {
    const later = stranded({ ...small, cpuRequest: 900 }, { name: 'web-0', unschedulableSince: NOON + MINUTE });
    expect(lack(20, [later, stranded()])?.cause).toMatch(/pod web-2/);
  });

  test.each<[string, readonly SizedPod[]]>([
    ['all have a node', [old, podOf('web-2', { ...small, cpuRequest: 900 })]],
    ['it is another size that waits', [old, stranded({ ...small, cpuRequest: 800 })]],
    ['it is what was before', [old, stranded(small)]],
    ['it is on its way out', [old, stranded(undefined, { deletingAt: NOON })]],
    ['nobody looked for a node yet', [old, stranded(undefined, { unschedulableSince: undefined })]],
  ])('is none where %s', (_, pods) => {
    expect(lack(60, pods)).toBeUndefined();
  });

  test('is none where as many were not ready before: they may have waited for room then', () => {
    const unready = podOf('web-0', small, { ready: false, phase: 'Pending', nodeName: undefined });
    const change = begun(more, [old, unready]);
    expect(lack(60, [old, stranded()], change)).toBeUndefined();
    const another = stranded(undefined, { uid: 'web-4', name: 'web-4' });
    expect(lack(60, [old, stranded(), another], change)).toBeDefined();
  });

  test('blames what takes more room, and neither limits nor what was lowered', () => {
    const changes = [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 128 * MIB, memoryLimit: 256 * MIB } }];
    const pods = [old, stranded({ cpuRequest: 100, memoryRequest: 128 * MIB, memoryLimit: 256 * MIB })];
    expect(lack(10, pods, begun(changes))?.parts).toEqual([{ container: 'app', resource: 'memory' }]);
    const limits = [{ container: 'app', to: { cpuLimit: 900 } }];
    const limited = [old, stranded({ ...small, cpuLimit: 900 })];
    expect([lack(10, limited, begun(limits)), isWaitingForRoom(begun(limits), limited, NOON)]).toEqual([
      undefined,
      false,
    ]);
  });

  test('is waited for from when a pod is made, but of one that no scheduler looks at not for long', () => {
    const made = [old, stranded(undefined, { unschedulableSince: undefined })];
    const isWaiting = (pods: readonly SizedPod[], seconds: number, change = begun()): boolean =>
      isWaitingForRoom(change, pods, NOON + seconds * 1000);
    expect([isWaiting(made, 0), isWaiting(made, 59), isWaiting(made, 60)]).toEqual([true, true, false]);
    expect(isWaiting([old, stranded()], 3600)).toBe(true);
    expect(isWaiting([old, podOf('web-2', { ...small, cpuRequest: 900 })], 0)).toBe(false);
    const unready = podOf('web-0', small, { ready: false });
    expect(isWaiting([old, stranded()], 3600, begun(more, [old, unready]))).toBe(false);
  });

  test('for any time less is no harm', () => {
    const less = [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 32 * MIB } }];
    fc.assert(
      fc.property(fc.nat(10_000), (minutes) => {
        expect(
          lack(minutes, [old, stranded({ cpuRequest: 100, memoryRequest: 32 * MIB })], begun(less)),
        ).toBeUndefined();
      }),
    );
  });
});
