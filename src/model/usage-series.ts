/** Measured usage on its way from a source into profiles. */
import type { Bytes, EpochMillis, Millicores } from '../lib/units.ts';

export interface UsagePoint<Value> {
  readonly at: EpochMillis;
  readonly value: Value;
}

/** Usage of one container of one pod. Points are in order of time; either list may be empty: partial data is data. */
export interface UsageSeries {
  readonly pod: string;
  readonly container: string;
  /** Whole millicores. */
  readonly cpu: readonly UsagePoint<Millicores>[];
  /** Whole bytes. */
  readonly memory: readonly UsagePoint<Bytes>[];
}

/** An instant for each resource: CPU and memory are read by questions of their own, and either may fail alone. */
export interface ResourceInstants {
  readonly cpu?: EpochMillis;
  readonly memory?: EpochMillis;
}
