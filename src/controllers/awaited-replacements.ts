/**
 * Pods to come in the place of evicted ones. Until they have a node, the room they will take looks free to everybody
 * else who wants to move; and where they are not made at all, or wait for nodes that do not come, nobody else should.
 */
import type { EvictDecision, FallbackDecision, PodRef } from '../decide/decision.ts';
import { isOrdinary } from '../decide/placement/notice-stranded.ts';
import type { EvictToResizeDecision } from '../decide/size-decision.ts';
import type { AwaitedReplacement, MissingReplacement, StrandedReplacement } from '../guard/context.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { ClusterView, WorkloadRef } from '../model/cluster-view.ts';
import { isLive, podsOf } from '../model/owners.ts';
import type { PodRecord, WorkloadRecord } from '../model/records.ts';
import { workloadRef } from '../model/refs.ts';
import { grown, replacementOf } from '../model/replacement.ts';
import type { Sides } from '../model/sides.ts';
import { countedGrace } from './evictions-in-flight.ts';

export interface AwaitedReplacements {
  /** Call before the pod is asked to go: others decide while the answer is waited for. */
  expect(decision: EvictDecision | FallbackDecision | EvictToResizeDecision, sides: Sides, now: EpochMillis): void;
  /** The pod was not asked to go after all. */
  withdraw(podUid: string): void;
  /**
   * Of pods that are ending and are not replaced yet: the last leader may have asked for that. Where their replacements
   * are sent is not known.
   */
  adopt(workloadUid: string, sides: Sides, now: EpochMillis): void;
  /** What is known of them now. Since when one is missing is known by who looks: ask for each decision. */
  look(now: EpochMillis): Replacements;
}

export interface Replacements {
  /** Those that may still take room. */
  readonly awaited: readonly AwaitedReplacement[];
  /** Those that have not been made although the evicted pod is gone. */
  readonly missing: readonly MissingReplacement[];
  /** Those for which the scheduler found no node, as far as that says something of on-demand. */
  readonly stranded: readonly StrandedReplacement[];
}

interface Expected extends AwaitedReplacement {
  readonly workloadUid: string;
  readonly workload: WorkloadRef;
  readonly evicted: PodRef;
  /** Uids of the pods of the workload when the eviction was asked for. */
  readonly known: ReadonlySet<string>;
  /** It asks for nothing but on-demand: where it finds no node, others like it would find none. */
  readonly isWitness: boolean;
  /** It takes no room after this. */
  readonly until: EpochMillis;
  /** The evicted pod is gone since then, and nothing has come. */
  readonly missingSince: EpochMillis | undefined;
  /** It is there, and the scheduler has found no node for it since then. */
  readonly strandedSince: EpochMillis | undefined;
}

/** After the grace period of the evicted pod, as far as it counts: one that is not there by then takes no room soon. */
const COMES_WITHIN_MILLIS: Millis = 60_000;
/** One that is not made by then never will be, or nobody can tell: others may find out anew. */
const FORGET_MILLIS: Millis = 3_600_000;

export function createAwaitedReplacements(view: ClusterView): AwaitedReplacements {
  /** By the uid of the evicted pod. */
  const expected = new Map<string, Expected>();

  const add = (
    workload: WorkloadRecord,
    pods: readonly PodRecord[],
    { namespace, name, uid }: PodRecord,
    { endsAt, ...replacement }: Pick<Expected, 'side' | 'template' | 'isWitness'> & { readonly endsAt: EpochMillis },
  ): void => {
    expected.set(uid, {
      ...replacement,
      workloadUid: workload.uid,
      workload: workloadRef(workload),
      evicted: { namespace, name, uid },
      known: new Set(pods.map((pod) => pod.uid)),
      until: endsAt + COMES_WITHIN_MILLIS,
      missingSince: undefined,
      strandedSince: undefined,
    });
  };
  /** Undefined once nothing is to be waited for. */
  const lookAt = (each: Expected, now: EpochMillis): Expected | undefined => {
    const { workloadUid, evicted, known, until, missingSince = now } = each;
    const workload = view.workloadByUid(workloadUid);
    if (workload === undefined || workload.deleting || until + FORGET_MILLIS <= now) return undefined;
    const live = podsOf(view, workload).filter(isLive);
    const made = live.filter(({ uid }) => !known.has(uid));
    if (made.some((pod) => pod.nodeName !== undefined)) return undefined;
    const since = made.flatMap((pod) => pod.unschedulableSince ?? []);
    if (since.length > 0) {
      return each.isWitness ? { ...each, missingSince: undefined, strandedSince: Math.min(...since) } : undefined;
    }
    const leaving = view.pod(evicted.namespace, evicted.name);
    const isGone = leaving?.uid !== evicted.uid;
    const held = isGone ? undefined : placeOf(leaving);
    const waits = { ...each, held, missingSince: undefined, strandedSince: undefined };
    if (made.length > 0 || !isGone) return waits;
    // Scaled down meanwhile, or made before anybody looked.
    return live.length >= workload.replicas ? undefined : { ...waits, missingSince };
  };
  return {
    expect(decision, sides, now) {
      const workload = view.workloadByUid(decision.workloadUid);
      const pods = workload === undefined ? [] : podsOf(view, workload);
      const pod = pods.find(({ uid }) => uid === decision.pod.uid);
      if (workload === undefined || pod === undefined) return;
      const replacement = replacementOf(workload, pod, sides);
      const { template } = replacement;
      const isWitness = decision.kind === 'evict' && decision.to === 'on-demand' && isOrdinary(replacement, pod);
      add(workload, pods, pod, {
        side: decision.kind === 'evict-to-resize' ? sideOf(view, sides, pod) : decision.to,
        template: decision.kind === 'evict-to-resize' ? grown(pod, template, decision.growth) : template,
        isWitness,
        endsAt: now + countedGrace(template.terminationGraceSeconds * 1000),
      });
    },
    withdraw: (podUid) => void expected.delete(podUid),
    adopt(workloadUid, sides, now) {
      const workload = view.workloadByUid(workloadUid);
      if (workload === undefined) return;
      const pods = podsOf(view, workload);
      const absent = Math.max(0, workload.replicas - pods.filter(isLive).length);
      for (const pod of pods.filter(({ deletingAt }) => deletingAt !== undefined).slice(0, absent)) {
        if (expected.has(pod.uid)) continue;
        const { template } = replacementOf(workload, pod, sides);
        const endsAt = now + countedGrace(Math.max(0, (pod.deletingAt ?? now) - now));
        add(workload, pods, pod, { side: undefined, template, isWitness: false, endsAt });
      }
    },
    look(now) {
      for (const [podUid, each] of expected) {
        const seen = lookAt(each, now);
        if (seen === undefined) expected.delete(podUid);
        else expected.set(podUid, seen);
      }
      const all = [...expected.values()];
      return {
        // One that the scheduler found no node for takes nothing of what is free.
        awaited: all.filter(({ until, strandedSince }) => now < until && strandedSince === undefined),
        missing: all.flatMap(({ workload, evicted, missingSince: since }) =>
          since === undefined ? [] : [{ workload, pod: evicted.name, since }],
        ),
        stranded: all.flatMap(({ workload, side, strandedSince: since }) =>
          since === undefined || side === undefined ? [] : [{ workload, side, since }],
        ),
      };
    },
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
