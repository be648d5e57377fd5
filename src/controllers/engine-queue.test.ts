import { describe, expect, test } from 'vitest';
import { sleep } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createBreather, createEngineQueue, type Look } from './engine-queue.ts';

function setUp() {
  const clock = createVirtualClock(0);
  const metrics = createMetrics();
  const queue = createEngineQueue<'workload'>({
    name: 'placement',
    workers: 1,
    retryPolicy: { initialMillis: 1_000, factor: 2, maxMillis: 4_000, jitter: 0 },
    metrics,
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
  });
  const handled: string[] = [];
  const start = (stop = new AbortController()) => {
    const look: Look = async (key) => {
      handled.push(key);
      if (key === 'slow') await sleep(clock, 10);
      if (key === 'broken' && !handled.includes('slow')) throw new Error('no');
      return undefined;
    };
    return { stop, ended: queue.run({ workload: look }, stop.signal) };
  };
  const series = async (): Promise<string[]> =>
    (await metrics.render())
      .split('\n')
      .filter((line) => /^stowage_workqueue_(depth|failing_seconds|\w+_total)/.test(line));
  return { clock, queue, handled, start, series };
}

describe('the queue of an engine', () => {
  test('handles what is woken while it runs, and nothing else', async () => {
    const { clock, queue, handled, start } = setUp();
    queue.wake('workload', 'early');
    const first = start();
    queue.wake('workload', 'now');
    queue.wake('workload', 'later', 500);
    await clock.advance(499);
    expect(handled).toEqual(['now']);
    await clock.advance(1);
    expect(handled).toEqual(['now', 'later']);
    queue.wake('workload', 'waits', 1_000);
    first.stop.abort();
    await first.ended;
    queue.wake('workload', 'late');
    await clock.advance(2_000);
    const second = start();
    queue.wake('workload', 'again');
    await clock.advance(2_000);
    second.stop.abort();
    await second.ended;
    expect(handled).toEqual(['now', 'later', 'again']);
  });

  test('tells how it does', async () => {
    const { clock, queue, start, series } = setUp();
    expect(await series()).toEqual([
      'stowage_workqueue_depth{queue="placement"} 0',
      'stowage_workqueue_failing_seconds{queue="placement"} 0',
    ]);
    const { stop, ended } = start();
    queue.wake('workload', 'broken');
    await clock.advance(995);
    queue.wake('workload', 'slow');
    queue.wake('workload', 'good');
    await clock.advance(0);
    queue.wake('workload', 'slow');
    // While they wait, one of them for its own worker.
    expect(await series()).toEqual([
      'stowage_workqueue_depth{queue="placement"} 2',
      'stowage_workqueue_adds_total{queue="placement"} 4',
      'stowage_workqueue_retries_total{queue="placement"} 1',
      'stowage_workqueue_failing_seconds{queue="placement"} 0.995',
    ]);
    await clock.advance(1_000);
    expect(await series()).toEqual([
      'stowage_workqueue_depth{queue="placement"} 0',
      'stowage_workqueue_adds_total{queue="placement"} 5',
      'stowage_workqueue_retries_total{queue="placement"} 1',
      'stowage_workqueue_failing_seconds{queue="placement"} 0',
    ]);
    stop.abort();
    await ended;
  });
});

test('a loop gives way once it has worked for a while, and not before', async () => {
  const clock = createVirtualClock(1_000);
  const breathe = createBreather(clock);
  let breaths = 0;
  const breath = async (): Promise<void> => {
    await breathe();
    breaths++;
  };
  const first = breath();
  await Promise.resolve();
  expect(breaths).toBe(0);
  await clock.advance(0);
  await first;
  await clock.advance(7);
  await breath();
  expect(breaths).toBe(2);
  await clock.advance(1);
  const third = breath();
  await Promise.resolve();
  expect(breaths).toBe(2);
  await clock.advance(0);
  await third;
});

test('a clock that is set back keeps a loop from giving way no longer than any other', async () => {
  const clock = createVirtualClock(1_000_000);
  let setBack = 0;
  const breathe = createBreather({ now: () => clock.now() - setBack, setTimer: clock.setTimer });
  const first = breathe();
  await clock.advance(0);
  await first;
  setBack = 500_000;
  let breaths = 0;
  const second = breathe().then(() => breaths++);
  await Promise.resolve();
  expect(breaths).toBe(0);
  await clock.advance(0);
  await second;
  expect(breaths).toBe(1);
});
