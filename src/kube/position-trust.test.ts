/** Where a watch goes on after trouble, and when all is listed anew. */
import { describe, expect, test } from 'vitest';
import { KubeError } from '../api/kube-error.ts';
import { MalformedAnswerError } from './json-stream.ts';
import { syncScripted } from './testing/follow-scripted.ts';
import {
  added,
  bookmark,
  deleted,
  initialEventsEnd,
  kubeError,
  modified,
  object,
  type ScriptedWatch,
} from './testing/scripted-api.ts';
import { ConnectionError } from './transport/transport.ts';

/** What something before the API server answers: no Status. */
const badGateway = () => new KubeError(502, undefined, 'The API server answered HTTP 502: <html>.');

describe('trouble of a server that says nothing about the position', () => {
  test('a proxy that has lost its server for minutes costs no listing: the watch goes on where it was', async () => {
    const run = await syncScripted();
    run.scripted.onWatch = () => {
      throw badGateway();
    };
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(300_000);
    expect(run.informer.freshness()).toBe('stale');
    run.scripted.onWatch = () => {};
    await run.clock.advance(62_000);
    expect(run.scripted.watch().options).toMatchObject({ resourceVersion: '10' });
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test.each([
    ['403, while it reads its roles', 403, 'Forbidden'],
    ['401, while it reads its keys', 401, 'Unauthorized'],
    ['500', 500, 'InternalError'],
  ])(
    'before all is listed, an API server that has just begun and answers %s is asked for the watch twice more',
    async (...[, code, reason]) => {
      const run = await syncScripted();
      const asked: (string | undefined)[] = [];
      run.scripted.onWatch = ({ resourceVersion }) => {
        asked.push(resourceVersion);
        if (resourceVersion !== '') throw kubeError(code, reason, 'not yet');
      };
      run.scripted.watch().fail(new ConnectionError('reset'));
      await run.clock.advance(60_000);
      expect(asked).toEqual(['10', '10', '10', '']);
      await run.end();
    },
  );
});

describe('a backup of the API server that was restored', () => {
  test('is noticed by the silence: a watch from what it has not come to yet is accepted, and brings nothing', async () => {
    const run = await syncScripted();
    run.scripted.onList = () => ({ items: [object('a', 3)], resourceVersion: '4', continueToken: 'more' });
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(1_000);
    expect(run.informer.freshness()).toBe('fresh');
    const { resourceVersion, timeoutSeconds = 0 } = run.scripted.watch().options;
    expect(resourceVersion).toBe('10');
    expect(timeoutSeconds).toBeGreaterThanOrEqual(60);
    expect(timeoutSeconds).toBeLessThanOrEqual(120);
    await run.clock.advance(timeoutSeconds * 1000);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.informer.freshness()).toBe('stale');
    expect(run.informer.lastError()).toMatchObject({
      message:
        'The API server is at version 4 of pods, behind 10, which it has sent before: a backup was restored. They are listed anew.',
    });
    expect(run.scripted.lists).toMatchObject([{ limit: 1 }]);
    await run.clock.advance(2_000);
    expect(run.scripted.watch().options).toMatchObject({ sendInitialEvents: true, resourceVersion: '' });
    run.scripted.watch().push(added('a', 3), initialEventsEnd(4));
    await run.clock.advance(0);
    expect(run.records()).toEqual(['a@3']);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test('is looked for by the first watch after a break; the next one lasts as long as any', async () => {
    const run = await syncScripted();
    run.scripted.watch().fail(new ConnectionError('reset'));
    await run.clock.advance(0);
    expect(run.scripted.watch().options.timeoutSeconds).toBeLessThanOrEqual(120);
    await run.clock.advance(6_000);
    run.scripted.watch().push(bookmark(11));
    await run.clock.advance(0);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.scripted.watch().options.timeoutSeconds).toBeGreaterThanOrEqual(300);
    await run.end();
  });

  test.each(['10', '4711', 'x'])(
    'is not suspected where a type is quiet and its newest version is %s',
    async (newest) => {
      const run = await syncScripted();
      run.scripted.onList = () => ({ items: [], resourceVersion: newest });
      const { timeoutSeconds = 0 } = run.scripted.watch().options;
      await run.clock.advance(timeoutSeconds * 1000 - 6_000);
      run.scripted.watch().end();
      await run.clock.advance(0);
      expect(run.scripted.watch().options).toMatchObject({ resourceVersion: '10' });
      expect(run.informer.freshness()).toBe('fresh');
      expect(run.scripted.lists).toHaveLength(1);
      await run.end();
    },
  );

  test.each([
    ['a proxy that has lost its server', badGateway()],
    ['500', kubeError(500, 'InternalError', 'etcdserver: request timed out')],
    ['403', kubeError(403, 'Forbidden', 'not yet')],
    ['no answer', new ConnectionError('refused')],
  ])('is no more suspected where the question is answered by %s: the watch goes on where it was', async (_, error) => {
    const run = await syncScripted();
    run.scripted.onList = () => {
      throw error;
    };
    const { timeoutSeconds = 0 } = run.scripted.watch().options;
    await run.clock.advance(timeoutSeconds * 1000 - 6_000);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.informer.freshness()).toBe('stale');
    expect(run.scripted.watches).toHaveLength(1);
    await run.clock.advance(3_000);
    expect(run.scripted.watch().options).toMatchObject({ resourceVersion: '10' });
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test.each([
    ['bookmarks', bookmark(4)],
    ['changes', modified('a', 6)],
    ['deletions', deleted('a', 4)],
  ])('is noticed as well where the watch tells of %s from before its position', async (_, event) => {
    const run = await syncScripted();
    run.scripted.onList = () => ({ items: [object('a', 6)], resourceVersion: '6' });
    const { timeoutSeconds = 0 } = run.scripted.watch().options;
    run.scripted.watch().push(event);
    await run.clock.advance(timeoutSeconds * 1000 - 6_000);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.records()).toEqual(['a@5']);
    expect(run.informer.freshness()).toBe('stale');
    await run.clock.advance(2_000);
    expect(run.scripted.watch().options).toMatchObject({ sendInitialEvents: true });
    run.scripted.watch().push(added('a', 6), initialEventsEnd(7));
    await run.clock.advance(0);
    expect(run.records()).toEqual(['a@6']);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test.each<[string, (watch: ScriptedWatch) => void]>([
    ['cuts', (watch) => watch.fail(new ConnectionError('reset'))],
    ['ends', (watch) => watch.end()],
  ])('is noticed as well where something %s each quiet watch before its time', async (_, stop) => {
    const run = await syncScripted();
    run.scripted.onList = () => ({ items: [object('a', 3)], resourceVersion: '4' });
    for (let cut = 1; cut <= 3; cut++) {
      expect(run.scripted.lists).toHaveLength(0);
      stop(run.scripted.watch());
      await run.clock.advance(50_000);
    }
    expect(run.scripted.lists).toMatchObject([{ limit: 1 }]);
    expect(run.scripted.watch().options).toMatchObject({ sendInitialEvents: true });
    expect(run.informer.freshness()).toBe('stale');
    run.scripted.watch().push(added('a', 3), initialEventsEnd(4));
    await run.clock.advance(0);
    expect(run.records()).toEqual(['a@3']);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test('is noticed as well where each quiet watch had been cut for hours when it was restored', async () => {
    const run = await syncScripted();
    const cut = async (): Promise<void> => {
      run.scripted.watch().fail(new ConnectionError('reset'));
      await run.clock.advance(50_000);
    };
    run.scripted.onList = () => ({ items: [], resourceVersion: '4711' });
    for (let quiet = 0; quiet < 300; quiet++) await cut();
    run.scripted.onList = () => ({ items: [], resourceVersion: '4' });
    for (let after = 0; after < 8; after++) await cut();
    expect(run.scripted.watch().options).toMatchObject({ sendInitialEvents: true });
    await run.end();
  });

  test.each([
    ['the server is not behind', () => ({ items: [], resourceVersion: '4711' })],
    [
      'there is no answer',
      () => {
        throw new ConnectionError('refused');
      },
    ],
  ])('is asked about now and then where watches are cut and %s: they go on where they were', async (_, onList) => {
    const run = await syncScripted();
    run.scripted.onList = onList;
    for (let cut = 1; cut <= 72; cut++) {
      run.scripted.watch().fail(new ConnectionError('reset'));
      await run.clock.advance(50_000);
      expect(run.scripted.watch().options).toMatchObject({ resourceVersion: '10' });
      expect(run.informer.freshness()).toBe('fresh');
    }
    expect(run.scripted.lists.length).toBeGreaterThanOrEqual(10);
    expect(run.scripted.lists.length).toBeLessThanOrEqual(12);
    await run.end();
  });

  test('is not asked about where watches are cut that brought something', async () => {
    const run = await syncScripted();
    for (let version = 11; version < 20; version++) {
      run.scripted.watch().push(version % 2 === 0 ? bookmark(version) : modified('a', version));
      await run.clock.advance(0);
      run.scripted.watch().fail(new ConnectionError('reset'));
      await run.clock.advance(50_000);
      expect(run.scripted.watch().options).toMatchObject({ resourceVersion: String(version) });
    }
    expect(run.scripted.lists).toHaveLength(0);
    await run.end();
  });

  test('is not asked about where a watch brought a bookmark', async () => {
    const run = await syncScripted();
    const { timeoutSeconds = 0 } = run.scripted.watch().options;
    run.scripted.watch().push(bookmark(20));
    await run.clock.advance(timeoutSeconds * 1000 - 6_000);
    run.scripted.watch().end();
    await run.clock.advance(0);
    expect(run.scripted.watch().options).toMatchObject({ resourceVersion: '20' });
    expect(run.scripted.lists).toHaveLength(0);
    await run.end();
  });
});

describe('an event that cannot be read', () => {
  test('is not asked for for ever: what is there now is listed', async () => {
    const run = await syncScripted();
    run.scripted.onList = () => ({ items: [], resourceVersion: '4711' });
    const poison = () => run.scripted.watch().fail(new MalformedAnswerError('A line of a watch is not a watch event.'));
    for (let round = 0; round < 3; round++) {
      expect(run.scripted.watch().options.resourceVersion).toBe(round === 0 ? '' : '10');
      poison();
      await run.clock.advance(10_000);
    }
    expect(run.scripted.watch().options).toMatchObject({ sendInitialEvents: true });
    run.scripted.watch().push(added('b', 12), initialEventsEnd(13));
    await run.clock.advance(0);
    expect(run.records()).toEqual(['b@12']);
    expect(run.informer.freshness()).toBe('fresh');
    await run.end();
  });

  test('while others come between, the watch goes on', async () => {
    const run = await syncScripted();
    for (let version = 11; version < 20; version++) {
      run.scripted.watch().push(modified('a', version));
      await run.clock.advance(0);
      run.scripted.watch().fail(new MalformedAnswerError('The API server’s answer was cut off.'));
      await run.clock.advance(70_000);
      expect(run.scripted.watch().options.resourceVersion).toBe(String(version));
    }
    await run.end();
  });
});
