import { describe, expect, test } from 'vitest';
import type { ReasonName } from '../../lib/reasons.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import { aNamespace, NOON, settledStatus } from '../../model/testing/records.ts';
import { inspect, inspectAll } from '../guard.ts';
import { evict, replicaSet, scene, web } from '../testing/scene.ts';
import { decision as evictToResize } from '../testing/size-eviction.ts';

const blocksFor = (changes: Partial<WorkloadRecord>) =>
  inspectAll(evict(), scene({ records: { workloads: [{ ...web, ...changes }] } }));

describe('the state of the workload', () => {
  test.each<[string, Partial<WorkloadRecord>, ReasonName]>([
    ['being deleted', { deleting: true }, 'Deleting'],
    ['scaled to zero', { replicas: 0, status: settledStatus(0) }, 'ScaledToZero'],
    ['changed and not yet looked at', { generation: 3, observedGeneration: 2 }, 'GenerationNotObserved'],
    ['paused', { paused: true }, 'Paused'],
    ['rolling out', { status: { ...settledStatus(4), updated: 2 } }, 'RolloutInProgress'],
    ['scaling up', { status: settledStatus(3) }, 'RolloutInProgress'],
  ])('case 56: case 46: hazard H10: %s: no eviction', (_, changes, reason) => {
    expect(blocksFor(changes).map((block) => block.reason)).toContain(reason);
  });

  test('in a namespace that ends no pod is ended, for whatever reason: none could come in its place', () => {
    const records = { namespaces: [aNamespace({ terminating: true })] };
    for (const decision of [evict(), evictToResize()])
      expect(inspect(decision, scene({ records }))).toMatchObject({ block: { reason: 'Deleting' } });
  });

  test('a settled one may be touched', () => {
    expect(blocksFor({})).toEqual([]);
  });

  test('names both generations', () => {
    expect(blocksFor({ generation: 3, observedGeneration: 2 })[0]?.message).toContain('generation 3 (it saw 2)');
  });

  test('hazard H9: an old ReplicaSet that still has replicas is a rollout', () => {
    const old = { ...replicaSet, uid: 'old', name: 'web-old', revision: 'old', replicas: 1 };
    const context = scene({ records: { replicaSets: [replicaSet, old] } });
    expect(inspect(evict(), context)).toMatchObject({ block: { reason: 'RolloutInProgress' } });
  });

  test('hazard H9: a stuck rollout blocks for ten minutes, then no longer', () => {
    const stuckFor = (millis: number) =>
      blocksFor({ status: { ...settledStatus(4), updated: 2, stuckSince: NOON - millis } });
    expect(stuckFor(599_000)).toMatchObject([{ reason: 'RolloutInProgress', retryAfterMillis: 1000 }]);
    expect(stuckFor(600_000)).toEqual([]);
  });

  test('a rollout that moves blocks without a time: its end wakes the workload', () => {
    expect(blocksFor({ status: { ...settledStatus(4), updated: 2 } })[0]?.retryAfterMillis).toBeUndefined();
  });
});
