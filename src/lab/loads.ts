/** The loads of the experiment: two services that people wait for, and a hog of low weight beside them. */
import type { Millis } from '../lib/units.ts';
import type { CpuSettings, LabPod, PodLoad } from './substrate.ts';

/** Who wants what when; times count from the beginning of the run. */
export interface LabLoad {
  readonly name: string;
  readonly describe: string;
  readonly pods: readonly LabPod[];
  /** What a person who knows this load would set by hand. */
  readonly handTuned: Readonly<Record<string, CpuSettings>>;
  /** The controller ends at this time, and nothing adapts any more. */
  readonly killControllerAt?: Millis;
  /** Shorter runs would not see what the load does. */
  readonly leastMillis?: Millis;
}

type Rate = (millis: Millis) => number;

/** Of CPU a request wants, on average. */
const WORK_MILLIS = 4;
/** The ceiling found by hand in the pilot: what the hog used where all others were well. */
const HAND_CEILING = 330;

const constant =
  (rate: number): Rate =>
  () =>
    rate;
const square =
  (high: number, low: number, phaseMillis: Millis, beginsHigh: boolean): Rate =>
  (millis) =>
    (Math.floor(millis / phaseMillis) % 2 === 0) === beginsHigh ? high : low;
const begun =
  (sinceMillis: Millis, rate: Rate): Rate =>
  (millis) =>
    rate(millis + sinceMillis);
const wave =
  (mean: number, swing: number, periodMillis: Millis, shift: number): Rate =>
  (millis) =>
    mean + swing * Math.sin(2 * Math.PI * (millis / periodMillis + shift));
/** Quiet, but for two seconds at the beginning of every `every` ones: several times the usual. */
const bursty =
  (usual: number, burst: number, every: number): Rate =>
  (millis) =>
    Math.floor(millis / 1000) % every < 2 ? burst : usual;

const requests = (ratePerSecond: Rate): PodLoad => ({
  kind: 'requests',
  ratePerSecond,
  workMillis: WORK_MILLIS,
  threads: 2,
});

interface Pods {
  readonly a: Rate;
  readonly b: Rate;
  readonly requestOfA?: number;
  readonly hogThreads?: number;
}

function pods({ a, b, requestOfA = 600, hogThreads = 2 }: Pods): LabPod[] {
  return [
    { name: 'a', load: requests(a), request: requestOfA, claim: 200, weight: 4, isBatch: false },
    { name: 'b', load: requests(b), request: 600, claim: 200, weight: 2, isBatch: false },
    { name: 'hog', load: { kind: 'spin', threads: hogThreads }, request: 600, claim: 100, weight: 1, isBatch: true },
  ];
}

const hog = { hog: { request: 600, limit: HAND_CEILING } };
const squareA = square(200, 50, 30_000, true);
const squareB = square(175, 50, 30_000, false);

/** Eight small services beside a large one. */
const crowd: readonly LabPod[] = [
  { name: 'a', load: requests(constant(120)), request: 500, claim: 200, weight: 4, isBatch: false },
  ...Array.from(
    { length: 8 },
    (_, index): LabPod => ({
      name: `small-${index + 1}`,
      load: requests(square(20, 5, 15_000, index % 2 === 0)),
      request: 60,
      claim: 20,
      weight: 1,
      isBatch: false,
    }),
  ),
  { name: 'hog', load: { kind: 'spin', threads: 2 }, request: 300, claim: 100, weight: 1, isBatch: true },
];

export const labLoads: readonly LabLoad[] = [
  {
    name: 'constant',
    describe: 'steady load, right requests',
    pods: pods({ a: constant(125), b: constant(112) }),
    handTuned: hog,
  },
  {
    name: 'square-30',
    describe: 'the services are busy in turn, 30 s each, right requests',
    pods: pods({ a: squareA, b: squareB }),
    handTuned: hog,
  },
  {
    name: 'wrong-request',
    describe: 'as square-30, but A asks for 100m where it needs 800m',
    pods: pods({ a: squareA, b: squareB, requestOfA: 100 }),
    handTuned: hog,
  },
  {
    name: 'square-15',
    describe: 'in turns of 15 s',
    pods: pods({ a: square(200, 50, 15_000, true), b: square(175, 50, 15_000, false) }),
    handTuned: hog,
  },
  {
    name: 'square-60',
    describe: 'in turns of 60 s; runs take at least 135 s',
    pods: pods({ a: square(200, 50, 60_000, true), b: square(175, 50, 60_000, false) }),
    handTuned: hog,
    leastMillis: 135_000,
  },
  {
    name: 'square-300',
    describe: 'in turns of 300 s; runs begin amid one and take at least 135 s',
    pods: pods({
      a: begun(225_000, square(200, 50, 300_000, true)),
      b: begun(225_000, square(175, 50, 300_000, false)),
    }),
    handTuned: hog,
    leastMillis: 135_000,
  },
  {
    name: 'diurnal',
    describe: 'slow waves in opposite phase',
    pods: pods({ a: wave(125, 75, 120_000, 0), b: wave(112, 62, 120_000, 0.5) }),
    handTuned: hog,
    leastMillis: 105_000,
  },
  {
    name: 'bursty',
    describe: 'bursts of two seconds',
    pods: pods({ a: bursty(80, 220, 9), b: bursty(80, 180, 7) }),
    handTuned: hog,
  },
  {
    name: 'hog-8',
    describe: 'as square-30, the hog has eight threads',
    pods: pods({ a: squareA, b: squareB, hogThreads: 8 }),
    handTuned: hog,
  },
  {
    name: 'crowd',
    describe: 'eight small services, a large one and a hog',
    pods: crowd,
    handTuned: { hog: { request: 300, limit: HAND_CEILING } },
  },
  {
    name: 'arrivals',
    describe: 'a third service comes after 40 s and goes after 80 s',
    pods: [
      ...pods({ a: constant(100), b: constant(80) }).map((pod) => ({ ...pod, request: 450 })),
      {
        name: 'late',
        load: requests(constant(90)),
        request: 300,
        claim: 100,
        weight: 2,
        isBatch: false,
        from: 40_000,
        until: 80_000,
      },
    ],
    handTuned: hog,
    leastMillis: 105_000,
  },
  {
    name: 'killed',
    describe: 'as square-30, the controller is killed after 50 s',
    pods: pods({ a: squareA, b: squareB }),
    handTuned: hog,
    killControllerAt: 50_000,
    leastMillis: 105_000,
  },
];
