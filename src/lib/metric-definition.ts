/** The shape of a row in the table of metrics. */

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence with the unit. */
  readonly help: string;
  /** Never the name of a pod in the operator's tables: there are too many, and they come and go. */
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in the unit of the metric. */
  readonly buckets?: readonly number[];
  /** Series that exist from the start, at zero, so that rates and alerts see the first increase. */
  readonly initial?: readonly Readonly<Record<string, string>>[];
}

/** For answers within a request: 0.5 ms to 10 s. */
export const requestBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** For work in the background: 1 ms to a minute. */
export const workBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60] as const;

/** One series a value of a single label. */
export function each(label: string, values: readonly string[]): Readonly<Record<string, string>>[] {
  return values.map((value) => ({ [label]: value }));
}
