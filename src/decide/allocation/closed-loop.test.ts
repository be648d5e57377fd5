/** The loop on a simple model of a node's CPU: measure, plan, write, again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import { chargedCpu } from './allocation-pod.ts';
import { burn, type Moment, runLoop, type Worker } from './testing/cpu-model.ts';
import { type PodSketch, T0, testNode, testPod, testRules } from './testing/pods.ts';

const weight = (value: number): Record<string, string> => ({ 'mbcas.io/weight': String(value) });
const worker = (name: string, sketch: PodSketch, load: Worker['load']): Worker => ({
  pod: testPod(name, sketch),
  load,
});
const square =
  (high: number, low: number, period: number, shift = 0) =>
  (second: number): number =>
    (second + shift) % (2 * period) < period ? high : low;
const writesIn = (moments: readonly Moment[], from: number, to = Number.POSITIVE_INFINITY): number =>
  moments.filter(({ second }) => second >= from && second < to).reduce((sum, { writes }) => sum + writes, 0);
const servedAt = (moments: readonly Moment[], name: string, from: number): number[] =>
  moments.filter(({ second }) => second >= from).map(({ served }) => served[name] ?? 0);

describe('the pilot: A asks for 100m and needs 800m beside a hog', () => {
  const pods = [
    worker('a', { request: 100, marks: weight(4) }, () => 800),
    worker('b', { request: 600, marks: weight(2) }, () => 300),
    worker('c', { request: 600, marks: weight(1) }, () => 2000),
  ];
  const moments = runLoop(pods, { seconds: 240, cores: 1670 });

  test('A is starved at first, and served within three ticks', () => {
    expect(moments[0]?.served['a']).toBeLessThan(200);
    expect(moments[3]?.served['a']).toBeGreaterThan(790);
  });

  test('the hog gets a ceiling, and only the hog', () => {
    const last = moments.at(-1);
    expect(last?.plan.pods.map(({ name, target }) => [name, target.limit !== undefined])).toEqual([
      ['a', false],
      ['b', false],
      ['c', true],
    ]);
    expect(last?.served['c']).toBeLessThan(450);
  });

  test('then nothing is written any more', () => {
    expect(writesIn(moments, 0, 60)).toBeGreaterThan(2);
    expect(writesIn(moments, 60)).toBe(0);
  });
});

describe('a hog cannot hurt', () => {
  test.each([2000, 8000])('with a load of %dm of equal weight: its neighbour keeps what it needs', (load) => {
    const moments = runLoop(
      [worker('good', { request: 500 }, () => 450), worker('hog', { request: 100 }, () => load)],
      { seconds: 300, cores: 1670 },
    );
    expect(Math.min(...servedAt(moments, 'good', 10))).toBeGreaterThan(440);
    expect(writesIn(moments, 150)).toBe(0);
  });

  test('a latency-sensitive pod never gets a ceiling, however much it takes', () => {
    const marks = { 'mbcas.io/workload-type': 'latency' };
    const moments = runLoop(
      [worker('good', { request: 500 }, () => 900), worker('hog', { request: 100, marks }, () => 4000)],
      { seconds: 120, cores: 1670 },
    );
    expect(
      moments.every(({ plan }) => plan.pods.every(({ name, target }) => name !== 'hog' || target.limit === undefined)),
    ).toBe(true);
  });

  test('when the hog ends its ceiling goes up to the node, as it cannot be removed', () => {
    const moments = runLoop(
      [
        worker('a', { request: 300, marks: weight(4) }, (second) => (second < 60 ? 1200 : 200)),
        worker('hog', { request: 600 }, (second) => (second < 60 ? 3000 : 20)),
      ],
      { seconds: 240, cores: 1670 },
    );
    const limits = moments.map(({ plan }) => plan.pods.find(({ name }) => name === 'hog')?.current.limit);
    expect(limits.some((limit) => limit !== undefined && limit < 700)).toBe(true);
    expect(limits.at(-1)).toBe(1800);
  });
});

test('requests that are half of the node: who uses no more than its part of the node gets no ceiling', () => {
  const moments = runLoop(
    [worker('service', { request: 100 }, () => 650), worker('hog', { request: 900 }, () => 4000)],
    { seconds: 240, cores: 2000, input: { rules: { ...testRules, surplusShare: 0 } } },
  );
  const last = moments.at(-1)?.plan;
  expect(last?.capacity).toBeGreaterThan(1.5 * (last?.steadySum ?? Number.NaN));
  const limits = moments.map(({ plan }) => plan.pods.find(({ name }) => name === 'service')?.target.limit);
  expect(limits.every((limit) => limit === undefined)).toBe(true);
  expect(last?.pods.find(({ name }) => name === 'hog')?.target.limit).toBeLessThan(1300);
  expect(moments.at(-1)?.served['service']).toBe(650);
});

test('a node whose requests leave no margin: none is lowered but to pay for another', () => {
  const packed = (loadOfA: number): number[][] => {
    const load = (name: string) => () => (name === 'a' ? loadOfA : 60);
    const pods = ['a', 'b', 'c', 'd'].map((name) => worker(name, { request: 447 }, load(name)));
    return runLoop(pods, { seconds: 120, cores: 1670 }).map(({ requests }) => Object.values(requests));
  };
  expect(new Set(packed(60).flat())).toEqual(new Set([447]));
  expect(packed(900).at(-1)?.[0]).toBeGreaterThan(600);
});

describe('square waves', () => {
  test.each([15, 30, 60])('phases of %d s: no oscillation within a phase, and few writes', (period) => {
    const moments = runLoop(
      [
        worker('a', { request: 300, marks: weight(4) }, square(870, 230, period)),
        worker('b', { request: 300, marks: weight(2) }, square(780, 230, period, period)),
        worker('c', { request: 300, marks: weight(1) }, () => 2000),
      ],
      { seconds: 600, cores: 1670 },
    );
    const minutes = 10;
    for (const name of ['a', 'b', 'c']) {
      const written = moments.reduce(
        (sum, { plan }) => sum + plan.writes.filter((each) => each.name === name).length,
        0,
      );
      expect(written / minutes).toBeLessThanOrEqual(6);
    }
    // Within one phase the load is constant: a request may go up or down, not back and forth.
    for (let start = 2 * period; start < 600 - period; start += period) {
      const phase = moments.filter(({ second }) => second >= start + 2 && second < start + period);
      for (const name of ['a', 'b']) {
        const turns = turnsOf(phase.map(({ requests }) => requests[name] ?? 0));
        expect(turns).toBeLessThanOrEqual(1);
      }
    }
  });
});

test('P18: one that is not ready for long, and works a little, is dead or alive, not both in turn', () => {
  const unready = { ready: false, readyChangedAt: T0 };
  const moments = runLoop(
    [
      worker('a', { request: 499, marks: weight(2) }, () => 241),
      worker('b', { request: 74, limit: 1020 }, () => 180),
      worker('c', { request: 425, marks: weight(4) }, () => 20),
      { pod: testPod('unready', { request: 529, limit: 1689 }, unready), load: () => 42 },
      worker('e', { request: 203, marks: weight(2) }, () => 31),
    ],
    { seconds: 1500, cores: 1670 },
  );
  expect(writesIn(moments, 0, 60)).toBeGreaterThan(0);
  expect(writesIn(moments, 900)).toBe(0);
});

describe('noise', () => {
  /** As requests make it that come at random: as often above as below, seldom far off. */
  const noisy = (mean: number, deviation: number, seed: number): Worker['load'] => {
    const random = createSeededRandom(seed);
    return () => {
      const off = Array.from({ length: 12 }, () => random.next()).reduce((sum, each) => sum + each, -6);
      return Math.max(0, Math.round(mean + deviation * off));
    };
  };
  const busy = (seed: number, loadOfA = noisy(500, 45, seed)): Worker[] => {
    const b = noisy(450, 42, seed + 100);
    return [
      worker('a', { request: 600, marks: weight(4) }, loadOfA),
      worker('b', { request: 600, marks: weight(2) }, b),
      worker('hog', { request: 600, marks: { ...weight(1), 'mbcas.io/workload-type': 'batch' } }, () => 2000),
    ];
  };
  /** What the system uses beyond what is reserved for it varies, too. */
  const unsteadySystem = (seed: number) => {
    const use = noisy(350, 15, seed);
    return (second: number) => ({ node: testNode({ systemUse: use(second) }) });
  };
  const seeds = [1, 2, 3, 4, 5, 6];

  test.each(seeds)('P18: of a steady load it is not written, seed %d', (seed) => {
    const moments = runLoop(busy(seed), { seconds: 900, cores: 1670, inputAt: unsteadySystem(seed) });
    expect(writesIn(moments, 0, 60)).toBeGreaterThan(0);
    expect(writesIn(moments, 60, 300)).toBeLessThanOrEqual(4);
    expect(writesIn(moments, 300)).toBe(0);
  });

  test.each(seeds)('nor is the memory that a restart loses, seed %d', (seed) => {
    const forgets = new Map<string, never>();
    const system = unsteadySystem(seed);
    const moments = runLoop(busy(seed), {
      seconds: 900,
      cores: 1670,
      inputAt: (second) => ({ ...system(second), ...(second === 600 && { memory: forgets }) }),
    });
    expect(writesIn(moments, 300, 600)).toBe(0);
    expect(writesIn(moments, 600)).toBeLessThanOrEqual(2);
    const limits = moments.filter(({ second }) => second >= 600).map(({ plan }) => plan.pods[2]?.current.limit ?? 0);
    expect(Math.min(...limits)).toBeGreaterThan(250);
    expect(Math.max(...limits)).toBeLessThan(600);
  });

  test.each(seeds)('and yet a step of the load is answered within two ticks, seed %d', (seed) => {
    const [before, after] = [noisy(200, 25, seed), noisy(900, 50, seed)];
    const load: Worker['load'] = (second) => (second < 600 ? before : after)(second);
    const moments = runLoop(busy(seed, load), { seconds: 640, cores: 1670, inputAt: unsteadySystem(seed) });
    const requestAt = (second: number): number => moments.find((each) => each.second === second)?.requests['a'] ?? 0;
    expect(writesIn(moments, 300, 600)).toBe(0);
    expect(requestAt(602)).toBeGreaterThan(1.4 * requestAt(598));
    expect(Math.min(...servedAt(moments, 'a', 604))).toBeGreaterThan(700);
  });
});

describe('for any pods and loads', () => {
  const row = fc.record({
    request: fc.integer({ min: 20, max: 500 }),
    limit: fc.option(fc.integer({ min: 500, max: 1500 }), { nil: undefined }),
    load: fc.integer({ min: 0, max: 2500 }),
    weight: fc.constantFrom(1, 2, 4),
  });
  const rows = fc
    .array(row, { minLength: 1, maxLength: 5 })
    .filter((each) => each.reduce((sum, { request }) => sum + request, 0) <= 1700);
  const modes = fc.record({
    apply: fc.constantFrom('requests+ceilings' as const, 'limits' as const),
    ceilings: fc.constantFrom('greedy' as const, 'all' as const, 'existing' as const, 'none' as const),
  });
  const workersOf = (
    given: readonly { request: number; limit: number | undefined; load: number; weight: number }[],
  ): Worker[] =>
    given.map(({ request, limit, load, weight: power }, index) =>
      worker(`p${index}`, { request, marks: weight(power), ...(limit !== undefined && { limit }) }, () => load),
    );

  test('P16: requests never exceed the node, not even between two writes', () => {
    fc.assert(
      fc.property(rows, modes, (given, mode) => {
        runLoop(workersOf(given), {
          seconds: 60,
          input: { rules: { ...testRules, ...mode } },
          check: (pods) => {
            expect(pods.reduce((sum, pod) => sum + chargedCpu(pod), 0)).toBeLessThanOrEqual(1800);
          },
        });
      }),
      { numRuns: 150 },
    );
  });

  test('P17, P18: a constant load ends in no writes at all', () => {
    fc.assert(
      fc.property(rows, modes, (given, mode) => {
        const moments = runLoop(workersOf(given), { seconds: 600, input: { rules: { ...testRules, ...mode } } });
        expect(writesIn(moments, 400)).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test('no QoS class changes: a Burstable pod keeps its request below its limit', () => {
    fc.assert(
      fc.property(rows, modes, (given, mode) => {
        const moments = runLoop(workersOf(given), { seconds: 60, input: { rules: { ...testRules, ...mode } } });
        for (const { plan } of moments) {
          for (const { target } of plan.writes)
            expect(target.request).toBeLessThan(target.limit ?? Number.POSITIVE_INFINITY);
        }
      }),
      { numRuns: 100 },
    );
  });
});

test('the model shares cores by request, within load and quota', () => {
  const pods = [
    testPod('a', { request: 300 }),
    testPod('b', { request: 100 }),
    testPod('c', { request: 600, limit: 650 }),
  ];
  const measured = burn(pods, [1000, 1000, 1000], 1000);
  expect(measured.map(({ usage }) => Math.round(usage))).toEqual([300, 100, 600]);
  expect(burn(pods, [100, 2000, 2000], 1000).map(({ usage }) => Math.round(usage))).toEqual([100, 250, 650]);
  expect(burn(pods, [100, 2000, 2000], 1000).map(({ throttledRatio }) => throttledRatio)).toEqual([
    undefined,
    undefined,
    1,
  ]);
});

/** How often a sequence changes its direction. */
function turnsOf(values: readonly number[]): number {
  const moves = values.slice(1).map((value, index) => Math.sign(value - (values[index] ?? 0)));
  const real = moves.filter((move) => move !== 0);
  return real.slice(1).filter((move, index) => move !== real[index]).length;
}
