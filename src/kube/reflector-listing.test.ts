import { describe, expect, test } from 'vitest';
import { followScripted, withoutWatchList } from './testing/follow-scripted.ts';
import {
  added,
  createScriptedApi,
  deleted,
  errorEvent,
  initialEventsEnd,
  kubeError,
  modified,
  object,
} from './testing/scripted-api.ts';
import { ConnectionError } from './transport/transport.ts';

describe('WatchList', () => {
  test('WatchList ended by bookmark: nothing is visible before the end mark, everything at once after it', async () => {
    const scripted = createScriptedApi();
    const run = await followScripted(scripted);
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
    const run = await followScripted(scripted);
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
    const run = await followScripted(scripted);
    scripted.watch().push(added('a', 5));
    await run.clock.advance(59_000);
    expect(run.informer.freshness()).toBe('initial');
    await run.clock.advance(2_000);
    expect(run.records()).toEqual(['a@5']);
    expect(scripted.watch().options.resourceVersion).toBe('9');
    // It may have been an accident.
    scripted.watch().push(errorEvent({ code: 410, reason: 'Expired', message: 'too old' }));
    await run.clock.advance(2_000);
    expect(scripted.watch().options.sendInitialEvents).toBe(true);
    await run.end();
  });

  test('a WatchList may take minutes, as long as something comes', async () => {
    const scripted = createScriptedApi();
    const run = await followScripted(scripted);
    for (let version = 1; version <= 4; version++) {
      await run.clock.advance(59_000);
      scripted.watch().push(added(`p${version}`, version));
      await run.clock.advance(0);
      expect(run.informer.lastContactMillis()).toBe(run.clock.now());
    }
    await run.clock.advance(59_000);
    scripted.watch().push(initialEventsEnd(5));
    await run.clock.advance(0);
    expect(run.informer.store.size).toBe(4);
    expect(run.informer.freshness()).toBe('fresh');
    expect(scripted.watches).toHaveLength(1);
    await run.end();
  });

  test('a WatchList that ends before its end mark shows nothing of itself; pages are used', async () => {
    const scripted = createScriptedApi();
    scripted.onList = () => ({ items: [object('z', 5)], resourceVersion: '9' });
    const run = await followScripted(scripted);
    scripted.watch().push(added('half', 5));
    scripted.watch().end();
    await run.clock.advance(0);
    expect(run.records()).toEqual(['z@5']);
    await run.end();
  });

  test('an object deleted during the initial events is not published', async () => {
    const scripted = createScriptedApi();
    const run = await followScripted(scripted);
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
    const run = await followScripted(scripted, { useWatchList: false, pageSize: 1 });
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
    const run = await followScripted(scripted, { useWatchList: false });
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
    const run = await followScripted(scripted, { useWatchList: false });
    expect(run.records()).toEqual(['b@12']);
    expect(scripted.lists).toHaveLength(7);
    await run.end();
  });

  test('a listing that fails after a long watch is tried again with growing waits, not in a tight loop', async () => {
    const scripted = withoutWatchList();
    const run = await followScripted(scripted);
    await run.clock.advance(60_000);
    let asked = 0;
    scripted.onList = () => {
      // Bounded, or the test would never end where no wait lies between.
      if (++asked <= 50) throw new ConnectionError('refused');
      return { items: [], resourceVersion: '9' };
    };
    scripted.watch().push(errorEvent({ code: 410, reason: 'Expired', message: 'too old' }));
    await run.clock.advance(10_000);
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(10);
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
    const run = await followScripted(scripted, { api, useWatchList: false });
    expect(run.records()).toEqual(['a@4']);
    expect(kept).toHaveLength(1);
    expect(scripted.lists).toHaveLength(0);
    await run.end();
  });
});
