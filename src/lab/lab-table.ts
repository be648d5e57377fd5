/** The results of an experiment as a table: medians over the seeds, with their range. */
import type { Millis } from '../lib/units.ts';
import type { RunFigures } from './experiment.ts';
import type { PodFigures } from './pod-figures.ts';

/** Of one figure over the seeds. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** One arm under one load, over all seeds. */
export interface LabRow {
  readonly load: string;
  readonly arm: string;
  /** Seeds that were run; a figure is the median of as many. */
  readonly runs: number;
  /** In the order of the load; a pod that found room in no run is left out. */
  readonly pods: readonly PodRow[];
  readonly jain: Spread;
  readonly writesPerMinute: Spread;
  readonly lateWrites: Spread;
  /** Of all services together, per minute of the time that counts. */
  readonly throttledMillis: Spread;
  readonly violations: number;
  /** Pods that came and found no room, in some run. */
  readonly unscheduled: readonly string[];
}

export interface PodRow {
  readonly pod: string;
  /** In how many of the row's runs it was there: one that comes may find no room. */
  readonly runs: number;
  readonly isService: boolean;
  readonly p50Millis: Spread;
  readonly p95Millis: Spread;
  readonly p99Millis: Spread;
  readonly badShare: Spread;
  readonly lostShare: Spread;
  readonly usage: Spread;
  readonly throttledMillis: Spread;
}

/** Rows in the order in which load and arm first appear. A seed that is there twice counts once: its last run. */
export function tabulate(runs: readonly RunFigures[]): LabRow[] {
  const groups = new Map<string, RunFigures[]>();
  for (const run of runs) {
    const key = `${run.load}\n${run.arm}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [rowOf(first, group)];
  });
}

function rowOf({ load, arm }: RunFigures, all: readonly RunFigures[]): LabRow {
  const group = [...new Map(all.map((run) => [run.seed, run])).values()];
  const fullest = group.toSorted((one, other) => other.pods.length - one.pods.length)[0];
  const spread = (of: (run: RunFigures) => number): Spread => spreadOf(group.map(of));
  return {
    load,
    arm,
    runs: group.length,
    pods: (fullest?.pods ?? []).map(({ pod }) => podRow(pod, group)),
    jain: spread(({ jain }) => jain),
    writesPerMinute: spread(({ writesPerMinute }) => writesPerMinute),
    lateWrites: spread(({ lateWrites }) => lateWrites),
    throttledMillis: spread((run) => (throttledOf(run) * MINUTE) / run.countedMillis),
    violations: sum(group.map(({ violations }) => violations)),
    unscheduled: [...new Set(group.flatMap(({ unscheduled }) => unscheduled))],
  };
}

function podRow(name: string, group: readonly RunFigures[]): PodRow {
  const found = group.flatMap(({ pods }) => pods.filter(({ pod }) => pod === name));
  const spread = (of: (figures: PodFigures) => number): Spread => spreadOf(found.map(of));
  return {
    pod: name,
    runs: found.length,
    isService: found.some(({ sent }) => sent > 0),
    p50Millis: spread(({ p50Millis }) => p50Millis),
    p95Millis: spread(({ p95Millis }) => p95Millis),
    p99Millis: spread(({ p99Millis }) => p99Millis),
    badShare: spread(({ badShare }) => badShare),
    lostShare: spread(({ lostShare }) => lostShare),
    usage: spread(({ usage }) => usage),
    throttledMillis: spread(({ throttledMillis }) => throttledMillis),
  };
}

const MINUTE: Millis = 60_000;
const throttledOf = ({ pods }: RunFigures): Millis =>
  sum(pods.filter(({ sent }) => sent > 0).map(({ throttledMillis }) => throttledMillis));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Zeros for no values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? 0;
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [at(Math.floor(middle)), at(Math.ceil(middle))];
  // Two lost runs of four: the median is lost too, not half of infinity less infinity.
  const median = low === high ? low : (low + high) / 2;
  return { median, least: at(0), most: at(sorted.length - 1) };
}
