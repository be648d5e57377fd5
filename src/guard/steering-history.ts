/**
 * Whether replacements of moved pods come through admission. Where they do not, each lands wherever the scheduler likes,
 * and the next move of whichever workload would be for nothing. No I/O; fed by whoever acts; lost with the process.
 */
import type { EpochMillis, Millis } from '../lib/units.ts';

/** The pause after the first failure, and its bound; both above 0. */
export interface DoublingPause {
  readonly initial: Millis;
  readonly max: Millis;
}

/** @param failures in a row, at least 1. */
export function pauseAfter(failures: number, { initial, max }: DoublingPause): Millis {
  return Math.min(max, initial * 2 ** (failures - 1));
}

export interface MissedSteering {
  /** The replacement that did not pass the webhook. */
  readonly pod: string;
  /** When one move may find out whether the webhook is asked again. */
  readonly retryAt: EpochMillis;
}

/** What guards read. */
export interface SteeringHistory {
  /**
   * Undefined while new pods are steered, as far as is known. A workload that missed, and one of a namespace that did,
   * try a little later than others: what is left out on purpose would prove nothing each time.
   */
  missed(workloadUid: string, namespace: string): MissedSteering | undefined;
}

/** A replacement as it was born. */
export interface BornPod {
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: EpochMillis;
}

export interface SteeringLog extends SteeringHistory {
  /** Call before the eviction: where moves are held this one is the try, and no other begins until its pause is over. */
  recordMove(at: EpochMillis): void;
  /** The move begun then was refused: another may be the try. */
  cancelMove(at: EpochMillis): void;
  /**
   * The replacement did not pass the webhook. It holds nobody where it tells nothing new: its move began before the hold
   * did, a pod was steered since, or nothing of this workload or namespace has been steered since its last miss, while
   * others were: such pods are left out by selectors.
   */
  recordMissed(workloadUid: string, pod: BornPod, movedAt: EpochMillis, at: EpochMillis): void;
  /**
   * A pod passed the webhook: moves go on.
   * @returns whether they were held.
   */
  recordSteered(pod: Omit<BornPod, 'name'>, workloadUid?: string): boolean;
  forget(workloadUid: string): void;
  /** A new term as leader: what passed meanwhile was not seen. */
  forgetAll(): void;
}

interface Hold extends MissedSteering {
  readonly failures: number;
  readonly since: EpochMillis;
  /** Of the pod that missed. */
  readonly bornAt: EpochMillis;
  /** When the move that tries began. */
  readonly triedAt?: EpochMillis;
}

/** Others are woken at their time; this is enough for them to be looked at. */
const OTHERS_FIRST_MILLIS: Millis = 15_000;

export function createSteeringLog(backoff: DoublingPause): SteeringLog {
  let hold: Hold | undefined;
  let lastSteered = Number.NEGATIVE_INFINITY;
  /** Workloads that missed, with their namespaces, until a pod of theirs is steered. */
  const workloads = new Map<string, string>();
  /** The same of namespaces, which also go with the last workload of theirs that missed. */
  const namespaces = new Set<string>();
  return {
    missed(workloadUid, namespace) {
      if (hold === undefined) return undefined;
      const missed = Number(workloads.has(workloadUid)) + Number(namespaces.has(namespace));
      return { pod: hold.pod, retryAt: hold.retryAt + missed * OTHERS_FIRST_MILLIS };
    },
    recordMove(at) {
      if (hold !== undefined) hold = { ...hold, triedAt: at, retryAt: at + pauseAfter(hold.failures, backoff) };
    },
    cancelMove(at) {
      if (hold?.triedAt === at) hold = { ...hold, retryAt: at };
    },
    recordMissed(workloadUid, { namespace, name, createdAt }, movedAt, at) {
      const isLeftOut = workloads.has(workloadUid) || namespaces.has(namespace);
      workloads.set(workloadUid, namespace);
      namespaces.add(namespace);
      if (createdAt <= lastSteered || (hold === undefined ? isLeftOut : movedAt < hold.since)) return;
      const failures = (hold?.failures ?? 0) + 1;
      hold = { pod: name, failures, since: at, bornAt: createdAt, retryAt: at + pauseAfter(failures, backoff) };
    },
    recordSteered({ namespace, createdAt }, workloadUid) {
      lastSteered = Math.max(lastSteered, createdAt);
      if (workloadUid !== undefined) workloads.delete(workloadUid);
      namespaces.delete(namespace);
      if (hold === undefined || createdAt < hold.bornAt) return false;
      hold = undefined;
      return true;
    },
    forget(workloadUid) {
      const namespace = workloads.get(workloadUid);
      workloads.delete(workloadUid);
      if (namespace !== undefined && ![...workloads.values()].includes(namespace)) namespaces.delete(namespace);
    },
    forgetAll() {
      hold = undefined;
      workloads.clear();
      namespaces.clear();
    },
  };
}
