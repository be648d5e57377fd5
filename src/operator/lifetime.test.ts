import { expect, test } from 'vitest';
import type { LeadingEnd } from '../kube/leader.ts';
import { createDeferred } from '../lib/deferred.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { startLifetime } from './lifetime.ts';

/** What runs notes when it is told to end, and ends when the test says so. */
function start() {
  const clock = createVirtualClock(0);
  const seen: string[] = [];
  const stopping = new AbortController();
  const acting = createDeferred<LeadingEnd>();
  const [standing, drained, closed] = [createDeferred<void>(), createDeferred<void>(), createDeferred<void>()];
  const noteEnd = (what: string, signal: AbortSignal): void =>
    signal.addEventListener('abort', () => void seen.push(what), { once: true });
  let offMillis = 0;
  const lifetime = startLifetime({
    stopping,
    act(signal) {
      noteEnd('act', signal);
      return acting.promise;
    },
    stand(signal) {
      noteEnd('stand', signal);
      return standing.promise;
    },
    drain() {
      seen.push('drain');
      return drained.promise;
    },
    close() {
      seen.push('close');
      return closed.promise;
    },
    clock: { now: () => clock.now() + offMillis, setTimer: clock.setTimer },
    log: createSilentLogger(),
  });
  const endsWith = lifetime.ended.then(
    () => 'well',
    (error: { code: string }) => error.code,
  );
  void endsWith.then((how) => seen.push(how));
  const settle = (): Promise<void> => clock.advance(1);
  const setClock = (byMillis: number): void => {
    offMillis += byMillis;
  };
  return { lifetime, seen, acting, standing, drained, closed, clock, settle, setClock };
}

test('caches end after all that acts has ended and what was asked is answered; ports close last', async () => {
  const { lifetime, seen, acting, standing, drained, closed, settle } = start();
  void lifetime.stop();
  await settle();
  expect(seen).toEqual(['act', 'drain']);
  drained.resolve();
  await settle();
  expect(seen).toEqual(['act', 'drain']);
  acting.resolve('stopped');
  await settle();
  expect(seen).toEqual(['act', 'drain', 'stand']);
  standing.resolve();
  await settle();
  expect(seen).toEqual(['act', 'drain', 'stand', 'close']);
  closed.resolve();
  await settle();
  expect(seen).toEqual(['act', 'drain', 'stand', 'close', 'well']);
});

test('what was asked is answered on caches that are followed, however soon the rest ends', async () => {
  const { lifetime, seen, acting, settle } = start();
  void lifetime.stop();
  acting.resolve('stopped');
  await settle();
  expect(seen).toEqual(['act', 'drain']);
});

test('is stopped once, however often that is asked', () => {
  const { lifetime, seen } = start();
  expect(lifetime.stop()).toBe(lifetime.stop());
  expect(seen).toEqual(['act', 'drain']);
});

test.each<[LeadingEnd, string]>([
  ['lost', 'LEASE_LOST'],
  ['failed', 'LEADER_FAILED'],
])('leading that ends as %s ends all in the same order, and then tells why', async (how, code) => {
  const { seen, acting, standing, drained, closed, settle } = start();
  acting.resolve(how);
  drained.resolve();
  standing.resolve();
  await settle();
  expect(seen).toEqual(['act', 'drain', 'stand', 'close']);
  closed.resolve();
  await settle();
  expect(seen.at(-1)).toBe(code);
});

test('a clock that was set ends it, once what acts has ended', async () => {
  const { seen, acting, standing, drained, closed, clock, settle, setClock } = start();
  for (const { resolve } of [standing, drained, closed]) resolve();
  setClock(3_600_000);
  await clock.advance(5_000);
  expect(seen).toEqual(['act', 'drain']);
  acting.resolve('stopped');
  await settle();
  expect(seen).toEqual(['act', 'drain', 'stand', 'close', 'CLOCK_SET']);
});
