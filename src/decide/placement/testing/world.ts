/**
 * A small model cluster for tests: one workload, its controllers' part played by the test, pods placed as admission
 * says.
 */
import type { Random } from '../../../lib/random.ts';
import type { ClusterView } from '../../../model/cluster-view.ts';
import { isLive, resolveOwner } from '../../../model/owners.ts';
import type { PlacementSettings } from '../../../model/placement-settings.ts';
import type {
  NodeRecord,
  PodRecord,
  ReplicaSetRecord,
  Side,
  VolumeClaimRecord,
  WorkloadRecord,
} from '../../../model/records.ts';
import { createSides, type Sides } from '../../../model/sides.ts';
import { createSnapshot } from '../../../model/snapshot.ts';
import {
  aDeployment,
  aNamespace,
  aNode,
  aPod,
  aReplicaSet,
  aTemplate,
  CAPACITY_TYPE,
  NOON,
  someSettings,
} from '../../../model/testing/records.ts';
import type { EvictDecision, RestampDecision } from '../../decision.ts';
import { type AdmissionInput, decideAdmission } from '../admission.ts';
import type { AdmissionDecision } from '../admission-decision.ts';
import type { AdmissionPod } from '../admission-pod.ts';
import { type ClaimLedger, createClaimLedger } from '../claims.ts';
import { planWorkload } from '../converge.ts';
import type { WorkloadPlan } from '../plan.ts';
import { createPolicyReader, type PolicyReader } from '../policy.ts';

export const SPOT_NODE = 'node-spot';
export const ON_DEMAND_NODE = 'node-on-demand';
export const UNKNOWN_NODE = 'node-unknown';
export const nodeOf = (side: Side): string => (side === 'spot' ? SPOT_NODE : ON_DEMAND_NODE);

export interface World {
  workload: WorkloadRecord;
  replicaSets: ReplicaSetRecord[];
  pods: PodRecord[];
  nodes: NodeRecord[];
  /** Default none. */
  volumeClaims?: readonly VolumeClaimRecord[];
  now: number;
  /** Admission requests so far. */
  requests: number;
  readonly settings: PlacementSettings;
  readonly sides: Sides;
  readonly ledger: ClaimLedger;
  readonly readPolicy: PolicyReader;
}

export function createWorld(workload: WorkloadRecord, changes: Partial<PlacementSettings> = {}): World {
  const settings = someSettings(changes);
  return {
    workload,
    replicaSets: workload.rollout.type === 'StatefulSet' ? [] : [aReplicaSet(workload)],
    pods: [],
    nodes: [aNode(SPOT_NODE, 'spot'), aNode(ON_DEMAND_NODE, 'on-demand'), aNode(UNKNOWN_NODE, undefined)],
    now: NOON,
    requests: 0,
    settings,
    sides: createSides(settings.nodeClasses),
    ledger: createClaimLedger({ ttlMillis: settings.claimTtlMillis }),
    readPolicy: createPolicyReader(settings),
  };
}

export function viewOf(world: World, withPods = true): ClusterView {
  return createSnapshot({
    namespaces: [aNamespace()],
    nodes: world.nodes,
    workloads: [world.workload],
    replicaSets: world.replicaSets,
    pods: withPods ? world.pods : [],
    volumeClaims: world.volumeClaims ?? [],
  });
}

export interface AdmitOptions {
  readonly uid?: string;
  readonly dryRun?: boolean;
  readonly revision?: string;
  /** What the webhook sees; the present state unless given. */
  readonly view?: ClusterView;
  readonly pod?: Partial<AdmissionPod>;
}

export function anAdmissionPod(changes: Partial<AdmissionPod> = {}): AdmissionPod {
  return {
    name: undefined,
    owner: undefined,
    template: aTemplate(),
    nodeName: undefined,
    isMirror: false,
    stamp: undefined,
    hasDeletionCost: false,
    has: { annotations: true, nodeSelector: false, affinity: false, nodeAffinity: false, tolerations: false },
    requiredTerms: undefined,
    ...changes,
  };
}

/** A new request uid, different from all before. */
export function newUid(world: World): string {
  world.requests++;
  return `request-${world.requests}`;
}

export function inputFor(world: World, options: AdmitOptions = {}): AdmissionInput {
  const view = options.view ?? viewOf(world);
  const set = world.replicaSets.find(({ revision }) => revision === (options.revision ?? 'rev1'));
  const { apiVersion, name, uid } = world.workload;
  const owner =
    set === undefined
      ? { apiVersion, kind: 'StatefulSet', name, uid }
      : { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set.name, uid: set.uid };
  return {
    view,
    sides: world.sides,
    settings: world.settings,
    readPolicy: world.readPolicy,
    ledger: world.ledger,
    owner: resolveOwner(view, world.workload.namespace, owner),
    request: { uid: options.uid ?? newUid(world), dryRun: options.dryRun ?? false },
    pod: anAdmissionPod({ owner, ...options.pod }),
    now: world.now,
  };
}

export function admit(world: World, options: AdmitOptions = {}): AdmissionDecision {
  return decideAdmission(inputFor(world, options));
}

/** As {@link admit}, where anything but a steered pod fails the test. */
export function admitSteered(
  world: World,
  options: AdmitOptions = {},
): Extract<AdmissionDecision, { kind: 'steered' }> {
  const decision = admit(world, options);
  if (decision.kind !== 'steered') throw new Error(`not steered: ${decision.message}`);
  return decision;
}

/** The pod that comes of a decision: stamped, pinned, and running on a node of its side unless told otherwise. */
export function podFrom(
  world: World,
  decision: Extract<AdmissionDecision, { kind: 'steered' }>,
  changes: Partial<PodRecord> & { readonly revision?: string } = {},
): PodRecord {
  const { revision = 'rev1', ...rest } = changes;
  const admissionId = decision.stamps['spotalis.io/admission-id'] ?? '';
  const set = world.replicaSets.find((replicaSet) => replicaSet.revision === revision);
  const owner = set ?? { ...world.workload, kind: 'StatefulSet' };
  return aPod(owner, `${world.workload.name}-${revision}-${admissionId}`, {
    createdAt: world.now,
    readyChangedAt: world.now,
    template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: decision.side } }),
    nodeName: nodeOf(decision.side),
    slot: decision.slot,
    capacity: decision.side,
    admissionId,
    deletionCost: -decision.slot,
    pinned: decision.stamps['spotalis.io/pinned'] === 'true' || undefined,
    ...rest,
  });
}

/** Admits a pod, lets it run, and shows it to the ledger as an informer would. */
export function run(world: World, options: AdmitOptions = {}): PodRecord {
  const pod = podFrom(
    world,
    admitSteered(world, options),
    options.revision === undefined ? {} : { revision: options.revision },
  );
  world.pods.push(pod);
  world.ledger.podSeen(pod.admissionId ?? '');
  return pod;
}

/** Runs a pod that the webhook did not see. */
export function runUnsteered(world: World, side: Side, changes: Partial<PodRecord> = {}): PodRecord {
  const owner = world.replicaSets[0] ?? { ...world.workload, kind: 'StatefulSet' };
  const pod = aPod(owner, `${world.workload.name}-${newUid(world)}`, {
    nodeName: nodeOf(side),
    createdAt: world.now,
    ...changes,
  });
  world.pods.push(pod);
  return pod;
}

export function remove(world: World, pod: PodRecord): void {
  world.pods = world.pods.filter(({ uid }) => uid !== pod.uid);
}

export function scale(world: World, replicas: number): void {
  world.workload = {
    ...world.workload,
    replicas,
    generation: world.workload.generation + 1,
    observedGeneration: world.workload.observedGeneration + 1,
    status: { ...world.workload.status, replicas, updated: replicas, ready: replicas, available: replicas },
  };
  world.replicaSets = world.replicaSets.map((set) => ({ ...set, replicas }));
}

/** How the live pods stand: `[spot, on-demand]`. */
export function mix(world: World): [spot: number, onDemand: number] {
  const live = world.pods.filter(isLive);
  return [
    live.filter(({ nodeName }) => nodeName === SPOT_NODE).length,
    live.filter(({ nodeName }) => nodeName === ON_DEMAND_NODE).length,
  ];
}

export function plan(world: World): WorkloadPlan {
  const view = viewOf(world);
  const { sides, workload, settings, now } = world;
  return planWorkload({ view, sides, workload, settings, policy: world.readPolicy(view, workload), now });
}

export function pick<T>(random: Random, list: readonly T[]): T | undefined {
  return list[Math.floor(random.next() * list.length)];
}

export function evictionOf({ decisions }: WorkloadPlan): EvictDecision | undefined {
  return decisions.find((each) => each.kind === 'evict');
}

export function restampsOf({ decisions }: WorkloadPlan): RestampDecision[] {
  return decisions.filter((each) => each.kind === 'restamp');
}

/** A Deployment in a world of its own; nothing runs yet. */
export function worldOf(replicas: number, percentage: number, min: number): World {
  return createWorld(aDeployment({ replicas, annotations: placementAnnotations(percentage, min) }));
}

export function annotate(world: World, percentage: number, min: number): void {
  world.workload = { ...world.workload, annotations: placementAnnotations(percentage, min) };
}

function placementAnnotations(percentage: number, min: number): Readonly<Record<string, string>> {
  return { 'spotalis.io/spot-percentage': `${percentage}`, 'spotalis.io/min-on-demand': `${min}` };
}

/** Runs unsteered pods `s0`, `s1`, ... on spot and `o0`, `o1`, ... on on-demand. */
export function place(world: World, spot: number, onDemand: number): void {
  for (let index = 0; index < spot; index++) runUnsteered(world, 'spot', { name: `s${index}`, uid: `s${index}` });
  for (let index = 0; index < onDemand; index++) {
    runUnsteered(world, 'on-demand', { name: `o${index}`, uid: `o${index}` });
  }
}

/** Admits and runs pods until all replicas are there. */
export function fill(world: World): void {
  while (world.pods.length < world.workload.replicas) run(world);
}

/** Evicts, admits the replacement and lets it run, until nothing is left to move. */
export function repair(world: World): { readonly evictions: number; readonly rounds: number } {
  for (let rounds = 1, evictions = 0; rounds <= 200; rounds++) {
    const eviction = evictionOf(plan(world));
    if (eviction === undefined) return { evictions, rounds };
    world.pods = world.pods.filter(({ uid }) => uid !== eviction.pod.uid);
    world.now += 60_000;
    evictions++;
    run(world);
  }
  throw new Error('the repair does not end');
}

export function restampAll(world: World): void {
  for (const { pod: ref, slot, capacity, deletionCost } of restampsOf(plan(world))) {
    world.pods = world.pods.map((pod) =>
      pod.uid === ref.uid ? { ...pod, slot, capacity, deletionCost: deletionCost ?? pod.deletionCost } : pod,
    );
  }
}
