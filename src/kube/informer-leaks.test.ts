/** What a long life leaves behind: nothing. Counted, not measured: a heap is never the same twice. */
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import type { KubeApi, WatchEvent, WatchOptions } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import { sleep } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createInformer } from './informer.ts';
import { createScriptedApi } from './testing/scripted-api.ts';

const PODS = 5;
const EVENTS = 10;
const RECONNECTS = 1_000;

const podAt = (version: number): KubeObject => ({
  metadata: {
    namespace: 'ns',
    name: `p${version % PODS}`,
    uid: `u${version % PODS}`,
    resourceVersion: String(version),
  },
});

test('10,000 watch events and 1,000 reconnects leave no timer, no listener and no record behind', async () => {
  const clock = createVirtualClock(1_000_000);
  const signals: (AbortSignal | undefined)[] = [];
  let version = 10;
  let watches = 0;
  async function* watch(_type: unknown, options: WatchOptions = {}): AsyncGenerator<WatchEvent<never>> {
    watches++;
    signals[0] = options.signal;
    options.onOpen?.();
    // The server's own end of a watch comes after a while.
    await sleep(clock, 1_000, options.signal);
    for (let index = 0; index < EVENTS; index++) {
      version++;
      yield { type: 'MODIFIED', object: podAt(version) } as WatchEvent<never>;
    }
  }
  const scripted = createScriptedApi();
  scripted.onList = () => ({ items: Array.from({ length: PODS }, (_, index) => podAt(index)), resourceVersion: '10' });
  const api: KubeApi = { ...scripted.api, watch };
  const informer = createInformer<KubeObject, string>({
    api,
    type: resources.pods,
    project: ({ metadata }) => String(metadata?.resourceVersion),
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    useWatchList: false,
  });
  const stop = new AbortController();
  const ended = informer.run(stop.signal);
  const counts = () => ({
    timers: clock.pendingTimers(),
    listeners: getEventListeners(stop.signal, 'abort').length,
    ofWatch: signals[0] === undefined ? 0 : getEventListeners(signals[0], 'abort').length,
    records: informer.store.size,
  });
  const until = async (count: number): Promise<void> => {
    for (let step = 0; watches < count && step < 100_000; step++) await clock.advance(60_000);
    expect(watches).toBeGreaterThanOrEqual(count);
  };
  await until(20);
  const young = counts();
  await until(20 + RECONNECTS);
  const old = counts();
  expect(version).toBeGreaterThan(EVENTS * RECONNECTS);
  expect(old.records).toBe(PODS);
  for (const name of ['timers', 'listeners', 'ofWatch'] as const)
    expect(old[name], name).toBeLessThanOrEqual(young[name] + 1);
  expect(old.timers).toBeLessThan(5);
  stop.abort(new Error('test over'));
  await ended;
  expect(clock.pendingTimers()).toBe(0);
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
});
