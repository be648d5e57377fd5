/**
 * One run of the experiment: a load, an arm, a seed, on a substrate; and what the pods' users and the machine's owner
 * saw.
 */
import type { Millicores, Millis } from '../lib/units.ts';
import type { Arm, LabFacts, PodObservation } from './arm.ts';
import type { LabLoad } from './loads.ts';
import { type PodFigures, podFigures } from './pod-figures.ts';
import type { CpuSettings, LabPod, PodCounters, Substrate } from './substrate.ts';

/** All that makes a run what it is: runs that agree in these can be compared. */
export interface ExperimentOptions {
  readonly substrate: Substrate;
  readonly load: LabLoad;
  readonly arm: Arm;
  readonly seed: number;
  readonly cpus: number;
  readonly allocatable: Millicores;
  /** Not counted. */
  readonly warmUpMillis: Millis;
  /** With the warm-up. */
  readonly lengthMillis: Millis;
  /** Ends the run before its time; it then rejects. */
  readonly signal?: AbortSignal;
}

/** Of the time after the warm-up, but for writes and sums of requests, which count from the beginning. */
export interface RunFigures {
  readonly load: string;
  readonly arm: string;
  readonly seed: number;
  readonly substrate: Substrate['kind'];
  /** In the order of the load. */
  readonly pods: readonly PodFigures[];
  /** Pods that came and never found room. */
  readonly unscheduled: readonly string[];
  /** The length of the run without its warm-up. */
  readonly countedMillis: Millis;
  /** Jain index of the shares of their requests that services answered, 0..1. */
  readonly jain: number;
  /**
   * Writes of the pod that had most, in its busiest minute; and of all pods in the last third, where a steady load
   * should need none.
   */
  readonly writesPerMinute: number;
  readonly lateWrites: number;
  /** Highest sum of requests at any instant, and how often it was above what is allocatable. */
  readonly highestSum: Millicores;
  readonly violations: number;
  /** Every two seconds, and whenever the arm looked. Of the settings over time, for the plot. */
  readonly trace: readonly TracePoint[];
}

export interface TracePoint {
  readonly atMillis: Millis;
  readonly pods: Readonly<
    Record<string, { readonly request: Millicores; readonly limit: Millicores | undefined; readonly usage: Millicores }>
  >;
}

interface Seat {
  readonly pod: LabPod;
  settings: CpuSettings;
  before: PodCounters;
  beforeAt: Millis;
  atWarmUp: PodCounters | undefined;
  readonly writes: Millis[];
}

/** Arms tick at most this often, arrivals and the warm-up's end fall on it. */
const BEAT_MILLIS: Millis = 1000;
/** From one point of the plot to the next, also where nobody steers. */
const TRACE_MILLIS: Millis = 2000;
const MINUTE: Millis = 60_000;

/** Rejects with what the substrate or the arm throws; the substrate is left as it is then. */
export async function runExperiment(options: ExperimentOptions): Promise<RunFigures> {
  const { substrate, load, arm, seed, cpus, allocatable, warmUpMillis, lengthMillis } = options;
  const facts: LabFacts = { cpus, allocatable, handTuned: load.handTuned };
  const controller = arm.create(facts);
  const seats = new Map<string, Seat>();
  const trace: TracePoint[] = [];
  const gone: { readonly seat: Seat; readonly figures: PodFigures }[] = [];
  let [highestSum, violations] = [0, 0];
  const started = new Set<string>();
  const sumOfRequests = (): number => [...seats.values()].reduce((total, { settings }) => total + settings.request, 0);
  const note = (): void => {
    const sum = sumOfRequests();
    highestSum = Math.max(highestSum, sum);
    if (sum > allocatable) violations++;
  };
  const figuresOf = async (seat: Seat): Promise<PodFigures> =>
    podFigures(seat.pod, {
      counters: substrate.counters(seat.pod.name),
      before: seat.atWarmUp,
      replies: await substrate.replies(seat.pod.name),
      from: Math.max(warmUpMillis, seat.pod.from ?? 0),
      until: now,
      writes: seat.writes.length,
    });
  let now: Millis = 0;
  for (; now < lengthMillis; now += BEAT_MILLIS) {
    options.signal?.throwIfAborted();
    for (const [index, pod] of load.pods.entries()) {
      if (!isDueAt(pod, now) || started.has(pod.name)) continue;
      const settings = controller.initial(pod, load.pods);
      // Those that are there from the beginning were admitted before; one that comes needs room, as the scheduler sees it.
      if (pod.from !== undefined && sumOfRequests() + settings.request > allocatable) continue;
      started.add(pod.name);
      await substrate.start(pod, settings, seed * 1000 + index);
      const before = substrate.counters(pod.name);
      seats.set(pod.name, { pod, settings, before, beforeAt: now, atWarmUp: undefined, writes: [] });
      note();
    }
    for (const seat of [...seats.values()]) {
      if (seat.pod.until !== now) continue;
      gone.push({ seat, figures: await figuresOf(seat) });
      await substrate.stop(seat.pod.name);
      seats.delete(seat.pod.name);
    }
    if (now >= warmUpMillis) {
      for (const seat of seats.values()) seat.atWarmUp ??= substrate.counters(seat.pod.name);
    }
    await substrate.runUntil(now + BEAT_MILLIS);
    const at = now + BEAT_MILLIS;
    const isDead = load.killControllerAt !== undefined && at >= load.killControllerAt;
    const isDue = arm.tickMillis !== undefined && at % arm.tickMillis === 0 && !isDead;
    if (!isDue && at % TRACE_MILLIS !== 0) continue;
    const observations = [...seats.values()].map((seat) => observe(substrate, seat, at));
    trace.push(tracePoint(observations, at));
    if (!isDue) continue;
    for (const [name, settings] of controller.tick(observations, at)) {
      const seat = seats.get(name);
      if (seat === undefined || isSame(seat.settings, settings)) continue;
      await substrate.apply(name, settings);
      seat.settings = settings;
      seat.writes.push(at);
      note();
    }
  }
  const all = [...gone];
  for (const seat of seats.values()) all.push({ seat, figures: await figuresOf(seat) });
  all.sort((one, other) => load.pods.indexOf(one.seat.pod) - load.pods.indexOf(other.seat.pod));
  const unstarted = load.pods.filter(({ name, from = 0 }) => from < lengthMillis && !started.has(name));
  return {
    load: load.name,
    arm: arm.name,
    seed,
    substrate: substrate.kind,
    pods: all.map(({ figures }) => figures),
    unscheduled: unstarted.map(({ name }) => name),
    countedMillis: lengthMillis - warmUpMillis,
    jain: jainIndex(all.map(({ figures }) => figures)),
    writesPerMinute: Math.max(0, ...all.map(({ seat }) => busiestMinute(seat.writes))),
    lateWrites: all.flatMap(({ seat }) => seat.writes).filter((at) => at > (2 / 3) * lengthMillis).length,
    highestSum,
    violations,
    trace,
  };
}

function isDueAt({ from = 0, until = Number.POSITIVE_INFINITY }: LabPod, now: Millis): boolean {
  return from <= now && now < until;
}

/** Of the time since the seat was last observed, and the beginning of the next. */
function observe(substrate: Substrate, seat: Seat, at: Millis): PodObservation {
  const { pod, settings, before, beforeAt } = seat;
  const counters = substrate.counters(pod.name);
  const passed = Math.max(1, at - beforeAt);
  const periods = counters.periods - before.periods;
  seat.before = counters;
  seat.beforeAt = at;
  return {
    pod,
    settings,
    usage: Math.round(((counters.usedMillis - before.usedMillis) / passed) * 1000),
    throttledRatio: periods > 0 ? (counters.throttledPeriods - before.throttledPeriods) / periods : undefined,
    pressure: Math.min(1, (counters.waitedMillis - before.waitedMillis) / passed),
  };
}

function tracePoint(observations: readonly PodObservation[], atMillis: Millis): TracePoint {
  const pods = observations.map(({ pod, settings, usage }) => [pod.name, { ...settings, usage }] as const);
  return { atMillis, pods: Object.fromEntries(pods) };
}

const isSame = (a: CpuSettings, b: CpuSettings): boolean => a.request === b.request && a.limit === b.limit;

function busiestMinute(writes: readonly Millis[]): number {
  return Math.max(0, ...writes.map((from) => writes.filter((at) => at >= from && at < from + MINUTE).length));
}

/** 1 when all services are served equally well, 1/n when one of n is served alone. */
function jainIndex(pods: readonly PodFigures[]): number {
  const shares = pods.filter(({ sent }) => sent > 0).map(({ lostShare }) => 1 - lostShare);
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share ** 2, 0);
  return squares === 0 ? 0 : sum ** 2 / (shares.length * squares);
}
