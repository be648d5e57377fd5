/**
 * Machines a scenario can name instead of describing: size, on-demand price, what spot saves, and how often spot is taken.
 * Linux in us-east-1. Prices: the on-demand list of Karpenter's generated pricing of 2026-07-20. Savings and interruption
 * buckets: AWS Spot Advisor of 2025-07-28. The dates differ, as the sources do.
 */
import type { Bytes, Millicores, Percent } from '../../lib/units.ts';

export interface InstanceType {
  readonly cpuMillis: Millicores;
  readonly memoryBytes: Bytes;
  /** US dollars. */
  readonly onDemandPerHour: number;
  readonly spotSaving: Percent;
  /** Chance that the cloud takes a node within a month, as the advisor puts it. */
  readonly interruptions: (typeof advisorBuckets)[number];
}

/** The Spot Advisor's buckets 0 to 4. Of 14,962 pairs of region and type: 21.6, 19.3, 13.5, 12.5 and 33.0 percent. */
export const advisorBuckets = ['<5%/month', '5-10%/month', '10-15%/month', '15-20%/month', '>20%/month'] as const;

const GIB: Bytes = 1024 ** 3;

const machine = (
  cores: number,
  gib: number,
  onDemandPerHour: number,
  spotSaving: Percent,
  bucket: 0 | 1 | 2 | 3 | 4,
): InstanceType => ({
  cpuMillis: cores * 1000,
  memoryBytes: gib * GIB,
  onDemandPerHour,
  spotSaving,
  interruptions: advisorBuckets[bucket],
});

export const instanceTypes: ReadonlyMap<string, InstanceType> = new Map([
  ['t3.large', machine(2, 8, 0.0832, 62, 1)],
  ['m5.large', machine(2, 8, 0.096, 66, 3)],
  ['m5.xlarge', machine(4, 16, 0.192, 66, 4)],
  ['m6i.xlarge', machine(4, 16, 0.192, 55, 1)],
  ['m6a.xlarge', machine(4, 16, 0.1728, 57, 4)],
  ['m7g.xlarge', machine(4, 16, 0.1632, 62, 1)],
  ['m7i.xlarge', machine(4, 16, 0.2016, 53, 3)],
  ['c6i.xlarge', machine(4, 8, 0.17, 60, 3)],
  ['c7g.xlarge', machine(4, 8, 0.145, 62, 0)],
  ['r6i.xlarge', machine(4, 32, 0.252, 58, 4)],
]);
