/** What an API server in trouble is asked by those who follow it, and what they make of answers that are none. */
import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { followScripted, syncScripted } from './testing/follow-scripted.ts';
import {
  added,
  createScriptedApi,
  errorEvent,
  initialEventsEnd,
  kubeError,
  modified,
  object,
  type ScriptedWatch,
} from './testing/scripted-api.ts';
import { ConnectionError } from './transport/transport.ts';

describe('listing anew', () => {
  test.each([
    ['500', kubeError(500, 'InternalError', 'etcdserver: request timed out')],
    ['404', kubeError(404, 'NotFound', 'the server could not find the requested resource')],
    ['no answer', new ConnectionError('refused')],
  ])(
    'is not what follows where quiet watches end, and the question how far the server is gets %s',
    async (_, error) => {
      const run = await syncScripted();
      run.scripted.onList = () => {
        throw error;
      };
      for (let quiet = 1; quiet <= 10; quiet++) {
        await run.clock.advance((run.scripted.watch().options.timeoutSeconds ?? 0) * 1000);
        run.scripted.watch().end();
        const { length } = run.scripted.watches;
        while (run.scripted.watches.length === length) await run.clock.advance(1_000);
        expect(run.scripted.lists).toHaveLength(quiet);
        expect(run.scripted.watch().options).toMatchObject({ resourceVersion: '10' });
      }
      await run.end();
    },
  );

  test('a server that lists well and refuses every watch is listed with growing waits', async () => {
    const scripted = createScriptedApi();
    let lists = 0;
    scripted.onList = () => {
      lists++;
      return { items: [object('a', 5)], resourceVersion: '9' };
    };
    scripted.onWatch = () => {
      throw kubeError(410, 'Expired', 'too old resource version');
    };
    const run = await followScripted(scripted, { useWatchList: false });
    await run.clock.advance(600_000);
    // 30 to 60 s lie between them in the end.
    expect(lists).toBeLessThan(30);
    expect(lists).toBeGreaterThan(10);
    expect(run.clock.now() - run.informer.lastContactMillis()).toBeLessThanOrEqual(60_000);
    await run.end();
  });

  const tooOld = errorEvent({ code: 410, reason: 'Expired', message: 'too old resource version' });
  test.each<[string, (watch: ScriptedWatch) => void, (watch: ScriptedWatch) => void, string]>([
    [
      'that sends the present state and then refuses to go on',
      () => {},
      (watch) => watch.push(added('a', 5), initialEventsEnd(10), tooOld),
      'stale',
    ],
    [
      'whose connection breaks in the middle of the present state',
      (watch) => watch.push(added('a', 5)),
      (watch) => watch.fail(new ConnectionError('reset')),
      'initial',
    ],
    [
      'that refuses its own position in the middle of the present state',
      (watch) => watch.push(added('a', 5)),
      (watch) => watch.push(tooOld),
      'initial',
    ],
  ])('one %s, too, in whatever time it takes', async (_, begin, breakOff, freshness) => {
    const scripted = createScriptedApi();
    const run = await followScripted(scripted);
    let last = 0;
    for (let second = 0; second < 600; second++) {
      if (scripted.watches.length > last) {
        last = scripted.watches.length;
        begin(scripted.watch());
        await run.clock.advance(8_000);
        breakOff(scripted.watch());
      }
      await run.clock.advance(1_000);
    }
    expect(scripted.watches.length).toBeLessThan(30);
    expect(run.informer.freshness()).toBe(freshness);
    await run.end();
  });

  test('after a watch that was healthy, being refused is nothing unusual again', async () => {
    const run = await syncScripted();
    for (let round = 0; round < 5; round++) {
      run.scripted.watch().push(errorEvent({ code: 410, reason: 'Expired', message: 'too old' }));
      await run.clock.advance(2_000);
      expect(run.scripted.watch().options.sendInitialEvents).toBe(true);
      run.scripted.watch().push(added('a', 5), initialEventsEnd(10));
      await run.clock.advance(6_000);
      expect(run.informer.freshness()).toBe('fresh');
    }
    await run.end();
  });
});

test('an outage of an hour is logged once for each cause, and again when it comes back after an end', async () => {
  const told: string[] = [];
  const note = ({ error }: { readonly error?: unknown }): void => void told.push(String(error));
  const log = { ...createSilentLogger(), info: note, warn: note };
  const run = await syncScripted({ log });
  told.length = 0;
  for (let outage = 0; outage < 2; outage++) {
    let refusal = 'refused';
    run.scripted.onWatch = () => {
      throw new ConnectionError(refusal);
    };
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(1_800_000);
    refusal = 'timed out';
    await run.clock.advance(1_800_000);
    run.scripted.onWatch = () => {};
    await run.clock.advance(62_000);
    expect(run.informer.freshness()).toBe('fresh');
  }
  const causes = ['reset', 'refused', 'timed out'].map((cause) => `ConnectionError: ${cause}`);
  expect(told).toEqual([...causes, ...causes]);
  await run.end();
});

describe('a watch', () => {
  test('that is not accepted within half a minute counts as broken: nothing is known of what happens', async () => {
    const scripted = createScriptedApi();
    let hangs = false;
    const api: KubeApi = {
      ...scripted.api,
      async *watch(type, options = {}) {
        const { signal } = options;
        if (hangs) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
        else yield* scripted.api.watch(type, options);
      },
    };
    const run = await syncScripted({ api }, scripted);
    hangs = true;
    scripted.watch().end();
    await run.clock.advance(29_000);
    expect(run.informer.freshness()).toBe('fresh');
    await run.clock.advance(1_000);
    expect(run.informer.freshness()).toBe('stale');
    hangs = false;
    await run.clock.advance(3_000);
    expect(run.informer.freshness()).toBe('fresh');
    expect(scripted.watch().options.resourceVersion).toBe('10');
    await run.end();
  });

  test('whose head a proxy keeps until there is an event is asked for again now and then, and right when one comes', async () => {
    const scripted = createScriptedApi();
    let letThrough: (() => void) | undefined;
    let isHeld = false;
    let asked = 0;
    const api: KubeApi = {
      ...scripted.api,
      async *watch(type, options = {}) {
        const { signal } = options;
        asked++;
        if (isHeld)
          await new Promise<void>((resolve, reject) => {
            letThrough = resolve;
            signal?.addEventListener('abort', () => reject(signal.reason));
          });
        yield* scripted.api.watch(type, options);
      },
    };
    const run = await syncScripted({ api }, scripted);
    isHeld = true;
    scripted.watch().end();
    await run.clock.advance(600_000);
    expect(asked).toBeLessThan(20);
    expect(run.informer.freshness()).toBe('stale');
    const before = asked;
    while (asked === before) await run.clock.advance(1_000);
    letThrough?.();
    await run.clock.advance(0);
    expect(scripted.watch().options.resourceVersion).toBe('10');
    scripted.watch().push(modified('a', 20));
    await run.clock.advance(1_000);
    expect(run.records()).toEqual(['a@20']);
    expect(run.informer.freshness()).toBe('fresh');
    expect(scripted.lists).toHaveLength(0);
    await run.end();
  });

  test('that is cut after each event is asked for about once a second', async () => {
    const run = await syncScripted();
    const before = run.scripted.watches.length;
    let version = 11;
    for (let step = 0; step < 600; step++) {
      const watch = run.scripted.watch();
      if (!watch.isAborted) {
        watch.push(modified('a', version++));
        watch.end();
      }
      await run.clock.advance(100);
    }
    expect(run.scripted.watches.length - before).toBeLessThan(62);
    expect(run.scripted.watches.length - before).toBeGreaterThan(50);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test.each([
    ['breaks', (watch: ScriptedWatch) => watch.fail(new ConnectionError('reset'))],
    ['is ended before its time', (watch: ScriptedWatch) => watch.end()],
  ])('of which there are thousands and that %s is opened again at a time of its own', async (_, end) => {
    const comeBack = async (seed: number): Promise<number> => {
      const run = await syncScripted({ random: createSeededRandom(seed), resumeSpreadMillis: 5_000 });
      const before = run.scripted.watches.length;
      end(run.scripted.watch());
      let waited = 0;
      for (; run.scripted.watches.length === before; waited += 100) await run.clock.advance(100);
      await run.end();
      return waited;
    };
    const waits = await Promise.all(Array.from({ length: 20 }, (_none, seed) => comeBack(seed)));
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_100);
    expect(new Set(waits).size).toBeGreaterThan(10);
  });

  test('that ends when its time is over is opened again at once, also where there are thousands', async () => {
    const run = await syncScripted({ resumeSpreadMillis: 5_000 });
    const { timeoutSeconds = 0 } = run.scripted.watch().options;
    run.scripted.watch().push(modified('a', 11));
    await run.clock.advance(timeoutSeconds * 1000 - 6_000);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.scripted.watches).toHaveLength(2);
    await run.end();
  });

  test('sent away with Retry-After does not come back at the same instant as all the others', async () => {
    const comeBack = async (seed: number): Promise<number> => {
      const run = await syncScripted({ random: createSeededRandom(seed) });
      let openedAt = 0;
      run.scripted.onWatch = () => {
        openedAt = run.clock.now();
        if (openedAt === sentAwayAt) throw kubeError(429, 'TooManyRequests', 'slow down', [], 10_000);
      };
      const sentAwayAt = run.clock.now();
      run.scripted.watch().end();
      await run.clock.advance(12_000);
      await run.end();
      return openedAt - sentAwayAt;
    };
    const waits = await Promise.all(Array.from({ length: 20 }, (_, seed) => comeBack(seed)));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(10_000);
    expect(new Set(waits).size).toBeGreaterThan(10);
  });
});
