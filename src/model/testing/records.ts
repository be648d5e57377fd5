/**
 * Records for tests: each builder gives a valid record of an ordinary object, of which a test changes what it is about.
 */

import { nodeClassProfile } from '../node-profiles.ts';
import type { PlacementSettings } from '../placement-settings.ts';
import type {
  NamespaceRecord,
  NodeRecord,
  NodeSelectorTerm,
  PdbRecord,
  PodRecord,
  PodTemplate,
  ReplicaSetRecord,
  SpreadRule,
  VolumeClaimRecord,
  WorkloadRecord,
} from '../records.ts';

export const GIB = 2 ** 30;
/** 2026-03-02, a Monday, 12:00 UTC. */
export const NOON = Date.UTC(2026, 2, 2, 12);
export const CAPACITY_TYPE = 'karpenter.sh/capacity-type';

export function aTemplate(changes: Partial<PodTemplate> = {}): PodTemplate {
  return {
    labels: { app: 'web' },
    nodeSelector: {},
    requiredNodeTerms: undefined,
    tolerations: [],
    requests: { cpuMillis: 100, memoryBytes: 0.1 * GIB },
    hasPodPlacementRules: false,
    terminationGraceSeconds: 30,
    ...changes,
  };
}

/** At most one pod of `app: web` more on any machine than on the emptiest. */
export function aSpreadRule(changes: Partial<SpreadRule> = {}): SpreadRule {
  return {
    topologyKey: 'kubernetes.io/hostname',
    maxSkew: 1,
    minDomains: 1,
    selector: { matchLabels: { app: 'web' } },
    matchLabelKeys: [],
    honorsAffinity: true,
    honorsTaints: false,
    ...changes,
  };
}

/** A ready node of Karpenter's capacity type `type`. */
export function aNode(name: string, type: string | undefined, changes: Partial<NodeRecord> = {}): NodeRecord {
  return {
    name,
    uid: `uid-${name}`,
    labels: type === undefined ? {} : { [CAPACITY_TYPE]: type },
    taints: [],
    ready: true,
    unschedulable: false,
    deleting: false,
    allocatable: { cpuMillis: 64_000, memoryBytes: 256 * GIB },
    maxPods: 1000,
    createdAt: NOON - 86_400_000,
    ...changes,
  };
}

export function aNamespace(changes: Partial<NamespaceRecord> = {}): NamespaceRecord {
  return { name: 'shop', labels: {}, annotations: {}, enabled: true, terminating: false, ...changes };
}

/** A settled Deployment `shop/web` of 10 replicas, 70 % spot, at least 1 on on-demand. */
export function aDeployment(changes: Partial<WorkloadRecord> = {}): WorkloadRecord {
  const replicas = changes.replicas ?? 10;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    uid: 'uid-web',
    resourceVersion: '1',
    generation: 1,
    observedGeneration: 1,
    createdAt: NOON - 86_400_000,
    deleting: false,
    enabled: true,
    annotations: { 'spotalis.io/spot-percentage': '70', 'spotalis.io/min-on-demand': '1' },
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: aTemplate(),
    paused: false,
    rollout: { type: 'RollingUpdate', maxSurge: 1, maxUnavailable: 0 },
    status: settledStatus(replicas),
    ...changes,
  };
}

export function settledStatus(replicas: number): WorkloadRecord['status'] {
  return {
    replicas,
    updated: replicas,
    ready: replicas,
    available: replicas,
    stuckSince: undefined,
    currentRevision: undefined,
    updateRevision: undefined,
  };
}

/** A settled StatefulSet `shop/db` of 5 replicas, 60 % spot, at least 1 on on-demand. */
export function aStatefulSet(changes: Partial<WorkloadRecord> = {}): WorkloadRecord {
  return aDeployment({
    kind: 'StatefulSet',
    name: 'db',
    uid: 'uid-db',
    replicas: 5,
    annotations: { 'spotalis.io/spot-percentage': '60', 'spotalis.io/min-on-demand': '1' },
    rollout: { type: 'StatefulSet', start: 0, partition: 0, onDelete: false, orderedReady: true },
    status: settledStatus(changes.replicas ?? 5),
    ...changes,
  });
}

export function aReplicaSet(workload: WorkloadRecord, changes: Partial<ReplicaSetRecord> = {}): ReplicaSetRecord {
  const revision = changes.revision ?? 'rev1';
  const { apiVersion, kind, name, uid } = workload;
  return {
    namespace: workload.namespace,
    name: `${name}-${revision}`,
    uid: `uid-${name}-${revision}`,
    owner: { apiVersion, kind, name, uid },
    revision,
    replicas: workload.replicas,
    createdAt: workload.createdAt,
    ...changes,
  };
}

type Owner = Pick<ReplicaSetRecord, 'namespace' | 'name' | 'uid'> & Partial<Pick<WorkloadRecord, 'kind'>>;

/** A running, ready, unstamped pod of a ReplicaSet or StatefulSet. */
export function aPod(owner: Owner, name: string, changes: Partial<PodRecord> = {}): PodRecord {
  return {
    uid: `uid-${owner.namespace}-${name}`,
    namespace: owner.namespace,
    name,
    resourceVersion: '1',
    owner: { apiVersion: 'apps/v1', kind: owner.kind ?? 'ReplicaSet', name: owner.name, uid: owner.uid },
    template: aTemplate(),
    phase: 'Running',
    ready: true,
    readyChangedAt: NOON - 3_600_000,
    nodeName: undefined,
    unschedulableSince: undefined,
    createdAt: NOON - 3_600_000,
    deletingAt: undefined,
    slot: undefined,
    capacity: undefined,
    admissionId: undefined,
    unconfirmed: false,
    fallback: false,
    deletionCost: 0,
    protectedBy: undefined,
    claims: [],
    resizing: false,
    ...changes,
  };
}

export function aPdb(changes: Partial<PdbRecord> = {}): PdbRecord {
  return {
    namespace: 'shop',
    name: 'web-pdb',
    uid: 'uid-web-pdb',
    selector: { matchLabels: { app: 'web' } },
    disruptionsAllowed: 1,
    observed: true,
    currentHealthy: 10,
    desiredHealthy: 9,
    alwaysAllowUnhealthy: false,
    ...changes,
  };
}

export function aVolumeClaim(name: string, changes: Partial<VolumeClaimRecord> = {}): VolumeClaimRecord {
  return { namespace: 'shop', name, bound: true, requiredNodeTerms: undefined, ...changes };
}

/** Karpenter's labels, no autoscaler, no window, a cooldown of 10 seconds. */
export function someSettings(changes: Partial<PlacementSettings> = {}): PlacementSettings {
  return {
    readOnly: false,
    rounding: 'ceil',
    basis: 'total',
    mutations: { tolerations: true, affinity: true },
    allowSingleReplica: false,
    maxConcurrentEvictions: 5,
    cooldownMillis: 10_000,
    disruptionRetryMillis: 60_000,
    claimTtlMillis: 30_000,
    stuckRolloutMillis: 600_000,
    moveBackoffMillis: { initial: 180_000, max: 3_600_000 },
    fallback: { afterMillis: 300_000, returnPerWindow: 1, maxConcurrent: 50, maxPercent: 100 },
    maxPerPool: 100,
    avoidPoolsLosing: 30,
    defaults: { spotPercentage: 0, minOnDemand: '0' },
    window: undefined,
    namespaceSelector: undefined,
    nodeClasses: nodeClassProfile(['karpenter'], { provisionable: { spot: false, onDemand: false } }),
    ...changes,
  };
}

/** Nodes with one of these values of the label `zone`. */
export function inZone(...zones: string[]): NodeSelectorTerm {
  return { expressions: [{ key: 'zone', operator: 'In', values: zones }], fields: [] };
}
