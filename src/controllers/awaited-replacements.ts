/**
 * Pods to come in the place of evicted ones. Until they have a node, the room they will take looks free to everybody
 * else who wants to move; and where they are not made at all, nobody else should.
 */
import type { EvictDecision, FallbackDecision, PodRef } from '../decide/decision.ts';
import type { EvictToResizeDecision } from '../decide/size-decision.ts';
import type { AwaitedReplacement, MissingReplacement } from '../guard/context.ts';
import { grown } from '../guard/rules/destination.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { ClusterView, WorkloadRef } from '../model/cluster-view.ts';
import { isLive, podsOf } from '../model/owners.ts';
import type { PodRecord } from '../model/records.ts';
import { workloadRef } from '../model/refs.ts';
import { replacementOf } from '../model/replacement.ts';
import type { Sides } from '../model/sides.ts';

export interface AwaitedReplacements {
  /** Call before the pod is asked to go: others decide while the answer is waited for. */
  expect(decision: EvictDecision | FallbackDecision | EvictToResizeDecision, sides: Sides, now: EpochMillis): void;
  /** The pod was not asked to go after all. */
  withdraw(podUid: string): void;
  /** Those that may still take room. */
  awaited(now: EpochMillis): readonly AwaitedReplacement[];
  /** Those that have not been made although the evicted pod is gone. */
  missing(now: EpochMillis): readonly MissingReplacement[];
}

interface Expected extends AwaitedReplacement {
  readonly workloadUid: string;
  readonly workload: WorkloadRef;
  readonly evicted: PodRef;
  /** Uids of the pods of the workload when the eviction was asked for. */
  readonly known: ReadonlySet<string>;
  /** It takes no room after this. */
  readonly until: EpochMillis;
  /** The evicted pod is gone since then, and nothing has come. */
  readonly missingSince: EpochMillis | undefined;
}

/** After the grace period of the evicted pod: one that is not there by then takes no room soon. */
const COMES_WITHIN_MILLIS: Millis = 60_000;
/** One that is not made by then never will be, or nobody can tell: others may find out anew. */
const FORGET_MILLIS: Millis = 3_600_000;

export function createAwaitedReplacements(view: ClusterView): AwaitedReplacements {
  /** By the uid of the evicted pod. */
  const expected = new Map<string, Expected>();

  /** Undefined once nothing is to be waited for. */
  const lookAt = (each: Expected, now: EpochMillis): Expected | undefined => {
    const { workloadUid, evicted, known, until, missingSince = now } = each;
    const workload = view.workloadByUid(workloadUid);
    if (workload === undefined || workload.deleting || until + FORGET_MILLIS <= now) return undefined;
    const live = podsOf(view, workload).filter(isLive);
    const made = live.filter(({ uid }) => !known.has(uid));
    // It has its node, or the scheduler found none: then it takes nothing of what is free.
    if (made.some((pod) => pod.nodeName !== undefined || pod.unschedulableSince !== undefined)) return undefined;
    const leaving = view.pod(evicted.namespace, evicted.name);
    const isGone = leaving?.uid !== evicted.uid;
    const held = isGone ? undefined : placeOf(leaving);
    if (made.length > 0 || !isGone) return { ...each, held, missingSince: undefined };
    // Scaled down meanwhile, or made before anybody looked.
    return live.length >= workload.replicas ? undefined : { ...each, held, missingSince };
  };
  const look = (now: EpochMillis): readonly Expected[] => {
    for (const [podUid, each] of expected) {
      const seen = lookAt(each, now);
      if (seen === undefined) expected.delete(podUid);
      else expected.set(podUid, seen);
    }
    return [...expected.values()];
  };

  return {
    expect(decision, sides, now) {
      const workload = view.workloadByUid(decision.workloadUid);
      const pods = workload === undefined ? [] : podsOf(view, workload);
      const pod = pods.find(({ uid }) => uid === decision.pod.uid);
      if (workload === undefined || pod === undefined) return;
      const { template } = replacementOf(workload, pod, sides);
      expected.set(pod.uid, {
        workloadUid: workload.uid,
        workload: workloadRef(workload),
        evicted: decision.pod,
        known: new Set(pods.map(({ uid }) => uid)),
        side: decision.kind === 'evict-to-resize' ? sideOf(view, sides, pod) : decision.to,
        template: decision.kind === 'evict-to-resize' ? grown(pod, template, decision.growth) : template,
        until: now + template.terminationGraceSeconds * 1000 + COMES_WITHIN_MILLIS,
        missingSince: undefined,
      });
    },
    withdraw: (podUid) => void expected.delete(podUid),
    awaited: (now) => look(now).filter(({ until }) => now < until),
    missing: (now) =>
      look(now).flatMap(({ workload, evicted, missingSince: since }) =>
        since === undefined ? [] : [{ workload, pod: evicted.name, since }],
      ),
  };
}

function placeOf({ nodeName: node, template: { requests } }: PodRecord): AwaitedReplacement['held'] {
  return node === undefined ? undefined : { node, requests };
}

/** Of a pod that was steered: its replacement takes its slot, and with that its side. */
function sideOf(view: ClusterView, sides: Sides, { capacity, nodeName = '' }: PodRecord): AwaitedReplacement['side'] {
  const node = capacity === undefined ? undefined : view.node(nodeName);
  const nodeClass = node === undefined ? 'unknown' : sides.classOf(node);
  return nodeClass === 'unknown' ? undefined : nodeClass;
}
