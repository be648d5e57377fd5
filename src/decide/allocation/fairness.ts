/** Figures of how fair a division is. */

export interface Fairness {
  /** Jain's index of satisfaction: 1 where all are equally satisfied, 1/n where one has everything. */
  readonly jain: number;
  /** sum w ln(x - d) over the pods that could have a surplus; -Infinity where one of them has none. */
  readonly logNash: number;
  /** Mean of min(1, share / want). */
  readonly satisfaction: number;
}

/** One pod's part, in millicores. */
export interface Served {
  readonly share: number;
  readonly want: number;
  readonly disagreement: number;
  readonly weight: number;
}

/** (sum s)^2 / (n sum s^2); 1 for nobody, and where all have nothing. */
export function jainIndex(values: readonly number[]): number {
  const sum = values.reduce((all, value) => all + value, 0);
  const squares = values.reduce((all, value) => all + value * value, 0);
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}

/** 0..1; 1 for a pod that wants nothing. */
export function satisfactionOf(share: number, want: number): number {
  return want <= 0 ? 1 : Math.min(1, share / want);
}

/** What the bargain maximises; comparable only between divisions of the same node among the same pods. */
export function logNashProduct(served: readonly Served[]): number {
  return served
    .filter(({ want, disagreement, weight }) => weight > 0 && want > disagreement)
    .reduce((sum, { share, disagreement, weight }) => sum + weight * Math.log(Math.max(0, share - disagreement)), 0);
}

export function fairnessOf(served: readonly Served[]): Fairness {
  const satisfied = served.map(({ share, want }) => satisfactionOf(share, want));
  const total = satisfied.reduce((sum, value) => sum + value, 0);
  return {
    jain: jainIndex(satisfied),
    logNash: logNashProduct(served),
    satisfaction: satisfied.length === 0 ? 1 : total / satisfied.length,
  };
}
