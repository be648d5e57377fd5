/** What is left of a quota for raises beside pods that are missing. */
import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../../model/records.ts';
import { GIB, NOON } from '../../../model/testing/records.ts';
import {
  aContainer,
  aContainerStatus,
  aQuota,
  aSizedPod,
  aSizedWorkload,
  MIB,
  smallSize,
} from '../../../model/testing/sizing-records.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import {
  evictToResize,
  inFlight,
  pods,
  reasonsFor,
  replicaSet,
  resize,
  sizeScene,
  unread,
  web,
} from '../testing/size-scene.ts';

describe('pods that are yet to be made', () => {
  const api = aSizedWorkload({ kind: 'StatefulSet', name: 'api', uid: 'api', replicas: 2 });
  const owner = { namespace: 'shop', name: 'api', uid: 'api', kind: 'StatefulSet' };
  const apiPod = (name: string, changes: Partial<PodRecord> = {}) =>
    aSizedPod(owner, name, {}, { uid: name, ...changes });
  const more = resize({ changes: [{ container: 'app', to: { cpuRequest: 300 } }] });
  /** 299m are left: the pod that is missing asks for 200m of them. */
  const around = (changes: Partial<PodRecord> | undefined, used = 701) => ({
    quotas: [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: used } })],
    workloads: [web, api],
    pods: [...pods, apiPod('api-0'), ...(changes === undefined ? [] : [apiPod('api-1', changes)])],
  });

  test('find what they need in a quota: nothing takes it before them', () => {
    expect(reasonsFor(more, { records: around({}) })).toEqual([]);
    for (const decision of [more, evictToResize])
      expect(reasonsFor(decision, { records: around(undefined) })).toEqual(['QuotaKept']);
    const [block] = inspectSizeAll(more, sizeScene({ records: around(undefined) }));
    expect(block?.message).toBe(
      'ResourceQuota compute has 99m of requests.cpu left beside what it keeps for pods that are yet to be made; the change needs 100m more',
    );
    expect(reasonsFor(more, { records: around(undefined, 700) })).toEqual([]);
  });

  test('are those of the workload itself, too', () => {
    const records = { ...around({}), workloads: [{ ...web, replicas: 4 }, api] };
    expect(reasonsFor(more, { records })).toEqual(['QuotaKept']);
  });

  test('what their predecessors give back is room for them, and what those do not have is kept', () => {
    const size = { ...smallSize, cpuRequest: 50 };
    const small = aSizedPod(owner, 'api-1', { containers: [aContainer({ size })] }, { uid: 'api-1', deletingAt: NOON });
    const records = (used: number) => {
      const scene = around(undefined, used);
      return { records: { ...scene, pods: [...scene.pods, small] } };
    };
    // It has 50m, and 200m come after it.
    expect(reasonsFor(more, records(751))).toEqual(['QuotaKept']);
    expect(reasonsFor(more, records(750))).toEqual([]);
  });

  test('an eviction counts from when it is asked for; a pod that is only restarted stays', () => {
    const size = { ...smallSize, cpuRequest: 50 };
    const small = aSizedPod(owner, 'api-1', { containers: [aContainer({ size })] }, { uid: 'api-1' });
    const scene = around(undefined, 751);
    const records = { ...scene, pods: [...scene.pods, small] };
    const evictions = [{ workloadUid: 'api', podUid: 'api-1', since: NOON }];
    expect(reasonsFor(more, { records })).toEqual([]);
    expect(reasonsFor(more, { records, evictions })).toEqual(['QuotaKept']);
    const resizes = [inFlight('api-1', { memoryRequest: 130 * MIB })];
    expect(reasonsFor(more, { records, evictions, resizes })).toEqual([]);
  });

  test('who is killed for want of memory, or was harmed by less, does not wait for them', () => {
    const quotas = [aQuota({ hard: { memoryRequest: GIB }, used: { memoryRequest: GIB - 200 * MIB } })];
    const container = aContainer();
    const lastTermination = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 60_000 };
    const statuses = [aContainerStatus(container, { lastTermination })];
    const killed = aSizedPod(replicaSet, 'web-1', { ...unread, statuses }, { uid: 'web-1' });
    const to = { memoryRequest: 228 * MIB };
    const change = (changes: object = {}) => resize({ changes: [{ container: 'app', to }], ...changes });
    const scene = { ...around(undefined), quotas };
    expect(reasonsFor(change(), { records: scene })).toEqual(['QuotaKept']);
    expect(reasonsFor(change({ isRestore: true }), { records: scene })).toEqual([]);
    const records = { ...scene, pods: [killed, ...scene.pods.slice(1)] };
    expect(reasonsFor(change(), { records })).toEqual([]);
    const cpu = { ...records, quotas: around(undefined).quotas };
    expect(reasonsFor(more, { records: cpu })).toEqual(['QuotaKept']);
  });

  test('nothing that frees, or that no quota bounds, waits for them', () => {
    const records = around(undefined, 900);
    const to = { cpuRequest: 100, memoryRequest: 256 * MIB };
    expect(reasonsFor(resize({ changes: [{ container: 'app', to }] }), { records })).toEqual([]);
  });
});
