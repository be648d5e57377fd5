import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spinningQueue } from '../testing/spinning-queue.ts';
import { CfsMachine, type Job, type JobQueue } from './cfs-machine.ts';

function machineWith(
  groups: Readonly<Record<string, { weight?: number; threads?: number; quota?: number }>>,
  cpus = 2,
) {
  const machine = new CfsMachine({ cpus });
  for (const [name, { weight = 1024, threads = 2, quota }] of Object.entries(groups)) {
    machine.addGroup(name, { weight, threads, queue: spinningQueue });
    if (quota !== undefined) machine.setQuota(name, quota);
  }
  return machine;
}

/** Jobs of 1 ms each that are all there from the beginning. */
function backlog(jobs: number, millis = 1) {
  const done: number[] = [];
  let left = jobs;
  const queue: JobQueue = {
    take: () => (left-- > 0 ? { remainingMillis: millis } : undefined),
    finished: (_job, at) => done.push(at),
  };
  return { queue, done };
}

describe('what the kernel was seen to do (usage within 10 %, throttled periods within 20 %)', () => {
  test.each([
    { what: '1 thread at 500m for 5 s', threads: 1, quota: 500, seconds: 5, used: 2550, throttled: 49 },
    { what: '4 threads at 500m for 5 s', threads: 4, quota: 500, seconds: 5, used: 2500, throttled: 49 },
    { what: '1 thread at the least quota for 3 s', threads: 1, quota: 10, seconds: 3, used: 32, throttled: 32 },
  ])('$what: $used ms used, $throttled periods throttled', ({ threads, quota, seconds, used, throttled }) => {
    const machine = machineWith({ a: { threads, quota } });
    machine.runUntil(seconds * 1000);
    const { usedMillis, throttledPeriods } = machine.counters('a');
    expect(Math.abs(usedMillis - used)).toBeLessThanOrEqual(0.1 * used);
    expect(Math.abs(throttledPeriods - throttled)).toBeLessThanOrEqual(0.2 * throttled);
  });

  test('a quota written anew each 50 ms is no quota: every write refills it', () => {
    const machine = machineWith({ a: { threads: 1, quota: 500 } });
    for (let now = 50; now <= 5000; now += 50) {
      machine.runUntil(now);
      machine.setQuota('a', 500);
    }
    expect(machine.counters('a').usedMillis).toBeGreaterThan(4000);
    const calm = machineWith({ a: { threads: 1, quota: 500 } });
    for (let now = 1000; now <= 5000; now += 1000) {
      calm.runUntil(now);
      calm.setQuota('a', 500);
    }
    expect(calm.counters('a').usedMillis).toBeLessThan(2800);
  });

  test('two groups of two threads on two CPUs wait half of the time, and no period is counted without a quota', () => {
    const machine = machineWith({ a: {}, b: {} });
    machine.runUntil(10_000);
    const { waitedMillis, periods, throttledMillis } = machine.counters('a');
    expect([periods, throttledMillis]).toEqual([0, 0]);
    expect(waitedMillis / 10_000).toBeGreaterThan(0.45);
  });
});

describe('weights', () => {
  test.each([
    [1024, 1024],
    [1000, 250],
    [2, 1024],
  ])('%i against %i: CPU in proportion', (a, b) => {
    const machine = machineWith({ a: { weight: a }, b: { weight: b } });
    machine.runUntil(20_000);
    const share = machine.counters('a').usedMillis / 40_000;
    expect(share).toBeCloseTo(a / (a + b), 2);
  });

  test('what one does not use the others get, whatever their weight', () => {
    const machine = new CfsMachine({ cpus: 2 });
    machine.addGroup('idle', { weight: 10_000, threads: 2, queue: { take: () => undefined, finished: () => {} } });
    machine.addGroup('a', { weight: 2, threads: 2, queue: spinningQueue });
    machine.runUntil(1000);
    expect(machine.counters('a').usedMillis).toBeCloseTo(2000, 6);
  });

  test('one thread has one CPU, also with all the weight', () => {
    const machine = machineWith({ a: { threads: 1, weight: 10_000 }, b: {} });
    machine.runUntil(1000);
    expect(machine.counters('a').usedMillis).toBeLessThanOrEqual(1000);
    expect(machine.counters('a').usedMillis + machine.counters('b').usedMillis).toBeCloseTo(2000, 6);
  });

  test('a new weight counts from now on', () => {
    const machine = machineWith({ a: {}, b: {} });
    machine.runUntil(5000);
    const before = machine.counters('a').usedMillis;
    machine.setWeight('a', 3072);
    machine.runUntil(15_000);
    expect((machine.counters('a').usedMillis - before) / 20_000).toBeCloseTo(0.75, 2);
  });

  test('a group that slept does not get back what it missed', () => {
    const machine = new CfsMachine({ cpus: 1 });
    let isAwake = false;
    const queue: JobQueue = { take: () => (isAwake ? { remainingMillis: 1e9 } : undefined), finished: () => {} };
    machine.addGroup('late', { weight: 1024, threads: 1, queue });
    machine.addGroup('a', { weight: 1024, threads: 1, queue: spinningQueue });
    machine.runUntil(10_000);
    isAwake = true;
    machine.runUntil(10_100);
    expect(machine.counters('late').usedMillis).toBeLessThan(60);
  });

  test('groups that are removed use nothing any more', () => {
    const machine = machineWith({ a: {}, b: {} });
    machine.runUntil(1000);
    machine.removeGroup('b');
    const before = machine.counters('a').usedMillis;
    machine.runUntil(2000);
    expect(machine.counters('a').usedMillis - before).toBeCloseTo(2000, 6);
    expect(() => machine.counters('b')).toThrow('there is no group b');
  });
});

describe('jobs', () => {
  test('are done in the order they come, as many at once as there are threads', () => {
    const machine = new CfsMachine({ cpus: 2 });
    const { queue, done } = backlog(10, 2);
    machine.addGroup('a', { weight: 1024, threads: 2, queue });
    machine.runUntil(20);
    expect(done).toHaveLength(10);
    expect(done.at(-1)).toBeCloseTo(10, 6);
  });

  test('shorter than a step do not cost a step', () => {
    const machine = new CfsMachine({ cpus: 1 });
    const { queue, done } = backlog(100, 0.1);
    machine.addGroup('a', { weight: 1024, threads: 1, queue });
    machine.runUntil(11);
    expect(done).toHaveLength(100);
  });

  test('of a throttled group wait for the next period', () => {
    const machine = new CfsMachine({ cpus: 1 });
    const { queue, done } = backlog(1, 60);
    machine.addGroup('a', { weight: 1024, threads: 1, queue });
    machine.setQuota('a', 500);
    machine.runUntil(300);
    expect(done).toEqual([expect.closeTo(110, 6)]);
  });
});

test('unused quota is banked up to the burst, and no further', () => {
  const machine = new CfsMachine({ cpus: 1 });
  let job: Job | undefined;
  const queue: JobQueue = {
    take: () => {
      const taken = job;
      job = undefined;
      return taken;
    },
    finished: () => {},
  };
  machine.addGroup('a', { weight: 1024, threads: 1, queue });
  machine.setQuota('a', 200, 300);
  machine.runUntil(2000);
  job = { remainingMillis: 1e9 };
  machine.runUntil(2100);
  // 20 ms of the period and 30 ms from before.
  expect(machine.counters('a').usedMillis).toBeCloseTo(50, 6);
});

test('for any groups no CPU is used twice, quotas hold, and a CPU idles for at most a step a period while somebody may run', () => {
  const group = fc.record({
    weight: fc.integer({ min: 2, max: 10_000 }),
    threads: fc.integer({ min: 1, max: 4 }),
    quota: fc.option(fc.integer({ min: 20, max: 2000 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 4 }), (groups, cpus) => {
      const machine = new CfsMachine({ cpus });
      groups.forEach(({ weight, threads, quota }, index) => {
        machine.addGroup(`${index}`, { weight, threads, queue: spinningQueue });
        if (quota !== undefined) machine.setQuota(`${index}`, quota);
      });
      machine.runUntil(1000);
      const used = groups.map((_, index) => machine.counters(`${index}`).usedMillis);
      const total = used.reduce((sum, millis) => sum + millis, 0);
      expect(total).toBeLessThanOrEqual(cpus * 1000 + 1e-6);
      groups.forEach(({ threads, quota }, index) => {
        const most = Math.min(threads * 1000, quota ?? Number.POSITIVE_INFINITY);
        expect(used[index] ?? 0).toBeLessThanOrEqual(most + 1e-6);
      });
      const free = groups.filter(({ quota }) => quota === undefined).reduce((sum, { threads }) => sum + threads, 0);
      // A group that is throttled in the middle of a step leaves its CPU to others at the next one.
      if (free >= cpus) expect(total).toBeGreaterThanOrEqual(cpus * (1000 - 10));
    }),
    { numRuns: 150 },
  );
});
