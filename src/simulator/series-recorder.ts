/** Keeps a bounded series of a run of any length: it reads at even steps of virtual time and changes nothing. */
import type { Clock, Timer } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import {
  type CountName,
  type LevelName,
  type MeanName,
  type SeriesName,
  type SimulationSeries,
  seriesMeanings,
  seriesNames,
} from './series.ts';

/** What there is to read at one moment. Levels that are not known are undefined. */
export interface SeriesReading {
  readonly levels: Readonly<Record<LevelName, number | undefined>>;
  /** Integrals over time since any moment: value times hours. */
  readonly integrals: Readonly<Record<MeanName, number>>;
  /** Counted since any moment. */
  readonly counts: Readonly<Record<CountName, number>>;
}

export interface SeriesRecorder {
  /** Ends the recording now. */
  end(): SimulationSeries;
}

export interface RecordSeriesOptions {
  readonly clock: Clock;
  /** How long the run is going to be. */
  readonly durationMillis: Millis;
  readonly read: () => SeriesReading;
}

/** Most points of a run that ends in time: a plot as wide as a screen shows no more. */
export const MAX_POINTS = 401;
const SECOND: Millis = 1000;
const HOUR: Millis = 3_600_000;
/** A ten-thousandth is enough for every unit there is; binary fractions would fill the report with digits. */
const PRECISION = 10_000;

/** Begins now. Steps are whole seconds: runs of 200 s and more have from 200 to {@link MAX_POINTS} points, shorter ones one a second. */
export function recordSeries({ clock, durationMillis, read }: RecordSeriesOptions): SeriesRecorder {
  const stepMillis = SECOND * Math.max(1, Math.ceil(durationMillis / (MAX_POINTS - 1) / SECOND));
  const startedAt = clock.now();
  const endMillis: Millis[] = [];
  const values = new Map<SeriesName, (number | undefined)[]>(seriesNames.map((name) => [name, []]));
  let last = read();
  let timer: Timer | undefined;

  const take = (): void => {
    const now = read();
    const at = clock.now() - startedAt;
    const hours = (at - (endMillis.at(-1) ?? 0)) / HOUR;
    endMillis.push(at);
    for (const [name, column] of values) column.push(rounded(spanValue(name, { now, last, hours })));
    last = now;
  };
  const wait = (): void => {
    timer = clock.setTimer(stepMillis, () => {
      take();
      wait();
    });
  };
  wait();

  return {
    end() {
      timer?.cancel();
      if (clock.now() - startedAt > (endMillis.at(-1) ?? 0)) take();
      const column = (name: SeriesName): number[] => (values.get(name) ?? []).map((value = 0) => value);
      const { cpuUsed, ...known } = Object.fromEntries(seriesNames.map((name) => [name, column(name)])) as Record<
        SeriesName,
        number[]
      >;
      const isUsed = values.get('cpuUsed')?.some((value) => value !== undefined) === true;
      return { endMillis, ...known, ...(isUsed && { cpuUsed }) };
    },
  };
}

interface Span {
  readonly now: SeriesReading;
  readonly last: SeriesReading;
  readonly hours: number;
}

function spanValue(name: SeriesName, { now, last, hours }: Span): number | undefined {
  if (isOf(name, 'level')) return now.levels[name];
  if (isOf(name, 'mean')) return (now.integrals[name] - last.integrals[name]) / hours;
  return isOf(name, 'count') ? now.counts[name] - last.counts[name] : undefined;
}

interface NamesByKind {
  readonly level: LevelName;
  readonly mean: MeanName;
  readonly count: CountName;
}

function isOf<K extends keyof NamesByKind>(name: SeriesName, kind: K): name is NamesByKind[K] {
  return seriesMeanings[name].kind === kind;
}

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * PRECISION) / PRECISION;
}
