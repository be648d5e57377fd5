/** Stand-in of the DaemonSet controller: one pod on every node its template admits. */

import type { DaemonSet, Node, Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../kube/queue.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { resolveIntOrPercent } from '../int-or-percent.ts';
import {
  controllerOf,
  controllerReference,
  isSameStatus,
  isSameValue,
  keyOf,
  nameOf,
  namespaceOf,
  uidOf,
} from '../objects.ts';
import { isActive, isAvailable, isFinished, isReady, isTerminating } from '../pod-state.ts';
import { admitsNode, type NodeSelectorTerm, type Toleration, untoleratedTaints } from '../scheduler/node-matching.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';
import { deletePod } from './delete-pod.ts';
import { createExpectations } from './expectations.ts';
import { nextAvailability } from './next-availability.ts';
import { podFromTemplate, templateHash } from './pod-template.ts';
import { replaceStatus } from './replace-status.ts';
import { requeueAt } from './requeue-at.ts';

type PodSpec = NonNullable<Pod['spec']>;

const HASH_LABEL = 'controller-revision-hash';
/** Daemons stay on nodes in trouble. Source: pkg/controller/daemon/util `AddOrUpdateDaemonPodTolerations`. */
const DAEMON_TOLERATIONS: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

/** What one look at a set goes by. */
interface Pass {
  readonly set: DaemonSet;
  readonly key: string;
  readonly spec: PodSpec;
  /** Of the present template. */
  readonly hash: string;
  /** Names of the nodes that are to have a pod. */
  readonly wanted: ReadonlySet<string>;
  /** Names of those on which one that is there may go on: a taint that only keeps newcomers away ends none. */
  readonly kept: ReadonlySet<string>;
  /** As of then pods are available or not. */
  readonly nowMillis: EpochMillis;
}

/** Pods are pinned by affinity and bound by the scheduler, so a full node keeps its daemon waiting. */
export function createDaemonSetController({ api, caches, clock, random, log }: StandInContext): StandIn {
  const name = 'daemonset-controller';
  const queue = createWorkQueue({ clock, random, log, name });
  const expectations = createExpectations(clock);
  const sets = caches.of(resources.daemonSets);
  const nodes = caches.of(resources.nodes);

  sets.onChange((_, after) => {
    if (after !== undefined) queue.add(keyOf(after));
  });
  nodes.onChange((before, after) => {
    if (before !== undefined && after !== undefined && isSameOffer(before, after)) return;
    for (const set of sets.all()) queue.add(keyOf(set));
  });
  caches.of(resources.pods).onChange((before, after) => {
    const pod = after ?? before;
    const owner = pod === undefined ? undefined : controllerOf(pod);
    if (pod === undefined || owner?.kind !== 'DaemonSet') return;
    const key = `${namespaceOf(pod)}/${owner.name}`;
    if (before === undefined) expectations.creationObserved(key);
    if (after === undefined || isTerminating(after)) expectations.deletionObserved(key, uidOf(pod));
    queue.add(key);
  });

  const sync = async (key: string): Promise<HandlerResult> => {
    const set = sets.get(key);
    if (set === undefined || set.metadata?.deletionTimestamp !== undefined) return undefined;
    const spec = daemonSpec(set);
    const hash = templateHash(set.spec?.template, undefined);
    const namesOf = (effects: readonly string[]): ReadonlySet<string> =>
      new Set([...nodes.all()].filter((node) => admitsDaemon(spec, node, effects)).map(nameOf));
    const [wanted, kept] = [namesOf(['NoSchedule', 'NoExecute']), namesOf(['NoExecute'])];
    const pass = { set, key, spec, hash, wanted, kept, nowMillis: clock.now() };
    if (expectations.isSatisfied(key)) await place(pass, [...caches.podsOfController(set)]);
    await writeStatus(pass, [...caches.podsOfController(set)]);
    const due = nextAvailability(caches.podsOfController(set), set.spec?.minReadySeconds ?? 0, pass.nowMillis);
    return requeueAt(due, clock);
  };

  const place = async (pass: Pass, pods: readonly Pod[]): Promise<void> => {
    const { key, wanted } = pass;
    const targets = new Set(pods.filter((pod) => !isFinished(pod)).map(targetOf));
    const missing = [...wanted].filter((node) => !targets.has(node));
    const doomed = [...misplaced(pass, pods), ...outdated(pass, pods)];
    if (missing.length === 0 && doomed.length === 0) return;
    expectations.expect(key, missing.length, doomed.map(uidOf));
    await Promise.all([
      ...missing.map((node) => createPod(pass, node)),
      ...doomed.map((pod) => deletePod(api, expectations, key, pod)),
    ]);
  };

  const createPod = async ({ set, key, spec, hash }: Pass, node: string): Promise<void> => {
    const owner = controllerReference(set, 'apps/v1', 'DaemonSet');
    const pod = podFromTemplate(set.spec?.template, namespaceOf(set), nameOf(set), owner);
    const labels = { ...pod.metadata?.labels, [HASH_LABEL]: hash };
    const bound = { ...pod, metadata: { ...pod.metadata, labels }, spec: pinnedTo(spec, node) };
    try {
      await api.create(resources.pods, bound, { namespace: namespaceOf(set) });
    } catch (error) {
      expectations.creationObserved(key);
      throw error;
    }
  };

  const writeStatus = async ({ set, hash, wanted, nowMillis }: Pass, pods: readonly Pod[]): Promise<void> => {
    const active = pods.filter(isActive);
    const placed = active.filter((pod) => wanted.has(targetOf(pod)));
    const count = (test: (pod: Pod) => boolean): number => placed.filter(test).length;
    const available = count((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMillis));
    const status = {
      currentNumberScheduled: placed.length,
      desiredNumberScheduled: wanted.size,
      numberMisscheduled: active.length - placed.length,
      numberReady: count(isReady),
      numberAvailable: available,
      numberUnavailable: wanted.size - available,
      updatedNumberScheduled: count((pod) => pod.metadata?.labels?.[HASH_LABEL] === hash),
      observedGeneration: set.metadata?.generation ?? 0,
    };
    const current = sets.get(keyOf(set));
    if (current === undefined || uidOf(current) !== uidOf(set) || isSameStatus(status, current.status)) return;
    await replaceStatus(api, resources.daemonSets, { ...current, status });
  };

  return { name, run: (signal) => queue.run(2, sync, signal) };
}

/** The pod a DaemonSet makes for a node, before it is tied to one. */
export function daemonPod(set: DaemonSet): Pod {
  const labels = set.spec?.template.metadata?.labels ?? {};
  return {
    metadata: { name: nameOf(set), namespace: namespaceOf(set), uid: uidOf(set), labels },
    spec: daemonSpec(set),
  };
}

function daemonSpec(set: DaemonSet): PodSpec {
  const spec = set.spec?.template.spec ?? { containers: [] };
  return { ...spec, tolerations: [...(spec.tolerations ?? []), ...DAEMON_TOLERATIONS] };
}

/**
 * Whether taints of these effects leave the node to the daemon. Source: pkg/controller/daemon/daemon_controller.go
 * `NodeShouldRunDaemonPod`.
 */
function admitsDaemon(spec: PodSpec, node: Node, effects: readonly string[]): boolean {
  return admitsNode(spec, node) && untoleratedTaints(node.spec?.taints, spec.tolerations, effects).length === 0;
}

/** The scheduler does the binding; the pod merely admits one node. */
function pinnedTo(spec: PodSpec, node: string): PodSpec {
  const terms: NodeSelectorTerm[] = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: terms };
  return { ...spec, affinity: { ...spec.affinity, nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
}

/** The node a daemon pod is on or meant for. */
function targetOf(pod: Pod): string {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return pod.spec?.nodeName ?? required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? '';
}

/** Finished ones too: a daemon that ended is made anew on its node, not restarted as its pod. */
function misplaced({ kept }: Pass, pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => !isTerminating(pod) && (isFinished(pod) || !kept.has(targetOf(pod))));
}

/**
 * Pods of an older template: all that are not available, as their end costs nothing, and of the others as many as may
 * be unavailable at a time, those that are so already counted. `maxSurge` is not played: an old pod goes before its
 * successor comes. Source: pkg/controller/daemon/update.go `rollingUpdate`.
 */
function outdated({ set, hash, wanted, nowMillis }: Pass, pods: readonly Pod[]): Pod[] {
  const strategy = set.spec?.updateStrategy;
  if (strategy?.type === 'OnDelete') return [];
  const limit = Math.max(1, resolveIntOrPercent(strategy?.rollingUpdate?.maxUnavailable ?? 1, wanted.size, 'up') ?? 1);
  const isServing = (pod: Pod): boolean => isActive(pod) && isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMillis);
  const unavailable = pods.filter((pod) => !isServing(pod)).length;
  const old = pods.filter((pod) => isActive(pod) && pod.metadata?.labels?.[HASH_LABEL] !== hash);
  const broken = old.filter((pod) => !isServing(pod));
  return [...broken, ...old.filter(isServing).slice(0, Math.max(0, limit - unavailable))];
}

/** Heartbeats change nodes all the time; only these fields decide which pods they get. */
function isSameOffer(before: Node, after: Node): boolean {
  return (
    isSameValue(before.metadata?.labels, after.metadata?.labels) &&
    isSameValue(before.spec?.taints, after.spec?.taints) &&
    before.spec?.unschedulable === after.spec?.unschedulable
  );
}
