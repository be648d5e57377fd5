/**
 * Memory a workload wants over time, made up from a seed: leaks, plateaus, start-up peaks, days, steps, one hot
 * replica, gaps, restarts.
 */
import { createSeededRandom, type Random } from '../../lib/random.ts';
import type { Bytes, EpochMillis } from '../../lib/units.ts';

export interface MemoryPoint {
  readonly at: EpochMillis;
  /** What each replica wants, whether or not it gets it. */
  readonly demand: readonly Bytes[];
  /** Which replica each of them is, from 0, where they come and go; left out, the first is always the first. */
  readonly replicas?: readonly number[];
  /** False in a gap of the recording: the replicas run, but nothing is seen of them. */
  readonly isSeen: boolean;
}

export interface MemoryTrace {
  readonly name: string;
  /** In order of time, five minutes from one to the next but for gaps. */
  readonly points: readonly MemoryPoint[];
  /** What is requested now, for the row "as is"; undefined: not known. */
  readonly requested?: Bytes | undefined;
}

const MIB: Bytes = 1024 * 1024;
const STEP_MILLIS = 300_000;
const DAY_STEPS = 288;
const DAYS = 10;

/** Demand of replica `replica` at `step`, `sinceStart` steps after its last start. */
type Wants = (step: number, sinceStart: number, replica: number) => number;

interface Scenario {
  readonly replicas?: number;
  /** Steps between rollouts. */
  readonly rolloutEvery?: number;
  /** Share of the steps of each day, from its middle on, in which nothing is seen. */
  readonly gap?: number;
  readonly wants: (random: Random) => Wants;
}

const between = (random: Random, low: number, high: number): number => low + (high - low) * random.next();

const scenarios: Readonly<Record<string, Scenario>> = {
  steady: {
    wants: (random) => {
      const level = between(random, 50, 2000);
      return () => level * (1 + 0.02 * random.next());
    },
  },
  leak: {
    rolloutEvery: 3 * DAY_STEPS,
    wants: (random) => {
      const [level, daily] = [between(random, 200, 800), between(random, 0.1, 0.5)];
      return (_step, sinceStart) => level * (1 + (daily * sinceStart) / DAY_STEPS);
    },
  },
  plateau: {
    wants: (random) => {
      const [heap, minutes] = [between(random, 500, 3000), between(random, 12, 100)];
      return (_step, sinceStart) => heap * (0.6 + 0.4 * (1 - Math.exp(-sinceStart / minutes)));
    },
  },
  'start-up peak': {
    rolloutEvery: 2 * DAY_STEPS,
    wants: (random) => {
      const [level, peak] = [between(random, 200, 1000), between(random, 1.4, 2.2)];
      return (_step, sinceStart) => level * (sinceStart < 3 ? peak : 1 + 0.03 * random.next());
    },
  },
  'daily peak': {
    wants: (random) => {
      const [level, swing, phase] = [between(random, 200, 1500), between(random, 0.2, 0.6), random.next()];
      return (step) =>
        level * (1 + swing * Math.sin(2 * Math.PI * (step / DAY_STEPS + phase)) ** 2) * (1 + 0.03 * random.next());
    },
  },
  step: {
    wants: (random) => {
      const [level, factor] = [between(random, 200, 1500), between(random, 1.25, 1.9)];
      return (step) => level * (step >= 5.3 * DAY_STEPS ? factor : 1) * (1 + 0.03 * random.next());
    },
  },
  'one hot of ten': {
    replicas: 10,
    wants: (random) => {
      const [level, factor] = [between(random, 80, 300), between(random, 2, 6)];
      return (_step, _since, replica) => level * (replica === 7 ? factor : 1) * (1 + 0.05 * random.next());
    },
  },
  gaps: {
    gap: 0.4,
    wants: (random) => {
      const [level, swing] = [between(random, 200, 1500), between(random, 0.1, 0.4)];
      return (step) =>
        level * (1 + swing * Math.sin((2 * Math.PI * step) / DAY_STEPS) ** 2) * (1 + 0.03 * random.next());
    },
  },
  restarts: {
    rolloutEvery: Math.floor(0.95 * DAY_STEPS),
    wants: (random) => {
      const [level, growth] = [between(random, 200, 1500), between(random, 0.1, 0.5)];
      return (_step, sinceStart) =>
        level * (1 + growth * Math.min(1, sinceStart / (0.5 * DAY_STEPS))) * (1 + 0.03 * random.next());
    },
  },
};

/** One trace of 10 days for each scenario; equal seeds give equal traces. */
export function generateMemoryTraces(seed: number): MemoryTrace[] {
  const seeds = createSeededRandom(seed);
  return Object.entries(scenarios).map(([name, { replicas = 1, rolloutEvery, gap = 0, wants }]) => {
    const demandAt = wants(createSeededRandom(Math.floor(seeds.next() * 2 ** 32)));
    const points = Array.from({ length: DAYS * DAY_STEPS }, (_, step): MemoryPoint => {
      const sinceStart = rolloutEvery === undefined ? step : step % rolloutEvery;
      const ofDay = (step % DAY_STEPS) / DAY_STEPS;
      return {
        at: step * STEP_MILLIS,
        demand: Array.from({ length: replicas }, (_replica, index) =>
          Math.ceil(demandAt(step, sinceStart, index) * MIB),
        ),
        isSeen: step < DAY_STEPS || ofDay < 0.5 || ofDay >= 0.5 + gap,
      };
    });
    return { name, points };
  });
}
