/**
 * Claims: reservations of slots between the admission of a pod and the moment the pod is seen. They make concurrent
 * admissions exact, because each sees what the ones before it were given, whatever the view still lacks.
 *
 * Everything here is synchronous: a decision that reads the ledger and writes its claim in one call is atomic, as
 * nothing else runs in the process meanwhile.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { PodRecord, Side } from '../../model/records.ts';
import type { AdmissionDecision } from './admission-decision.ts';

/**
 * One slot kept for one pod. Kept in memory: after a restart the stamps on pods tell all but the last second (hazard
 * H14).
 */
export interface Claim {
  /** Uid of the admission request, stamped on the pod as `spotalis.io/admission-id`. */
  readonly uid: string;
  readonly workloadUid: string;
  readonly revision: string;
  readonly slot: number;
  readonly side: Side;
  /** On on-demand for a slot of spot; default false. */
  readonly cover?: boolean;
  readonly at: EpochMillis;
}

export interface ClaimLedger {
  /** The answer given to this request before, while it is remembered. */
  recall(uid: string, now: EpochMillis): AdmissionDecision | undefined;
  /** Reserves, and remembers the answer for repeated requests; without one only the reservation is kept. */
  claim(claim: Claim, answer?: AdmissionDecision): void;
  /**
   * The claims of a workload that still stand for a pod nobody has seen, oldest first. Claims whose pod is among `pods`
   * (in whatever phase) are retired for good, expired ones dropped.
   */
  outstanding(workloadUid: string, pods: readonly PodRecord[], now: EpochMillis): readonly Claim[];
  /**
   * A pod with this admission id exists: its claim is retired. For pods that live too briefly to be in any view decided
   * on.
   */
  podSeen(admissionId: string): void;
  /** Gives a claim up before its time: the pod is known not to come. */
  release(uid: string): void;
  forgetWorkload(workloadUid: string): void;
  /** Drops what has expired. */
  sweep(now: EpochMillis): void;
  /** Pods of all workloads that are sent to the side and not seen yet. */
  unseenOn(side: Side, now: EpochMillis): number;
  /** Claims standing, expired ones not yet swept included. */
  size(): number;
}

/** Beyond this many remembered answers the oldest are forgotten; repeats come within seconds. */
const MAX_ANSWERS = 10_000;
/** Of pods that cannot be followed, claims wait no longer than this: each retry of what is denied makes another one. */
const MOST_UNSEEN_MILLIS: Millis = 1_800_000;
/**
 * A patch repeats what the pod says of node affinity, which may be a megabyte, of pods that need not even be let in. A
 * repeated request for such a one is decided anew.
 */
const LONGEST_PATCH = 16 * 1024;

export interface ClaimLedgerOptions {
  /**
   * How long a claim stands for a pod that does not appear (denied by a quota, say); above 0. Read each time, as the
   * configuration may change.
   */
  readonly ttlMillis: Millis;
  /**
   * When pods were last not followed: until then a pod may have come that nobody has seen. Left out, they always are.
   */
  readonly unseenUntil?: () => EpochMillis;
}

export function createClaimLedger(options: ClaimLedgerOptions): ClaimLedger {
  if (!(options.ttlMillis > 0)) throw new RangeError(`ttlMillis must be above 0, got ${options.ttlMillis}`);
  /** What is over at this moment. */
  const expiry = (now: EpochMillis): ((claim: Claim) => boolean) => {
    const unseenUntil = options.unseenUntil?.() ?? Number.NEGATIVE_INFINITY;
    return ({ at }) => Math.max(at, Math.min(unseenUntil, at + MOST_UNSEEN_MILLIS)) + options.ttlMillis <= now;
  };
  const byUid = new Map<string, Claim>();
  const byWorkload = new Map<string, Map<string, Claim>>();
  const answers = new Map<string, { readonly answer: AdmissionDecision; readonly until: EpochMillis }>();

  const drop = (uid: string): void => {
    const claim = byUid.get(uid);
    if (claim === undefined) return;
    byUid.delete(uid);
    const siblings = byWorkload.get(claim.workloadUid);
    siblings?.delete(uid);
    if (siblings?.size === 0) byWorkload.delete(claim.workloadUid);
  };

  return {
    recall(uid, now) {
      const remembered = answers.get(uid);
      return remembered !== undefined && remembered.until > now ? remembered.answer : undefined;
    },
    claim(claim, answer) {
      drop(claim.uid);
      byUid.set(claim.uid, claim);
      const siblings = byWorkload.get(claim.workloadUid) ?? new Map<string, Claim>();
      byWorkload.set(claim.workloadUid, siblings.set(claim.uid, claim));
      if (answer === undefined || isLong(answer)) return;
      answers.delete(claim.uid);
      answers.set(claim.uid, { answer, until: claim.at + options.ttlMillis });
      const [oldest] = answers.keys();
      if (answers.size > MAX_ANSWERS && oldest !== undefined) answers.delete(oldest);
    },
    outstanding(workloadUid, pods, now) {
      const siblings = byWorkload.get(workloadUid);
      if (siblings === undefined) return [];
      for (const { admissionId } of pods) if (admissionId !== undefined && siblings.has(admissionId)) drop(admissionId);
      const isExpired = expiry(now);
      for (const claim of [...siblings.values()]) if (isExpired(claim)) drop(claim.uid);
      return [...siblings.values()];
    },
    podSeen: drop,
    release(uid) {
      drop(uid);
      answers.delete(uid);
    },
    forgetWorkload(workloadUid) {
      for (const uid of [...(byWorkload.get(workloadUid)?.keys() ?? [])]) drop(uid);
    },
    sweep(now) {
      const isExpired = expiry(now);
      for (const claim of [...byUid.values()]) if (isExpired(claim)) drop(claim.uid);
      for (const [uid, { until }] of answers) if (until <= now) answers.delete(uid);
    },
    unseenOn(side, now) {
      const isExpired = expiry(now);
      let count = 0;
      for (const claim of byUid.values()) if (claim.side === side && !isExpired(claim)) count++;
      return count;
    },
    size: () => byUid.size,
  };
}

function isLong(answer: AdmissionDecision): boolean {
  return answer.kind === 'steered' && JSON.stringify(answer.patch).length > LONGEST_PATCH;
}
