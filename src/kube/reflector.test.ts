import { describe, expect, test } from 'vitest';
import { type FollowOptions, followScripted } from './testing/follow-scripted.ts';
import {
  added,
  bookmark,
  createScriptedApi,
  deleted,
  errorEvent,
  initialEventsEnd,
  kubeError,
  modified,
} from './testing/scripted-api.ts';
import { ConnectionError } from './transport/transport.ts';

describe('staying in step', () => {
  async function synced(options: FollowOptions = {}, scripted = createScriptedApi()) {
    const run = await followScripted(scripted, options);
    scripted.watch().push(added('a', 5), added('b', 6), initialEventsEnd(10));
    await run.clock.advance(6_000);
    run.changes.length = 0;
    return { scripted, ...run };
  }

  test('hazard H34: bug 39: a watch that ends cleanly resumes from the last event, without a list and without becoming stale', async () => {
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
    // It ends on the wire as well, or the server would keep one for each 410.
    expect(run.scripted.watches[0]?.isAborted).toBe(true);
    // As long as any: what a restored backup would hide was just listed.
    expect(run.scripted.watch().options.timeoutSeconds).toBeGreaterThanOrEqual(300);
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
    await run.clock.advance(1_000);
    expect(run.informer.freshness()).toBe('fresh');
    expect(run.informer.lastError()).toBeUndefined();
    run.scripted.watch().fail(new ConnectionError('reset before it was healthy'));
    await run.clock.advance(0);
    expect(run.scripted.watches).toHaveLength(2);
    await run.clock.advance(10_000);
    run.scripted.onList = () => ({ items: [], resourceVersion: '10' });
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(0);
    expect(run.scripted.watches).toHaveLength(4);
    await run.end();
  });

  test('a watch that comes back is believed a second later: what was missed follows in it, one event after the other', async () => {
    const run = await synced();
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(0);
    expect(run.scripted.watches).toHaveLength(2);
    expect(run.informer.freshness()).toBe('stale');
    run.scripted.watch().push(modified('a', 20));
    await run.clock.advance(999);
    expect(run.records()).toContain('a@20');
    expect(run.informer.freshness()).toBe('stale');
    await run.clock.advance(1);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test('one that breaks again within the second is not believed; one the server ends is, a second after the next', async () => {
    const run = await synced();
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(500);
    run.scripted.watch().fail(new ConnectionError('reset again'));
    run.scripted.onWatch = () => {
      throw new ConnectionError('refused');
    };
    await run.clock.advance(10_000);
    expect(run.informer.freshness()).toBe('stale');
    run.scripted.onWatch = () => {};
    const before = run.scripted.watches.length;
    while (run.scripted.watches.length === before) await run.clock.advance(100);
    run.scripted.watch().push(modified('a', 30));
    await run.clock.advance(100);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.informer.freshness()).toBe('stale');
    await run.clock.advance(1_000);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test('a server that ends the watch normally and is gone then is not healthy: the retries wait', async () => {
    const run = await synced();
    let refused = 0;
    run.scripted.onWatch = () => {
      refused++;
      throw new ConnectionError('refused');
    };
    run.scripted.watch().end();
    await run.clock.advance(700);
    expect(refused).toBe(1);
    expect(run.informer.freshness()).toBe('stale');
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
    await run.clock.advance(1_800);
    expect(opened).toBe(2);
    expect(run.scripted.watch().options.resourceVersion).toBe('10');
    await run.end();
  });

  test('contact is counted for events, bookmarks and watches that are accepted', async () => {
    const run = await synced();
    const before = run.informer.lastContactMillis();
    await run.clock.advance(60_000);
    expect(run.informer.lastContactMillis()).toBe(before);
    for (const tell of [
      () => run.scripted.watch().push(bookmark(50)),
      () => run.scripted.watch().push(modified('a', 60)),
      () => run.scripted.watch().end(),
    ]) {
      await run.clock.advance(7_000);
      tell();
      await run.clock.advance(0);
      expect(run.informer.lastContactMillis()).toBe(run.clock.now());
    }
    await run.end();
  });

  test('a forbidden list is retried with growing waits and never marks the store fresh', async () => {
    const scripted = createScriptedApi();
    let asked = 0;
    scripted.onList = () => {
      asked++;
      throw kubeError(403, 'Forbidden', 'pods is forbidden');
    };
    const run = await followScripted(scripted, { useWatchList: false });
    await run.clock.advance(600_000);
    expect(asked).toBeLessThan(30);
    expect(run.informer.freshness()).toBe('initial');
    expect(run.informer.lastError()).toMatchObject({ httpStatus: 403 });
    await run.end();
    await expect(run.informer.onSynced).rejects.toThrow('test over');
  });
});
