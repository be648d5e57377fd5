import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createInformer, type InformerOptions } from './informer.ts';
import {
  added,
  bookmark,
  createScriptedApi,
  deleted,
  errorEvent,
  initialEventsEnd,
  kubeError,
  modified,
  object,
  type ScriptedApi,
} from './testing/scripted-api.ts';
import { ConnectionError } from './transport/transport.ts';

type Options = Partial<InformerOptions<KubeObject, string>>;

/** An informer of `name@rv` records on a scripted API, already running in virtual time. */
async function follow(scripted: ScriptedApi, options: Options = {}) {
  const clock = createVirtualClock(1_000_000);
  const informer = createInformer<KubeObject, string>({
    api: scripted.api,
    type: resources.pods,
    project: ({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`,
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    ...options,
  });
  const changes: string[] = [];
  informer.subscribe({ onChange: (key, before, after) => changes.push(`${key} ${before ?? '-'} > ${after ?? '-'}`) });
  const stop = new AbortController();
  const ended = informer.run(stop.signal);
  await clock.advance(0);
  return {
    clock,
    informer,
    changes,
    records: () => [...informer.store.values()].sort(),
    end: async () => {
      stop.abort(new Error('test over'));
      await ended;
      expect(clock.pendingTimers()).toBe(0);
      for (const watch of scripted.watches) expect(watch.isAborted).toBe(true);
    },
  };
}

/** Answers 422 to WatchList, as servers without the feature do. */
function withoutWatchList(): ScriptedApi {
  const scripted = createScriptedApi();
  scripted.onWatch = ({ sendInitialEvents }) => {
    if (sendInitialEvents)
      throw kubeError(
        422,
        'Invalid',
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      );
  };
  return scripted;
}

describe('WatchList', () => {
  test('WatchList ended by bookmark: nothing is visible before the end mark, everything at once after it', async () => {
    const scripted = createScriptedApi();
    const run = await follow(scripted);
    expect(scripted.watch().options).toMatchObject({ sendInitialEvents: true, resourceVersion: '' });
    scripted.watch().push(added('a', 5), added('b', 3), modified('a', 6));
    await run.clock.advance(0);
    expect(run.informer.store.size).toBe(0);
    expect(run.informer.freshness()).toBe('initial');
    scripted.watch().push(initialEventsEnd(10), modified('b', 11));
    await run.clock.advance(0);
    await run.informer.onSynced;
    expect(run.records()).toEqual(['a@6', 'b@11']);
    expect(run.informer.freshness()).toBe('fresh');
    expect(run.changes).toEqual(['ns/a - > a@6', 'ns/b - > b@3', 'ns/b b@3 > b@11']);
    expect(scripted.watches).toHaveLength(1);
    expect(scripted.lists).toHaveLength(0);
    await run.end();
  });

  test('WatchList fallback: a server that refuses it is listed in pages, and never asked again', async () => {
    const scripted = withoutWatchList();
    scripted.onList = () => ({ items: [object('a', 5)], resourceVersion: '9' });
    const run = await follow(scripted);
    expect(run.records()).toEqual(['a@5']);
    expect(scripted.watch().options).toMatchObject({ resourceVersion: '9' });
    expect(scripted.watch().options.sendInitialEvents).toBeUndefined();
    const asked: (boolean | undefined)[] = [];
    scripted.onWatch = ({ sendInitialEvents }) => void asked.push(sendInitialEvents);
    scripted.watch().push(errorEvent({ code: 410, reason: 'Expired', message: 'too old' }));
    await run.clock.advance(10_000);
    expect(scripted.lists).toHaveLength(2);
    expect(asked).toEqual([undefined]);
    await run.end();
  });

  test('a server that ignores the parameters never sends the end mark: pages are used after a quiet minute', async () => {
    const scripted = createScriptedApi();
    scripted.onList = () => ({ items: [object('a', 5)], resourceVersion: '9' });
    const run = await follow(scripted);
    scripted.watch().push(added('a', 5));
    await run.clock.advance(59_000);
    expect(run.informer.freshness()).toBe('initial');
    await run.clock.advance(2_000);
    expect(run.records()).toEqual(['a@5']);
    expect(scripted.watch().options.resourceVersion).toBe('9');
    await run.end();
  });

  test('a WatchList that ends before its end mark shows nothing of itself; pages are used', async () => {
    const scripted = createScriptedApi();
    scripted.onList = () => ({ items: [object('z', 5)], resourceVersion: '9' });
    const run = await follow(scripted);
    scripted.watch().push(added('half', 5));
    scripted.watch().end();
    await run.clock.advance(0);
    expect(run.records()).toEqual(['z@5']);
    await run.end();
  });

  test('an object deleted during the initial events is not published', async () => {
    const scripted = createScriptedApi();
    const run = await follow(scripted);
    scripted.watch().push(added('a', 5), deleted('a', 7), initialEventsEnd(8));
    await run.clock.advance(0);
    expect(run.records()).toEqual([]);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });
});

describe('paged list', () => {
  test('paging with continue: every page is asked with the token of the one before, without a resourceVersion', async () => {
    const scripted = createScriptedApi();
    scripted.onList = (_, call) =>
      call === 1
        ? { items: [object('a', 1)], resourceVersion: '9', continueToken: 't1' }
        : { items: [object('b', 2)], resourceVersion: '9' };
    const run = await follow(scripted, { useWatchList: false, pageSize: 1 });
    expect(run.records()).toEqual(['a@1', 'b@2']);
    expect(
      scripted.lists.map(({ limit, continueToken, resourceVersion }) => [limit, continueToken, resourceVersion]),
    ).toEqual([
      [1, undefined, undefined],
      [1, 't1', undefined],
    ]);
    await run.end();
  });

  test('expired continue token: 410 in the middle starts over, and nothing of the first try remains', async () => {
    const scripted = createScriptedApi();
    scripted.onList = ({ continueToken }, call) => {
      if (call === 1) return { items: [object('gone', 1)], resourceVersion: '9', continueToken: 'old' };
      if (continueToken === 'old') throw kubeError(410, 'Expired', 'The provided continue parameter is too old');
      return { items: [object('b', 12)], resourceVersion: '20' };
    };
    const run = await follow(scripted, { useWatchList: false });
    expect(run.records()).toEqual(['b@12']);
    expect(run.changes).toEqual(['ns/b - > b@12']);
    expect(scripted.watch().options.resourceVersion).toBe('20');
    await run.end();
  });

  test('a token that expires each time ends in one list without a limit', async () => {
    const scripted = createScriptedApi();
    scripted.onList = ({ continueToken, limit }) => {
      if (limit === undefined) return { items: [object('b', 12)], resourceVersion: '20' };
      if (continueToken !== undefined) throw kubeError(410, 'Expired', 'too old');
      return { items: [], resourceVersion: '9', continueToken: 't' };
    };
    const run = await follow(scripted, { useWatchList: false });
    expect(run.records()).toEqual(['b@12']);
    expect(scripted.lists).toHaveLength(7);
    await run.end();
  });

  test('listEach is preferred: items are projected one by one', async () => {
    const scripted = createScriptedApi();
    const kept: string[] = [];
    const api = {
      ...scripted.api,
      listEach: async (_: unknown, _options: unknown, onItem: (item: never) => void) => {
        onItem(object('a', 4) as never);
        kept.push('projected before the page ended');
        return { resourceVersion: '9' };
      },
    };
    const run = await follow(scripted, { api, useWatchList: false });
    expect(run.records()).toEqual(['a@4']);
    expect(kept).toHaveLength(1);
    expect(scripted.lists).toHaveLength(0);
    await run.end();
  });
});

describe('staying in step', () => {
  async function synced(options: Options = {}, scripted = createScriptedApi()) {
    const run = await follow(scripted, options);
    scripted.watch().push(added('a', 5), added('b', 6), initialEventsEnd(10));
    await run.clock.advance(6_000);
    run.changes.length = 0;
    return { scripted, ...run };
  }

  test('a watch that ends cleanly resumes from the last event, without a list and without becoming stale', async () => {
    const run = await synced();
    run.scripted.watch().push(modified('a', 15));
    await run.clock.advance(0);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.scripted.watches).toHaveLength(2);
    expect(run.scripted.watch().options.resourceVersion).toBe('15');
    expect(run.informer.freshness()).toBe('fresh');
    expect(run.scripted.lists).toHaveLength(0);
    await run.end();
  });

  test('a quiet watch resumes from the last bookmark', async () => {
    const run = await synced();
    run.scripted.watch().push(bookmark(400));
    await run.clock.advance(0);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.scripted.watch().options.resourceVersion).toBe('400');
    await run.end();
  });

  test('410 as an ERROR event mid-stream: list again, deletions missed meanwhile are told', async () => {
    const run = await synced();
    run.scripted
      .watch()
      .push(errorEvent({ code: 410, reason: 'Expired', message: 'too old resource version: 10 (300)' }));
    await run.clock.advance(0);
    expect(run.informer.freshness()).toBe('stale');
    await run.clock.advance(2_000);
    expect(run.scripted.watch().options).toMatchObject({ sendInitialEvents: true, resourceVersion: '' });
    run.scripted.watch().push(added('a', 5), added('c', 301), initialEventsEnd(302));
    await run.clock.advance(0);
    expect(run.changes).toEqual(['ns/b b@6 > -', 'ns/c - > c@301']);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test('410 as the HTTP answer of a resumed watch: list again', async () => {
    const run = await synced();
    run.scripted.onWatch = ({ resourceVersion }) => {
      if (resourceVersion !== '') throw kubeError(410, 'Expired', 'too old resource version');
    };
    run.scripted.watch().end();
    await run.clock.advance(2_000);
    run.scripted.watch().push(initialEventsEnd(302));
    await run.clock.advance(0);
    expect(run.records()).toEqual([]);
    expect(run.changes).toEqual(['ns/a a@5 > -', 'ns/b b@6 > -']);
    await run.end();
  });

  test('too large resource version: the next listing asks for the newest state, not for the same version again', async () => {
    const run = await synced();
    let refused = 0;
    run.scripted.onWatch = ({ resourceVersion }) => {
      if (resourceVersion === '' || refused > 50) return;
      refused++;
      throw kubeError(504, 'Timeout', 'Too large resource version: 10, current: 3', ['ResourceVersionTooLarge']);
    };
    run.scripted.watch().end();
    await run.clock.advance(3_000);
    expect(refused).toBe(1);
    run.scripted.watch().push(added('a', 2), initialEventsEnd(3));
    await run.clock.advance(0);
    // After a restore from a backup versions go back; the older state is the true one.
    expect(run.records()).toEqual(['a@2']);
    run.scripted.watch().push(modified('a', 4));
    await run.clock.advance(0);
    expect(run.records()).toEqual(['a@4']);
    await run.end();
  });

  test('duplicate and late events change nothing', async () => {
    const run = await synced();
    run.scripted
      .watch()
      .push(modified('a', 20), modified('a', 20), modified('a', 15), deleted('b', 21), added('b', 6), deleted('a', 19));
    await run.clock.advance(0);
    expect(run.changes).toEqual(['ns/a a@5 > a@20', 'ns/b b@6 > -']);
    expect(run.records()).toEqual(['a@20']);
    await run.end();
  });

  test('a healthy watch whose connection is lost resumes at once from its position; failing again, it waits', async () => {
    const run = await synced();
    run.scripted.onWatch = () => {
      throw new ConnectionError('refused');
    };
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(0);
    expect(run.informer.freshness()).toBe('stale');
    expect(run.informer.lastError()).toMatchObject({ message: 'refused' });
    run.scripted.onWatch = () => {};
    await run.clock.advance(700);
    expect(run.scripted.watches).toHaveLength(1);
    await run.clock.advance(900);
    expect(run.scripted.watches).toHaveLength(2);
    expect(run.scripted.watch().options.resourceVersion).toBe('10');
    expect(run.informer.freshness()).toBe('fresh');
    expect(run.informer.lastError()).toBeUndefined();
    run.scripted.watch().fail(new ConnectionError('reset before it was healthy'));
    await run.clock.advance(0);
    expect(run.scripted.watches).toHaveLength(2);
    await run.clock.advance(10_000);
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(0);
    expect(run.scripted.watches).toHaveLength(4);
    await run.end();
  });

  test('a position refused again and again is asked for with growing waits', async () => {
    const run = await synced();
    let refused = 0;
    run.scripted.onWatch = () => {
      refused++;
      throw kubeError(410, 'Expired', 'too old');
    };
    run.scripted.watch().end();
    await run.clock.advance(300_000);
    expect(refused).toBeLessThan(15);
    expect(run.informer.freshness()).toBe('stale');
    await run.end();
  });

  test('frozen server detected: a watch that outlives its own timeout is dropped, even one deaf to its signal', async () => {
    const run = await synced({}, createScriptedApi({ isDeaf: true }));
    const { timeoutSeconds = 0 } = run.scripted.watch().options;
    expect(timeoutSeconds).toBeGreaterThanOrEqual(300);
    expect(timeoutSeconds).toBeLessThanOrEqual(600);
    await run.clock.advance((timeoutSeconds + 8) * 1000);
    expect(run.scripted.watches).toHaveLength(1);
    await run.clock.advance(5_000);
    expect(run.scripted.watches.length).toBeGreaterThan(1);
    expect(run.scripted.watches[0]?.isAborted).toBe(true);
    await run.end();
  });

  test('watch timeouts differ from watch to watch', async () => {
    const run = await synced();
    for (let count = 0; count < 20; count++) {
      await run.clock.advance(6_000);
      run.scripted.watch().end();
      await run.clock.advance(0);
    }
    expect(new Set(run.scripted.watches.map(({ options }) => options.timeoutSeconds)).size).toBeGreaterThan(10);
    await run.end();
  });

  test('a server that ends each watch at once is not asked in a tight loop', async () => {
    const run = await synced();
    let opened = 0;
    run.scripted.onWatch = () => void opened++;
    run.scripted.watch().end();
    for (let second = 0; second < 600; second++) {
      await run.clock.advance(1_000);
      run.scripted.watch().end();
    }
    // With 30 to 60 s between attempts, ten minutes hold at most some 25.
    expect(opened).toBeLessThan(30);
    expect(opened).toBeGreaterThan(8);
    await run.end();
  });

  test('429 with Retry-After: waits as long as asked', async () => {
    const run = await synced();
    let opened = 0;
    run.scripted.onWatch = () => {
      opened++;
      if (opened === 1) throw kubeError(429, 'TooManyRequests', 'slow down', [], 20_000);
    };
    run.scripted.watch().end();
    await run.clock.advance(19_000);
    expect(opened).toBe(1);
    await run.clock.advance(1_500);
    expect(opened).toBe(2);
    expect(run.scripted.watch().options.resourceVersion).toBe('10');
    await run.end();
  });

  test('contact is counted for events and bookmarks', async () => {
    const run = await synced();
    const before = run.informer.lastContactMillis();
    await run.clock.advance(60_000);
    expect(run.informer.lastContactMillis()).toBe(before);
    run.scripted.watch().push(bookmark(50));
    await run.clock.advance(0);
    expect(run.informer.lastContactMillis()).toBe(run.clock.now());
    await run.end();
  });

  test('a forbidden list is retried with growing waits and never marks the store fresh', async () => {
    const scripted = createScriptedApi();
    let asked = 0;
    scripted.onList = () => {
      asked++;
      throw kubeError(403, 'Forbidden', 'pods is forbidden');
    };
    const run = await follow(scripted, { useWatchList: false });
    await run.clock.advance(600_000);
    expect(asked).toBeLessThan(30);
    expect(run.informer.freshness()).toBe('initial');
    expect(run.informer.lastError()).toMatchObject({ httpStatus: 403 });
    await run.end();
    await expect(run.informer.onSynced).rejects.toThrow('test over');
  });
});
