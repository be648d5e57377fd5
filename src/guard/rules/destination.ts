/**
 * Proof before move: the replacement has somewhere to go. Evicting towards a side that has no room is how other tools
 * loop (descheduler#1707, #1713; hazards H5, H12).
 */

import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { NodeUsage } from '../../model/cluster-view.ts';
import { findRoom, fitsUnsteered } from '../../model/find-room.ts';
import { admitsNode } from '../../model/node-fit.ts';
import { termsOf } from '../../model/node-profiles.ts';
import { isLive } from '../../model/owners.ts';
import type { NodeClass, NodeRecord, PodRecord, PodTemplate, Side, WorkloadRecord } from '../../model/records.ts';
import { type Growth, grown, replacementOf } from '../../model/replacement.ts';
import { nodesOfOthers, roomForReplacement } from '../../model/room-for-replacement.ts';
import { judgeSpread } from '../../model/spread.ts';
import type { AwaitedReplacement, GuardContext, StrandedReplacement, Subject } from '../context.ts';
import { endRule, evictRule, inWords, object, sizeEvictionRule } from '../objection.ts';
import { isWaitingCover } from '../waiting-cover.ts';

export const sideNotInBackoff = evictRule(
  'side-not-in-backoff',
  'A side that found no place for this workload a moment ago is left alone for a while, however good it looks.',
  ({ decision }, { history, now }) => {
    const failed = history.failedMove(decision.workloadUid, decision.to);
    const remaining = failed === undefined ? 0 : failed.retryAt - now;
    return remaining > 0
      ? object('SideInBackoff', { side: decision.to, remaining: inWords(remaining) }, remaining)
      : undefined;
  },
);

export const newPodsSteered = evictRule(
  'new-pods-steered',
  'Where new pods do not pass the webhook a move is left to chance, of whichever workload: one at a time finds out.',
  ({ decision, workload }, { history, now }) => {
    const missed = history.steering.missed(decision.workloadUid, workload.namespace);
    const remaining = missed === undefined ? 0 : missed.retryAt - now;
    if (missed === undefined || remaining <= 0) return undefined;
    return object('NewPodsMissAdmission', { pod: missed.pod, remaining: inWords(remaining) }, remaining);
  },
);

/** A pod that has found its node wakes nobody but its own workload. */
const AWAITED_RETRY_MILLIS: Millis = 5_000;

export const hasRoom = endRule(
  'has-room',
  'A pod is only ended when its replacement fits on the other side. The dearest question, so it comes late.',
  ({ decision, workload, pod, pods }, { view, sides, settings, awaited, stranded, now }) => {
    // Which side a pod of another size goes to is decided at admission.
    if (decision.kind === 'evict-to-resize') return undefined;
    const { to: side } = decision;
    const room = roomForReplacement(view, sides, { workload, pod, pods, side, awaited: awaitedOn(side, awaited) });
    const first = waitingFor(side, pod, pods);
    // A node that is proved for the volumes of this pod may be out of reach for those of the other.
    if (first !== undefined && (room.kind !== 'node' || first.claims.length === 0)) {
      const detail = `${first.name}, which is like it, waits for one already`;
      return object('NoRoomOnSide', { side, pod: pod.name, detail }, settings.disruptionRetryMillis);
    }
    const vain =
      room.kind === 'provisionable' && pod.nodeName !== undefined ? inVain(side, workload, stranded, now) : 0;
    if (vain > 0) {
      const detail = `an autoscaler makes such nodes, but has made none for moved pods that wait for one: ${vain}`;
      return object('NoRoomOnSide', { side, pod: pod.name, detail }, settings.disruptionRetryMillis);
    }
    const isWaiting = isWaitingCover({ decision, pod });
    if (room.kind === 'node' || (room.kind === 'provisionable' && !isWaiting)) return undefined;
    // Cover that waits itself has nothing to gain from a promise; nor from staying, once it has waited as long as it had
    // for spot. Without anybody who asks for them no spot nodes would come.
    const { unschedulableSince = now } = pod;
    const isStranded = isWaiting && unschedulableSince + settings.fallback.afterMillis <= now;
    if (isStranded && !(room.kind === 'none' && room.isVolume)) return undefined;
    const detail = room.kind === 'none' ? room.detail : 'no node that is there can take it';
    // A node that gets free tells us by an event; one that becomes free by time alone does not, so ask again.
    const isAwaited = room.kind === 'none' && room.isAwaited === true;
    const retry = isAwaited ? AWAITED_RETRY_MILLIS : settings.disruptionRetryMillis;
    return object('NoRoomOnSide', { side, pod: pod.name, detail }, retry);
  },
);

/**
 * A pod of the same revision for which the scheduler has found no node of the side: that is how the last try has ended,
 * and what comes free there is its, also where nobody has sent it to either side. Undefined for a pod without a node,
 * which loses nothing by trying as well.
 */
function waitingFor(
  side: Side,
  { uid, owner, nodeName }: PodRecord,
  pods: readonly PodRecord[],
): PodRecord | undefined {
  if (nodeName === undefined) return undefined;
  return pods.find(
    (each) =>
      each.uid !== uid &&
      each.owner?.uid === owner?.uid &&
      (each.capacity ?? side) === side &&
      each.nodeName === undefined &&
      each.unschedulableSince !== undefined &&
      isLive(each),
  );
}

/** An autoscaler needs a minute or two for a new node. */
const MADE_WITHIN_MILLIS: Millis = 120_000;
/** In one namespace it may be what its own pods ask for; what shows in two concerns everybody. */
const WITNESSES = 2;

/**
 * How many pods that were moved to the side wait there for nodes that do not come (a pool at its limit, a cloud without
 * machines); 0 where that says nothing of this workload. Each of its like would be one pod that served, and waits.
 */
function inVain(
  side: Side,
  { namespace }: Pick<WorkloadRecord, 'namespace'>,
  stranded: readonly StrandedReplacement[] = [],
  now: EpochMillis,
): number {
  const there = stranded.filter((each) => each.side === side && each.since + MADE_WITHIN_MILLIS <= now);
  const namespaces = new Set(there.map(({ workload }) => workload.namespace));
  return namespaces.has(namespace) || namespaces.size >= WITNESSES ? there.length : 0;
}

export const hasRoomToGrow = sizeEvictionRule(
  'has-room-to-grow',
  'A pod is only ended for a larger one when that has somewhere to go: its own place, or another node.',
  ({ decision, workload, pod, pods }, context) => {
    const { view, sides, settings, policy, awaited = [] } = context;
    const { cpuMillis, memoryBytes } = decision.growth;
    const isSpread = (pod.template.spread ?? workload.template.spread) !== undefined;
    // What asks for no more fits where it was, unless others have gone from where it is to be spread over.
    if (cpuMillis <= 0 && memoryBytes <= 0 && !isSpread) return undefined;
    const { template, besideTerms } = replacementOf(workload, pod, sides);
    const larger = grown(pod, template, decision.growth);
    const own = pod.nodeName === undefined ? undefined : view.node(pod.nodeName);
    const ownClass = own === undefined ? 'unknown' : sides.classOf(own);
    if (
      own !== undefined &&
      sides.isCapacity(own) &&
      leavesRoom(own, view.requestedOnNode(own.name), decision.growth, boundFor(own, ownClass, awaited)) &&
      !(isSpread && isUnevenOn(own, ownClass, larger, pod, context))
    ) {
      return undefined;
    }
    // With its own place not enough, a larger pod must fit as any new pod does: all of it, beside everything that runs.
    const others = nodesOfOthers(pods, pod);
    const { namespace } = workload;
    const request = { namespace, template: larger, besideTerms, claims: pod.claims, ...others, leaving: pod };
    // Where placement has a say, the replacement takes the slot of the pod, and with it the side.
    const allowed = (['on-demand', 'spot'] as const).filter(
      (side) => policy.state !== 'managed' || ownClass === 'unknown' || ownClass === side,
    );
    const promises: string[] = [];
    for (const side of allowed) {
      const room = findRoom(view, sides, { ...request, side, awaited: awaitedOn(side, awaited) });
      if (room.kind === 'node') return undefined;
      const doubt = room.kind === 'none' ? undefined : doubtOfPromise(context, side, { workload, pod, pods }, larger);
      if (room.kind === 'provisionable' && doubt === undefined) return undefined;
      if (doubt !== undefined) promises.push(`; an autoscaler makes ${side} nodes, but ${doubt}`);
    }
    // What placement steers to a side never runs on a node of none; a bound volume is proved for nodes of a known side
    // only.
    if (policy.state !== 'managed' && pod.claims.length === 0) {
      for (const node of view.nodes()) {
        if (sides.classOf(node) !== 'unknown' || !sides.isCapacity(node)) continue;
        if (fitsUnsteered(view, node, { ...request, awaited: awaitedOn(undefined, awaited) })) return undefined;
      }
    }
    const cause =
      cpuMillis > 0 || memoryBytes > 0
        ? 'its replacement would request more than any node has left'
        : 'its topology spread constraints allow no further pod where it is, and no other node has room';
    const detail = `${cause}${promises.join('')}`;
    const retry = awaited.length > 0 ? AWAITED_RETRY_MILLIS : settings.disruptionRetryMillis;
    return object('NoRoomOnSide', { side: 'other', pod: pod.name, detail }, retry);
  },
);

/** Whether topology spread keeps the replacement from where its pod is. */
function isUnevenOn(
  node: NodeRecord,
  nodeClass: NodeClass,
  template: PodTemplate,
  leaving: PodRecord,
  { view, sides, policy }: GuardContext,
): boolean {
  const side = policy.state === 'managed' && nodeClass !== 'unknown' ? nodeClass : undefined;
  const tolerations = side === undefined ? [] : sides.tolerationsOf(side);
  return judgeSpread(view, {
    namespace: leaving.namespace,
    template,
    tolerations: [...template.tolerations, ...tolerations],
    pinTerms: side === undefined ? undefined : termsOf(sides.pinOf(side)),
    leaving,
  }).isUneven(node);
}

/** What may come to the node first. */
function boundFor(
  node: NodeRecord,
  nodeClass: NodeClass,
  awaited: readonly AwaitedReplacement[],
): readonly AwaitedReplacement[] {
  return awaited.filter(({ side = nodeClass, template }) => side === nodeClass && admitsNode(template, node));
}

/** What may take room of the side first. Workloads that see the same room at once would all have their pods go for it. */
function awaitedOn(side: Side | undefined, awaited: readonly AwaitedReplacement[] = []): readonly PodTemplate[] {
  return awaited.flatMap((each) => (each.side === undefined || each.side === side ? [each.template] : []));
}

/**
 * Why an autoscaler's promise is not enough to end a pod that serves: a group of nodes at its maximum promises as much
 * as any other. What is seen of it counts, not how it is configured.
 */
function doubtOfPromise(
  { view, sides, spot, waitingCovers = 0, stranded, now }: GuardContext,
  side: Side,
  { workload, pod, pods }: Pick<Subject, 'workload' | 'pod' | 'pods'>,
  { requests }: PodTemplate,
): string | undefined {
  const isLargeEnough = ({ allocatable }: NodeRecord): boolean =>
    requests.cpuMillis <= allocatable.cpuMillis && requests.memoryBytes <= allocatable.memoryBytes;
  const known = [...view.nodes()].filter((node) => sides.classOf(node) === side);
  if (!known.some(isLargeEnough)) return 'none that is there would hold the pod even alone';
  if (side === 'spot' && spot !== undefined && spot.stateOf(workload.uid, now).kind !== 'open')
    return 'spot had no room a moment ago';
  const isWaitedFor = (side === 'on-demand' && waitingCovers > 0) || inVain(side, workload, stranded, now) > 0;
  // One that serves nobody where it is loses nothing by waiting as well.
  return isWaitedFor || (pod.ready && waitingFor(side, pod, pods) !== undefined)
    ? 'pods wait for one already'
    : undefined;
}

/** The pod itself is among what is used, and so may those be in whose place others come; their places come free. */
function leavesRoom(
  { name, allocatable }: NodeRecord,
  used: NodeUsage,
  growth: Growth,
  awaited: readonly AwaitedReplacement[],
): boolean {
  const keys = ['cpuMillis', 'memoryBytes'] as const;
  const taken = (key: keyof Growth): number =>
    awaited.reduce((sum, { template, held }) => {
      const before = held?.node === name ? held.requests[key] : 0;
      return sum + Math.max(0, template.requests[key] - before);
    }, 0);
  return used.isPartial !== true && keys.every((key) => used[key] + growth[key] + taken(key) <= allocatable[key]);
}
