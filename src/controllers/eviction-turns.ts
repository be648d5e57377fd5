/**
 * Turns: when more workloads want to move a pod than the cluster-wide budget allows, the one that waited longest goes
 * first.
 */
import { type Candidate, orderCandidates } from '../guard/budget.ts';
import type { DisruptionHistory } from '../guard/history.ts';

export interface EvictionTurns {
  /**
   * Whether it is the candidate's turn. If not, it waits. If so, it no longer does, and is expected to use the place.
   * @param free places of the cluster-wide budget that nobody has; negative where a lowered limit is exceeded.
   */
  take(candidate: Candidate, free: number): boolean;
  /** It has to wait: no place is free. */
  wait(candidate: Candidate): void;
  /** It wants nothing any more. */
  leave(key: string): void;
  /** It only waits for a place: when it was last looked at, nothing else kept it from going. */
  isWaiting(key: string): boolean;
  /** Keys of those whose turn it would be, at most `free` of them; they go on waiting until they take it. */
  next(free: number): readonly string[];
}

/** @param history by which turns are ordered: see `orderCandidates` (hazard H32). */
export function createEvictionTurns(history: DisruptionHistory): EvictionTurns {
  const waiting = new Map<string, Candidate>();
  const first = (candidates: Iterable<Candidate>, count: number): readonly Candidate[] =>
    orderCandidates([...candidates], history).slice(0, Math.max(0, count));
  return {
    take(candidate, free) {
      waiting.set(candidate.key, candidate);
      if (!first(waiting.values(), free).includes(candidate)) return false;
      waiting.delete(candidate.key);
      return true;
    },
    wait(candidate) {
      waiting.set(candidate.key, candidate);
    },
    leave(key) {
      waiting.delete(key);
    },
    isWaiting: (key) => waiting.has(key),
    next: (free) => first(waiting.values(), free).map(({ key }) => key),
  };
}
