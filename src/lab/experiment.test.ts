import { describe, expect, test } from 'vitest';
import type { Arm } from './arm.ts';
import { labArms } from './arms.ts';
import { type RunFigures, runExperiment } from './experiment.ts';
import { type LabLoad, labLoads } from './loads.ts';
import { createSimulatedSubstrate } from './simulated-substrate.ts';

const LENGTH = 60_000;
function run(load: LabLoad | string, arm: Arm | string, seed = 1, lengthMillis = LENGTH): Promise<RunFigures> {
  const chosenLoad = typeof load === 'string' ? labLoads.find(({ name }) => name === load) : load;
  const chosenArm = typeof arm === 'string' ? labArms.find(({ name }) => name === arm) : arm;
  if (chosenLoad === undefined || chosenArm === undefined) throw new Error('no such load or arm');
  return runExperiment({
    substrate: createSimulatedSubstrate({ cpus: 2, lengthMillis }),
    load: chosenLoad,
    arm: chosenArm,
    seed,
    cpus: 2,
    allocatable: 1800,
    warmUpMillis: 15_000,
    lengthMillis,
  });
}
const figuresOf = ({ pods }: RunFigures, name: string) => {
  const found = pods.find(({ pod }) => pod === name);
  if (found === undefined) throw new Error(`no pod ${name}`);
  return found;
};

describe('every arm under every load', () => {
  const pairs = labLoads.flatMap((load) => labArms.map((arm) => ({ load, arm })));
  test.each(pairs)(
    '$load.name, $arm.name: all pods are accounted for, and no more CPU is used than there is',
    async ({ load, arm }) => {
      const found = await run(load, arm, 1, 30_000);
      const present = load.pods.filter(({ from = 0 }) => from < 30_000);
      const accounted = [...found.pods.map(({ pod }) => pod), ...found.unscheduled];
      expect(accounted.sort()).toEqual(present.map(({ name }) => name).sort());
      expect(found.pods.reduce((sum, { usage }) => sum + usage, 0)).toBeLessThanOrEqual(2002);
      for (const { lostShare, badShare, p50Millis, p95Millis } of found.pods) {
        expect(badShare).toBeGreaterThanOrEqual(lostShare);
        expect(p95Millis).toBeGreaterThanOrEqual(p50Millis);
      }
      expect(found.jain).toBeGreaterThan(0);
      expect(found.jain).toBeLessThanOrEqual(1 + 1e-9);
    },
  );
});

test.each(labLoads)('$name: what happens in it happens before the shortest run ends', (load) => {
  const { leastMillis = 0, killControllerAt = 0 } = load;
  const events = [killControllerAt, ...load.pods.flatMap(({ from = 0, until = 0 }) => [from, until])];
  expect(Math.max(...events)).toBeLessThanOrEqual(leastMillis);
});

test('equal seeds give equal runs, different ones different requests', async () => {
  const [first, again, other] = await Promise.all([1, 1, 2].map((seed) => run('square-30', 'stowage', seed)));
  expect(again).toEqual(first);
  expect(other?.pods).not.toEqual(first?.pods);
});

test('static shares: a service that asked for an eighth of what it needs loses most of its replies', async () => {
  const found = await run('wrong-request', 'shares-request');
  expect(figuresOf(found, 'a').lostShare).toBeGreaterThan(0.5);
});

test('bargaining on requests: the same service answers as well as its neighbour, and nobody writes more than allowed', async () => {
  const found = await run('wrong-request', 'stowage-requests');
  expect(figuresOf(found, 'a').lostShare).toBe(0);
  expect(figuresOf(found, 'a').badShare).toBeLessThan(0.02);
  expect(found.violations).toBe(0);
});

test.each([1, 2, 3, 4, 5])('under a steady load nothing is written in the end, seed %d', async (seed) => {
  const found = await run('constant', 'stowage', seed, 75_000);
  expect(found.lateWrites).toBe(0);
  // Not for want of doing anything: the hog has its ceiling, and everybody is answered.
  expect(figuresOf(found, 'hog').usage).toBeLessThan(400);
  expect(Math.max(figuresOf(found, 'a').badShare, figuresOf(found, 'b').badShare)).toBeLessThan(0.005);
});

// Each of them once raised a limit for one throttled tick, at the cost of the others, and took it back.
test.each([12, 24, 36])('nor with limits, where noise throttles now and then, seed %d', async (seed) => {
  const found = await run('constant', 'stowage-limits', seed, 105_000);
  expect(found.lateWrites).toBe(0);
  expect(figuresOf(found, 'a').badShare).toBeLessThan(0.005);
});

test('an arm that writes what is there already writes nothing', async () => {
  const idle: Arm = {
    name: 'idle',
    describe: '',
    tickMillis: 1000,
    create: () => ({
      initial: ({ request }) => ({ request, limit: undefined }),
      tick: (observations) => new Map(observations.map(({ pod, settings }) => [pod.name, { ...settings }])),
    }),
  };
  expect((await run('constant', idle)).writesPerMinute).toBe(0);
});

test('a sum of requests above what is allocatable is counted each time', async () => {
  const greedy: Arm = {
    name: 'greedy',
    describe: '',
    tickMillis: 20_000,
    create: () => ({
      initial: ({ request }) => ({ request, limit: undefined }),
      tick: (_, now) => new Map([['a', { request: now / 10, limit: undefined }]]),
    }),
  };
  const found = await run('constant', greedy);
  expect(found).toMatchObject({ violations: 3, highestSum: 7200, writesPerMinute: 3, lateWrites: 1 });
});

test('a controller that is killed writes nothing more', async () => {
  const found = await run('killed', 'stowage-requests', 1, 105_000);
  const last = found.trace.findLast(({ atMillis }) => atMillis >= 50_000);
  const first = found.trace.find(({ atMillis }) => atMillis >= 50_000);
  expect(last?.pods['a']?.request).toBe(first?.pods['a']?.request);
  expect(found.lateWrites).toBe(0);
});

test('a pod that comes and goes is there in between only', async () => {
  const found = await run('arrivals', 'hand-tuned', 1, 105_000);
  const times = found.trace.filter(({ pods }) => pods['late'] !== undefined).map(({ atMillis }) => atMillis);
  expect([Math.min(...times), Math.max(...times)]).toEqual([42_000, 80_000]);
  expect(figuresOf(found, 'late').sent).toBeGreaterThan(3000);
});

describe('a pod that comes needs room', () => {
  /** Requests are multiplied; the hog gives its own back after a while, if at all. */
  const swollen = (factor: number, isGivenBackAt?: number): Arm => ({
    name: 'swollen',
    describe: '',
    tickMillis: 1000,
    create: () => ({
      initial: ({ request }) => ({ request: request * factor, limit: undefined }),
      tick: (_, now) => new Map(now === isGivenBackAt ? [['hog', { request: 10, limit: undefined }]] : []),
    }),
  });

  test('it waits for it, and so does who asks it', async () => {
    const found = await run('arrivals', swollen(1.2, 50_000));
    expect(found.unscheduled).toEqual([]);
    expect(figuresOf(found, 'late').lostShare).toBeGreaterThan(0.4);
  });

  test('and may wait in vain', async () => {
    expect((await run('arrivals', swollen(1.2))).unscheduled).toEqual(['late']);
  });
});

test('a run ends when it is told to', async () => {
  const [load, arm] = [labLoads[0], labArms[0]];
  if (load === undefined || arm === undefined) throw new Error('there are loads and arms');
  const substrate = createSimulatedSubstrate({ cpus: 2, lengthMillis: LENGTH });
  const options = { substrate, load, arm, seed: 1, cpus: 2, allocatable: 1800, warmUpMillis: 0, lengthMillis: LENGTH };
  await expect(runExperiment({ ...options, signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
});
