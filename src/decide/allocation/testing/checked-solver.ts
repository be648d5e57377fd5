/** The solver, whose every answer is what bisection finds. */
import { expect } from 'vitest';
import { solve as solveProblem } from '../solve.ts';
import { oracle } from './oracle.ts';

export interface CheckedSolver {
  readonly solve: typeof solveProblem;
  /** Answers that were compared: the oracle knows no tiers, quanta and disagreement points of one's own. */
  readonly compared: () => number;
}

export function checkedSolver(): CheckedSolver {
  let compared = 0;
  return {
    compared: () => compared,
    solve(problem) {
      const solution = solveProblem(problem);
      const { bids, capacity, disagreement = 'claim', hardFloor: floor = 10, groups = [], overload, quantum } = problem;
      if (overload === 'tiers' || quantum === 10 || disagreement === 'own') return solution;
      const wanted = oracle(bids, Math.max(0, capacity), { disagreement, floor, groups });
      const apart = solution.exact.map((x, index) => Math.abs(x - (wanted[index] ?? Number.NaN)));
      if (!apart.every((distance) => distance <= 1e-3)) expect(solution.exact).toEqual(wanted);
      compared++;
      return solution;
    },
  };
}
