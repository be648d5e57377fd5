/** Stand-in of the node lifecycle and taint eviction controllers: silent nodes are tainted, their pods given up in time. */
import type { Node, Pod } from '../../api/core.ts';
import { isNotFound, unless } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../kube/queue.ts';
import type { Timer } from '../../lib/clock.ts';
import { patchesOf } from '../object-patches.ts';
import { findCondition, isSameValue, keyOf, nameOf, namespaceOf, timeOf, timestampOf, uidOf } from '../objects.ts';
import { isReady, isTerminating } from '../pod-state.ts';
import { type Taint, tolerates } from '../scheduler/node-matching.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';

/** Who knows whether a node's kubelet is heard of: stands for counting missed heartbeats. */
export interface NodeLiveness {
  isAlive(nodeName: string): boolean;
  onLiveness(listener: (nodeName: string, isAlive: boolean) => void): void;
}

/** What a real controller is told by flags. */
export interface NodeLifecycleOptions {
  readonly liveness: NodeLiveness;
  /** Silence after which a node counts as unreachable. Default 50 s, as `--node-monitor-grace-period`. */
  readonly graceMillis?: number;
}

const UNREACHABLE = 'node.kubernetes.io/unreachable';
const NOT_READY = 'node.kubernetes.io/not-ready';
/** What the DefaultTolerationSeconds admission plugin gives pods that say nothing about these two taints. */
const DEFAULT_TOLERATION_SECONDS = 300;

/** Two loops, as in Kubernetes since 1.29: one taints nodes, the other evicts pods that do not tolerate it. */
export function createNodeLifecycle(context: StandInContext, options: NodeLifecycleOptions): StandIn {
  const { api, caches, clock, random, log } = context;
  const { liveness, graceMillis = 50_000 } = options;
  const name = 'node-lifecycle-controller';
  const nodeQueue = createWorkQueue({ clock, random, log, name });
  const podQueue = createWorkQueue({ clock, random, log, name: 'taint-eviction-controller' });
  const nodes = caches.of(resources.nodes);
  const pods = caches.of(resources.pods);
  const nodePatches = patchesOf(api, resources.nodes);
  const podPatches = patchesOf(api, resources.pods);
  /** Silent for too long. By timers alone: the clock may be set, and a timer may come a little early by it. */
  const unreachable = new Set<string>();
  const graceTimers = new Map<string, Timer>();
  /** Since when nodes have the NoExecute taints that do not say so, by node and key. */
  const taintedSince = new Map<string, ReadonlyMap<string, string>>();

  const forgetSilence = (nodeName: string): void => {
    graceTimers.get(nodeName)?.cancel();
    graceTimers.delete(nodeName);
    unreachable.delete(nodeName);
  };
  liveness.onLiveness((nodeName, isAlive) => {
    forgetSilence(nodeName);
    if (!isAlive) {
      const timer = clock.setTimer(graceMillis, () => {
        unreachable.add(nodeName);
        nodeQueue.add(nodeName);
      });
      graceTimers.set(nodeName, timer);
    }
    nodeQueue.add(nodeName);
  });
  nodes.onChange((before, after) => {
    if (after === undefined) {
      if (before !== undefined) {
        forgetSilence(nameOf(before));
        taintedSince.delete(nameOf(before));
      }
      return;
    }
    noteTaints(after);
    nodeQueue.add(nameOf(after));
    if (before !== undefined && isSameValue(noExecute(before), noExecute(after))) return;
    for (const pod of caches.podsOnNode(nameOf(after))) podQueue.add(keyOf(pod));
  });
  pods.onChange((before, after) => {
    if (after?.spec?.nodeName !== undefined && before?.spec?.nodeName === undefined) podQueue.add(keyOf(after));
  });

  /** Told anew with each look, the time of a taint would never come: who tolerates it for a while would stay for good. */
  const noteTaints = (node: Node): void => {
    const known = taintedSince.get(nameOf(node));
    const undated = noExecute(node).filter(({ timeAdded }) => timeAdded === undefined);
    const since = undated.map(({ key }) => [key, known?.get(key) ?? timestampOf(clock.now())] as const);
    taintedSince.set(nameOf(node), new Map(since));
  };
  const datedTaints = (node: Node): Taint[] =>
    noExecute(node).map((taint) => {
      const timeAdded = taint.timeAdded ?? taintedSince.get(nameOf(node))?.get(taint.key);
      return timeAdded === undefined ? taint : { ...taint, timeAdded };
    });

  const syncNode = async (nodeName: string): Promise<void> => {
    const node = nodes.get(nodeName);
    if (node === undefined) return;
    const isUnreachable = unreachable.has(nodeName);
    if (isUnreachable && findCondition(node.status?.conditions, 'Ready')?.status !== 'Unknown') await markUnknown(node);
    const ready = isUnreachable ? 'Unknown' : findCondition(node.status?.conditions, 'Ready')?.status;
    // A new node keeps the taint it was created with until its kubelet has reported for the first time.
    if (ready === undefined) return;
    await writeTaints(node, ready);
    if (ready !== 'True') for (const pod of [...caches.podsOnNode(nodeName)]) await markNotReady(pod);
  };

  const markUnknown = async (node: Node): Promise<void> => {
    const now = timestampOf(clock.now());
    const conditions = (node.status?.conditions ?? []).map(({ type }) => ({
      type,
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime: now,
    }));
    await nodePatches.status(node, { status: { conditions } });
  };

  /** Taints follow the Ready condition. Source: pkg/controller/nodelifecycle `processTaintBaseEviction`. */
  const writeTaints = async (node: Node, ready: string): Promise<void> => {
    const current = node.spec?.taints ?? [];
    const key = ready === 'True' ? undefined : ready === 'Unknown' ? UNREACHABLE : NOT_READY;
    const others = current.filter((taint) => taint.key !== UNREACHABLE && taint.key !== NOT_READY);
    const wanted =
      key === undefined
        ? []
        : ['NoSchedule', 'NoExecute'].map((effect) => {
            const present = current.find((taint) => taint.key === key && taint.effect === effect);
            return present ?? { key, effect, timeAdded: timestampOf(clock.now()) };
          });
    const taints = [...others, ...wanted];
    const isCurrent = taints.length === current.length && taints.every((taint) => current.includes(taint));
    if (isCurrent) return;
    const body = {
      metadata: { resourceVersion: nodes.get(nameOf(node))?.metadata?.resourceVersion },
      spec: { taints },
    };
    await nodePatches.merge(node, body);
  };

  /** Services stop sending to pods nobody can vouch for. */
  const markNotReady = async (pod: Pod): Promise<void> => {
    if (!isReady(pod)) return;
    const condition = { type: 'Ready', status: 'False', lastTransitionTime: timestampOf(clock.now()) };
    const body = { metadata: { uid: uidOf(pod) }, status: { conditions: [condition] } };
    await unless(isNotFound, podPatches.status(pod, body));
  };

  const syncPod = async (key: string): Promise<HandlerResult> => {
    const pod = pods.get(key);
    const node = nodes.get(pod?.spec?.nodeName ?? '');
    if (pod === undefined || node === undefined || isTerminating(pod)) return undefined;
    const evictAt = evictionTime(pod, datedTaints(node), clock.now());
    if (evictAt === undefined) return undefined;
    if (evictAt > clock.now()) return { requeueAfterMillis: evictAt - clock.now() };
    await unless(isNotFound, evict(pod));
    return undefined;
  };

  const evict = async (pod: Pod): Promise<void> => {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: timestampOf(clock.now()),
    };
    const body = { metadata: { uid: uidOf(pod) }, status: { conditions: [condition] } };
    await podPatches.status(pod, body);
    await api.delete(resources.pods, nameOf(pod), { namespace: namespaceOf(pod), uid: uidOf(pod) });
  };

  return {
    name,
    async run(signal) {
      await Promise.all([nodeQueue.run(2, syncNode, signal), podQueue.run(4, syncPod, signal)]);
      for (const timer of graceTimers.values()) timer.cancel();
    },
  };
}

function noExecute(node: Node): Taint[] {
  return (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

/**
 * When a pod has to leave a node with these NoExecute taints; undefined: it may stay. Every taint must be tolerated, and
 * the shortest toleration decides. Source: pkg/controller/tainteviction `getMinTolerationTime`.
 */
export function evictionTime(pod: Pod, taints: readonly Taint[], nowMillis: number): number | undefined {
  let earliest: number | undefined;
  for (const taint of taints) {
    const matching = (pod.spec?.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    const isDefaulted = taint.key === UNREACHABLE || taint.key === NOT_READY;
    if (matching.length === 0 && !isDefaulted) return nowMillis;
    const seconds =
      matching.length === 0 ? [DEFAULT_TOLERATION_SECONDS] : matching.flatMap((each) => each.tolerationSeconds ?? []);
    if (seconds.length === 0) continue;
    const addedAt = timeOf(taint.timeAdded) ?? nowMillis;
    const at = addedAt + Math.max(0, Math.min(...seconds)) * 1000;
    earliest = Math.min(earliest ?? at, at);
  }
  return earliest;
}
