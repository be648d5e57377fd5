/**
 * The truth about the simulated fleet: workloads and their pods by side, kept from the cluster's own objects. It knows the
 * side of a node by the pool that made it and the policy by the annotations' grammar, so it judges the operator's view of
 * both rather than sharing it.
 */

import { placementKeys } from '../api/annotations.ts';
import { isEnabled, parseMinOnDemand, parseSpotPercentage } from '../api/annotations-values.ts';
import type { Deployment, Namespace, Pod, StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Caches } from '../cluster/caches.ts';
import { isFinished, isReady, isTerminating } from '../cluster/pod-state.ts';
import type { Config } from '../config/schema.ts';
import { floorCount, type SlotRule, spotCount } from '../decide/placement/slots.ts';
import type { Side } from '../model/records.ts';
import { factsOfPod, type PodFacts } from './pod-facts.ts';

/** One workload as it is; counts and pods change in place with each event. */
export interface WorkloadFacts {
  /** `namespace/name`. */
  readonly key: string;
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly uid: string;
  readonly generation: number;
  readonly replicas: number;
  /** `spec.paused`: new pods are made of the latest ReplicaSet only, and none where there is none yet. */
  readonly isPaused: boolean;
  /** Undefined where the workload is not managed, or its annotations are invalid. */
  readonly rule: SlotRule | undefined;
  readonly targetSpot: number;
  readonly floor: number;
  /** By uid; all phases. */
  readonly pods: ReadonlyMap<string, PodFacts>;
  readonly counts: PodCounts;
}

/** Pods of any revision count. */
export interface PodCounts {
  /** Neither terminating nor finished. */
  readonly live: number;
  readonly ready: number;
  readonly readyOnDemand: number;
  /** Live and on a node of the side. */
  readonly spot: number;
  readonly onDemand: number;
}

/** Called in the middle of a change: {@link WorkloadFacts} are the old ones in `before`, the new ones in all others. */
export interface FleetListener {
  /** A workload is about to change. */
  before?(facts: WorkloadFacts): void;
  onWorkload?(facts: WorkloadFacts, before: WorkloadFacts | undefined): void;
  /** It was deleted; its pods may still be there, and are told of as they go. Nothing is wanted of it any more. */
  onWorkloadGone?(facts: WorkloadFacts): void;
  onPodAdded?(facts: WorkloadFacts, pod: PodFacts): void;
  onPodGone?(facts: WorkloadFacts, pod: PodFacts): void;
}

export interface FleetWatch {
  workloads(): Iterable<WorkloadFacts>;
  workload(key: string): WorkloadFacts | undefined;
  /** Whom a pod belongs to, also after that was deleted; undefined for pods of others, and for those that are gone. */
  workloadOfPod(uid: string): WorkloadFacts | undefined;
}

interface Entry extends WorkloadFacts {
  generation: number;
  isPaused: boolean;
  replicas: number;
  rule: SlotRule | undefined;
  targetSpot: number;
  floor: number;
  readonly pods: Map<string, PodFacts>;
  counts: { -readonly [Key in keyof PodCounts]: PodCounts[Key] };
}

export interface FleetWatchOptions {
  readonly caches: Caches;
  readonly config: Config;
  /** Undefined for nodes of no pool. */
  readonly sideOfNode: (name: string) => Side | undefined;
  readonly listener: FleetListener;
}

/** Starts watching; ends with the caches. */
export function watchFleet({ caches, config, sideOfNode, listener }: FleetWatchOptions): FleetWatch {
  const entries = new Map<string, Entry>();
  /** A workload of the same name that is made anew does not take over pods of the old one. */
  const ownerOfPod = new Map<string, Entry>();
  const replicaSets = caches.of(resources.replicaSets);
  const namespaces = caches.of(resources.namespaces);
  const read = createRuleReader(config);

  const onWorkload = (kind: Entry['kind'], object: Deployment | StatefulSet): void => {
    const key = `${object.metadata?.namespace}/${object.metadata?.name}`;
    const known = entries.get(key);
    const uid = object.metadata?.uid ?? '';
    if (known !== undefined && known.uid !== uid) onGone(known);
    const entry = known?.uid === uid ? known : newEntry(key, kind, uid);
    const replicas = object.spec?.replicas ?? 1;
    const generation = object.metadata?.generation ?? 0;
    const rule = read(object, namespaces.get(object.metadata?.namespace ?? ''));
    const isSame = entry === known && entry.replicas === replicas && entry.generation === generation;
    if (isSame && isSameRule(entry.rule, rule)) return;
    const before = entry === known ? { ...entry } : undefined;
    if (before !== undefined) listener.before?.(entry);
    entry.replicas = replicas;
    entry.generation = generation;
    entry.isPaused = object.spec !== undefined && 'paused' in object.spec && object.spec.paused === true;
    entry.rule = rule;
    entry.targetSpot = rule === undefined ? 0 : spotCount(rule, replicas);
    entry.floor = rule === undefined ? 0 : floorCount(rule, replicas);
    entries.set(key, entry);
    listener.onWorkload?.(entry, before);
  };

  const onGone = (entry: Entry): void => {
    listener.before?.(entry);
    listener.onWorkloadGone?.(entry);
    entries.delete(entry.key);
    entry.replicas = 0;
    entry.targetSpot = 0;
    entry.floor = 0;
  };

  const keyOfPod = (pod: Pod): string | undefined => {
    const namespace = pod.metadata?.namespace ?? '';
    const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    if (owner?.kind === 'StatefulSet') return `${namespace}/${owner.name}`;
    if (owner?.kind !== 'ReplicaSet') return undefined;
    const set = replicaSets.get(`${namespace}/${owner.name}`);
    const name = set?.metadata?.ownerReferences?.find(({ controller }) => controller === true)?.name;
    // Sets are named after their Deployment and revision; theirs may not have been seen yet.
    return `${namespace}/${name ?? owner.name.replace(/-[^-]+$/, '')}`;
  };

  const onObject =
    (kind: Entry['kind']) =>
    (before: Deployment | StatefulSet | undefined, after: Deployment | StatefulSet | undefined): void => {
      if (after !== undefined) {
        onWorkload(kind, after);
        return;
      }
      const known = entries.get(`${before?.metadata?.namespace}/${before?.metadata?.name}`);
      if (known !== undefined && known.uid === before?.metadata?.uid) onGone(known);
    };
  caches.of(resources.deployments).onChange(onObject('Deployment'));
  caches.of(resources.statefulSets).onChange(onObject('StatefulSet'));
  namespaces.onChange((_, after) => {
    const name = after?.metadata?.name ?? '';
    for (const object of caches.of(resources.deployments).inNamespace(name)) onWorkload('Deployment', object);
    for (const object of caches.of(resources.statefulSets).inNamespace(name)) onWorkload('StatefulSet', object);
  });
  caches.of(resources.pods).onChange((before, after) => {
    const uid = (after ?? before)?.metadata?.uid ?? '';
    if (before !== undefined && before.metadata?.uid !== uid) removePod(before.metadata?.uid ?? '');
    if (after === undefined) {
      removePod(uid);
      return;
    }
    const entry = ownerOfPod.get(uid) ?? entries.get(keyOfPod(after) ?? '');
    if (entry === undefined) return;
    ownerOfPod.set(uid, entry);
    const old = entry.pods.get(uid);
    const facts = factsOfPod(after, sideOfNode, { isReady, isTerminating, isFinished });
    listener.before?.(entry);
    entry.pods.set(uid, facts);
    if (old !== undefined) count(entry, old, -1);
    count(entry, facts, 1);
    if (old === undefined) listener.onPodAdded?.(entry, facts);
  });

  const removePod = (uid: string): void => {
    const entry = ownerOfPod.get(uid);
    const old = entry?.pods.get(uid);
    ownerOfPod.delete(uid);
    if (entry === undefined || old === undefined) return;
    listener.before?.(entry);
    entry.pods.delete(uid);
    count(entry, old, -1);
    listener.onPodGone?.(entry, old);
  };

  return {
    workloads: () => entries.values(),
    workload: (key) => entries.get(key),
    workloadOfPod: (uid) => ownerOfPod.get(uid),
  };
}

function newEntry(key: string, kind: Entry['kind'], uid: string): Entry {
  const counts = { live: 0, ready: 0, readyOnDemand: 0, spot: 0, onDemand: 0 };
  const nothing = { generation: 0, isPaused: false, replicas: 0, rule: undefined, targetSpot: 0, floor: 0 };
  return { key, kind, uid, ...nothing, pods: new Map(), counts };
}

function count({ counts }: Entry, pod: PodFacts, by: 1 | -1): void {
  if (!pod.isLive) return;
  counts.live += by;
  if (pod.side === 'spot') counts.spot += by;
  if (pod.side === 'on-demand') counts.onDemand += by;
  if (!pod.isReady) return;
  counts.ready += by;
  if (pod.side === 'on-demand') counts.readyOnDemand += by;
}

/** The policy by its grammar: workload over namespace over configuration, key by key. */
function createRuleReader({ placement }: Config) {
  const { defaults, rounding, basis } = placement;
  return (object: Deployment | StatefulSet, namespace: Namespace | undefined): SlotRule | undefined => {
    if (!isEnabled(object.metadata?.labels) || !isEnabled(namespace?.metadata?.labels)) return undefined;
    const text = (key: string): string | undefined =>
      object.metadata?.annotations?.[key] ?? namespace?.metadata?.annotations?.[key];
    const [spot, floor] = [text(placementKeys.spotPercentage), text(placementKeys.minOnDemand)];
    try {
      return {
        spotPercentage: parseSpotPercentage(spot ?? defaults.spotPercentage),
        minOnDemand: parseMinOnDemand(floor ?? defaults.minOnDemand),
        rounding,
        basis,
      };
    } catch {
      return undefined;
    }
  };
}

function isSameRule(left: SlotRule | undefined, right: SlotRule | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return (
    left.spotPercentage === right.spotPercentage &&
    JSON.stringify(left.minOnDemand) === JSON.stringify(right.minOnDemand)
  );
}
