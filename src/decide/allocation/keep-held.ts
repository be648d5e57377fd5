/**
 * What cannot be lowered is not there to share. Whoever is promised some of it all the same waits for it for ever, and
 * the room of the node goes to whoever asks first. So the others divide what is left.
 */
import type { Millicores } from '../../lib/units.ts';
import type { CpuSize } from './allocation-pod.ts';
import { kernelFloor, type Problem, type Solution } from './problem.ts';
import { solve } from './solve.ts';

export interface Held {
  /** It is not lowered below this, whatever the bargain says. */
  readonly kept: Millicores;
  readonly current: Pick<CpuSize, 'request'>;
}

/** The problem that was solved in the end. */
export interface Solved {
  readonly problem: Problem;
  readonly solution: Solution;
}

/**
 * Solves the problem; where a pod would get less than it keeps, with that as its floor. Its claim is to be as high. The
 * capacity then is at least what is there in any case, so that the others are not lowered for it: what is kept, and
 * what the others request, as far as they would get it.
 * @param held in the order of the bids.
 */
export function solveHeld(problem: Problem, held: readonly Held[]): Solved {
  const { quantum = 1, bids } = problem;
  const plain = solve(problem);
  const { shares } = plain;
  const keptBy = (index: number): Millicores => quantum * Math.ceil((held[index]?.kept ?? 0) / quantum);
  if (shares.every((share, index) => share >= keptBy(index))) return { problem, solution: plain };
  const there = shares.reduce((sum, share, index) => {
    const request = Math.max(kernelFloor, held[index]?.current.request ?? 0);
    return sum + Math.max(keptBy(index), Math.min(share, request));
  }, 0);
  const kept = {
    ...problem,
    capacity: Math.max(problem.capacity, there),
    bids: bids.map((bid, index) => ({ ...bid, floor: keptBy(index) })),
  };
  return { problem: kept, solution: solve(kept) };
}
