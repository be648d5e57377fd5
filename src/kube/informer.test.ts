import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createLogger, createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createInformer } from './informer.ts';
import { added, createScriptedApi, deleted, initialEventsEnd, modified } from './testing/scripted-api.ts';

function setUp(log = createSilentLogger()) {
  const scripted = createScriptedApi();
  const clock = createVirtualClock(0);
  const informer = createInformer<KubeObject, string>({
    api: scripted.api,
    type: resources.pods,
    project: ({ metadata }) => metadata?.resourceVersion,
    clock,
    random: createSeededRandom(1),
    log,
    selection: { namespace: 'team', labelSelector: 'a=b', fieldSelector: 'spec.nodeName=n' },
  });
  const stop = new AbortController();
  return { scripted, clock, informer, stop };
}

describe('createInformer', () => {
  test('asks only for what was selected', async () => {
    const { scripted, clock, informer, stop } = setUp();
    const running = informer.run(stop.signal);
    await clock.advance(0);
    expect(scripted.watch().options).toMatchObject({
      namespace: 'team',
      labelSelector: 'a=b',
      fieldSelector: 'spec.nodeName=n',
    });
    stop.abort();
    await running;
  });

  test('a later subscriber is told what is there already, then the changes; after leaving, nothing', async () => {
    const { scripted, clock, informer, stop } = setUp();
    const running = informer.run(stop.signal);
    await clock.advance(0);
    scripted.watch().push(added('a', 1), added('b', 2), initialEventsEnd(3));
    await clock.advance(0);
    const told: unknown[] = [];
    const leave = informer.subscribe({ onChange: (...change) => told.push(change) });
    expect(told).toEqual([
      ['ns/a', undefined, '1'],
      ['ns/b', undefined, '2'],
    ]);
    scripted.watch().push(modified('a', 4));
    await clock.advance(0);
    leave();
    scripted.watch().push(deleted('a', 5));
    await clock.advance(0);
    expect(told.slice(2)).toEqual([['ns/a', '1', '4']]);
    stop.abort();
    await running;
  });

  test('a failing handler harms neither the store nor the other handlers, and is logged', async () => {
    const lines: string[] = [];
    const log = createLogger({
      level: 'error',
      format: 'json',
      clock: createVirtualClock(0),
      write: (line) => lines.push(line),
    });
    const { scripted, clock, informer, stop } = setUp(log);
    const told: string[] = [];
    informer.subscribe({
      onChange: () => {
        throw new Error('handler is broken');
      },
    });
    informer.subscribe({ onChange: (key) => told.push(key) });
    const running = informer.run(stop.signal);
    await clock.advance(0);
    scripted.watch().push(added('a', 1), initialEventsEnd(3));
    await clock.advance(0);
    expect(told).toEqual(['ns/a']);
    expect(informer.store.get('ns/a')).toBe('1');
    expect(lines.join()).toContain('handler is broken');
    stop.abort();
    await running;
  });

  test('an object that cannot be projected is left out and logged; all others are followed', async () => {
    const scripted = createScriptedApi();
    const clock = createVirtualClock(0);
    const lines: string[] = [];
    const informer = createInformer<KubeObject, string>({
      api: scripted.api,
      type: resources.pods,
      project: ({ metadata }) => {
        if (metadata?.name === 'odd') throw new Error('cannot project');
        return metadata?.name;
      },
      clock,
      random: createSeededRandom(1),
      log: createLogger({ level: 'error', format: 'json', clock, write: (line) => lines.push(line) }),
    });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await clock.advance(0);
    scripted.watch().push(added('odd', 1), added('a', 2), initialEventsEnd(3), modified('odd', 4));
    await clock.advance(0);
    expect([...informer.store.values()]).toEqual(['a']);
    expect(informer.freshness()).toBe('fresh');
    expect(lines.join()).toContain('ns/odd');
    stop.abort();
    await running;
  });

  test('stopped before the first listing, waiting for it fails instead of hanging', async () => {
    const { clock, informer, stop } = setUp();
    const running = informer.run(stop.signal);
    await clock.advance(0);
    stop.abort(new Error('shutting down'));
    await running;
    await expect(informer.onSynced).rejects.toThrow('shutting down');
  });
});
