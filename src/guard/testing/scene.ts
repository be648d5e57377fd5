/**
 * A scene for guard tests: a Deployment of 4 with one pod too many on spot, where every rule agrees to move pod `s3`.
 */
import type { EvictDecision, RestampDecision } from '../../decide/decision.ts';
import type { ManagedPolicy } from '../../decide/placement/policy.ts';
import { parseWindow } from '../../lib/schedule.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { PodRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import { createSnapshot, type SnapshotRecords } from '../../model/snapshot.ts';
import { aDeployment, aNamespace, aNode, aPod, aReplicaSet, NOON, someSettings } from '../../model/testing/records.ts';
import type { GuardContext } from '../context.ts';
import { createDisruptionLog } from '../history.ts';

export const web = aDeployment({ replicas: 4 });
export const replicaSet = aReplicaSet(web);

export function pod(name: string, nodeName: string, changes: Partial<PodRecord> = {}): PodRecord {
  return aPod(replicaSet, name, { uid: name, nodeName, ...changes });
}

/** Three on spot, one on on-demand; two are wanted on each. */
export const pods: readonly PodRecord[] = [pod('s1', 's'), pod('s2', 's'), pod('s3', 's'), pod('o1', 'o')];
export const nodes = [aNode('s', 'spot'), aNode('o', 'on-demand'), aNode('x', undefined)];

export function evict(changes: Partial<EvictDecision> = {}): EvictDecision {
  return {
    kind: 'evict',
    engine: 'placement',
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    workloadUid: web.uid,
    pod: { namespace: 'shop', name: 's3', uid: 's3' },
    from: 'spot',
    to: 'on-demand',
    onDemandFloor: 1,
    why: { summary: 'one moves', numbers: {} },
    ...changes,
  };
}

export function restamp(): RestampDecision {
  const { workload, workloadUid, pod: ref, why } = evict();
  return {
    kind: 'restamp',
    engine: 'placement',
    workload,
    workloadUid,
    pod: ref,
    resourceVersion: '1',
    slot: 3,
    capacity: 'spot',
    deletionCost: -3,
    why,
  };
}

export function windowOf(schedule: string, duration: string): ManagedPolicy['window'] {
  const result = parseWindow(schedule, duration);
  return result.ok ? result.window : undefined;
}

export const managed: ManagedPolicy = {
  state: 'managed',
  rule: { spotPercentage: 50, minOnDemand: { kind: 'count', count: 1 }, rounding: 'ceil', basis: 'total' },
  window: undefined,
  sources: { spotPercentage: 'workload', minOnDemand: 'workload', window: 'config' },
};

export interface SceneChanges extends Partial<Omit<GuardContext, 'view' | 'sides' | 'settings'>> {
  readonly records?: SnapshotRecords;
  readonly settings?: Partial<PlacementSettings>;
}

export function scene(changes: SceneChanges = {}): GuardContext {
  const { records, settings: settingChanges, ...rest } = changes;
  const settings = someSettings(settingChanges);
  return {
    view: createSnapshot({
      namespaces: [aNamespace()],
      nodes,
      workloads: [web],
      replicaSets: [replicaSet],
      pods,
      ...records,
    }),
    sides: createSides(settings.nodeClasses),
    settings,
    policy: managed,
    history: createDisruptionLog(settings.moveBackoffMillis),
    inFlight: [],
    leadership: { leader: true, sinceMillis: NOON - 3_600_000 },
    now: NOON,
    ...rest,
  };
}

/** The pods of the scene with some of them changed. */
export function withPods(changes: Readonly<Record<string, Partial<PodRecord>>>): SnapshotRecords {
  return { pods: pods.map((each) => ({ ...each, ...changes[each.name] })) };
}
