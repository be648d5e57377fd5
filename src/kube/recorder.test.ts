import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { buildEvent, cutToBytes, type EventNotice } from './event-object.ts';
import { createEventRecorder, type EventRecorderOptions } from './recorder.ts';
import { createMemoryApi } from './testing/memory-api.ts';
import { kubeError } from './testing/scripted-api.ts';
import { ConnectionError } from './transport/transport.ts';

const notice: EventNotice = {
  regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'web-1', uid: 'u1' },
  related: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
  type: 'Normal',
  reason: 'Evicted',
  action: 'Evicting',
  note: 'moved to spot',
};

async function setUp(options: Partial<EventRecorderOptions> = {}) {
  const memory = createMemoryApi();
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const recorder = createEventRecorder({
    api: memory.api,
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    controller: 'stowage.io/operator',
    instance: 'stowage-0',
    ...options,
  });
  const stop = new AbortController();
  const ended = recorder.run(stop.signal);
  const events = () => memory.all(resources.events) as Event[];
  const end = async () => {
    stop.abort();
    await clock.advance(2_100);
    await ended;
    expect(clock.pendingTimers()).toBe(0);
  };
  return { memory, clock, recorder, events, end, stop, ended };
}

describe('createEventRecorder', () => {
  test('an event says what, about what, by whom and when', async () => {
    const { recorder, clock, events, end } = await setUp();
    recorder.record(notice);
    await clock.advance(0);
    expect(events()).toEqual([
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { namespace: 'ns', name: expect.stringMatching(/^web-1\.[0-9a-f]+$/), resourceVersion: '1' },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'stowage.io/operator',
        reportingInstance: 'stowage-0',
        regarding: notice.regarding,
        related: notice.related,
        type: 'Normal',
        reason: 'Evicted',
        action: 'Evicting',
        note: 'moved to spot',
      },
    ]);
    await end();
  });

  test('repeats become a series: one object, written at most once a minute, and the last count is never lost', async () => {
    const { recorder, clock, events, memory, end } = await setUp();
    for (let second = 0; second < 90; second++) {
      recorder.record(notice);
      await clock.advance(1_000);
    }
    await clock.advance(60_000);
    expect(events()).toHaveLength(1);
    expect(events()[0]?.series).toEqual({ count: 90, lastObservedTime: '2026-01-01T00:01:29.000000Z' });
    expect(memory.calls.filter((call) => call.startsWith('patch')).length).toBeLessThanOrEqual(3);
    await end();
  });

  test('repeats that come while the first is being written are counted', async () => {
    const { recorder, clock, events, end } = await setUp();
    recorder.record(notice);
    recorder.record(notice);
    recorder.record(notice);
    await clock.advance(10);
    expect(events()).toHaveLength(1);
    expect(events()[0]?.series?.count).toBe(3);
    await end();
  });

  test('another note is another event; the same key is a repeat whatever the note', async () => {
    const { recorder, clock, events, end } = await setUp();
    recorder.record(notice);
    recorder.record({ ...notice, note: 'something else' });
    recorder.record({ ...notice, note: '1 of 3', dedupeKey: 'progress' });
    recorder.record({ ...notice, note: '2 of 3', dedupeKey: 'progress' });
    await clock.advance(10);
    expect(events().map(({ note, series }) => [note, series?.count])).toEqual([
      ['moved to spot', undefined],
      ['something else', undefined],
      ['1 of 3', 2],
    ]);
    await end();
  });

  test('a series ends after six quiet minutes', async () => {
    const { recorder, clock, events, end } = await setUp();
    recorder.record(notice);
    await clock.advance(361_000);
    recorder.record(notice);
    await clock.advance(0);
    expect(events()).toHaveLength(2);
    await end();
  });

  test('one object cannot flood: 25 events, then one each five minutes; others are not affected', async () => {
    let told = 0;
    const onDropped = (): void => void told++;
    const { recorder, clock, events, end } = await setUp({ onDropped });
    for (let index = 0; index < 40; index++) recorder.record({ ...notice, note: `note ${index}` });
    recorder.record({ ...notice, regarding: { ...notice.regarding, name: 'web-2', uid: 'u2' } });
    await clock.advance(0);
    expect(events()).toHaveLength(26);
    expect(recorder.dropped).toBe(15);
    expect(told).toBe(15);
    await clock.advance(300_000);
    recorder.record({ ...notice, note: 'later' });
    recorder.record({ ...notice, note: 'too many again' });
    await clock.advance(0);
    expect(events()).toHaveLength(27);
    await end();
  });

  test('the waiting line is bounded while the API server is away', async () => {
    const { recorder, clock, memory, events, end } = await setUp();
    memory.before = () => {
      throw new ConnectionError('away');
    };
    const about = (index: number): EventNotice => ({ ...notice, regarding: { ...notice.regarding, uid: `u${index}` } });
    for (let index = 0; index < 5_000; index++) recorder.record(about(index));
    expect(recorder.pending).toBe(1_000);
    expect(recorder.dropped).toBe(4_000);
    memory.before = () => {};
    await clock.advance(60_000);
    expect(events().length).toBeGreaterThan(990);
    recorder.record(about(4_999));
    await clock.advance(0);
    expect(events().some(({ regarding }) => regarding?.uid === 'u4999')).toBe(true);
    await end();
  });

  test('a passing fault is tried again, a refusal is not, and neither reaches the caller', async () => {
    const { recorder, clock, memory, events, end } = await setUp();
    let faults = 2;
    memory.before = () => {
      if (faults-- > 0) throw new ConnectionError('reset');
    };
    recorder.record(notice);
    await clock.advance(5_000);
    expect(events()).toHaveLength(1);
    memory.before = () => {
      throw kubeError(403, 'Forbidden', 'namespace is being terminated');
    };
    recorder.record({ ...notice, note: 'other' });
    await clock.advance(5_000);
    expect(recorder.dropped).toBe(1);
    expect(memory.calls.filter((call) => call.startsWith('create'))).toHaveLength(4);
    await end();
  });

  test('a series whose object has expired starts a new one', async () => {
    const { recorder, clock, memory, events, end } = await setUp();
    recorder.record(notice);
    await clock.advance(0);
    const name = events()[0]?.metadata?.name;
    memory.remove(resources.events, `ns/${name}`);
    recorder.record(notice);
    await clock.advance(10);
    expect(events()).toHaveLength(1);
    expect(events()[0]?.metadata?.name).not.toBe(name);
    await end();
  });

  test('on stop, what waits is written, within two seconds', async () => {
    const { recorder, clock, events, stop, ended } = await setUp();
    recorder.record(notice);
    await clock.advance(10);
    recorder.record(notice);
    recorder.record({ ...notice, note: 'last words' });
    stop.abort();
    await clock.advance(10);
    await ended;
    expect(events().map(({ note, series }) => [note, series?.count])).toEqual([
      ['moved to spot', 2],
      ['last words', undefined],
    ]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('on stop, an API server that does not answer holds nobody up', async () => {
    const { recorder, clock, memory, stop, ended } = await setUp();
    memory.before = (_, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    recorder.record(notice);
    await clock.advance(0);
    stop.abort();
    await clock.advance(2_000);
    await ended;
    expect(recorder.dropped).toBe(1);
  });

  test('events of cluster-wide objects go to the namespace the API server allows', async () => {
    const { recorder, clock, events, end } = await setUp();
    recorder.record({ ...notice, regarding: { apiVersion: 'v1', kind: 'Node', name: 'n' } });
    await clock.advance(0);
    expect(events()[0]?.metadata?.namespace).toBe('default');
    await end();
  });

  test('notices that make no sense are dropped without a word to the caller', async () => {
    const { recorder, end } = await setUp();
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(() => recorder.record({ ...notice, reason: cycle as unknown as string })).not.toThrow();
    expect(recorder.dropped).toBe(1);
    await end();
  });
});

describe('buildEvent', () => {
  const build = (change: Partial<EventNotice>) =>
    buildEvent({ ...notice, ...change }, { controller: 'c', instance: 'i'.repeat(300) }, 'suffix', 0);

  test('keeps within the limits of the API server', () => {
    const event = build({ note: 'ä'.repeat(2_000), reason: 'R'.repeat(200), action: 'A'.repeat(200) });
    expect(Buffer.byteLength(event.note ?? '')).toBeLessThanOrEqual(1_024);
    expect([event.reason?.length, event.action?.length, event.reportingInstance?.length]).toEqual([128, 128, 128]);
  });

  test('the name stays a valid object name, whatever the name of the object', () => {
    for (const name of ['a'.repeat(253), `${'a'.repeat(245)}.-.bbbb`, 'web']) {
      const event = build({ regarding: { ...notice.regarding, name } });
      expect(event.metadata?.name?.length).toBeLessThanOrEqual(253);
      expect(event.metadata?.name).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\.suffix$/);
    }
  });

  test('for any text and bound, the cut fits, is a whole-character prefix, and short texts are untouched', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 3, max: 60 }), (text, bound) => {
        const cut = cutToBytes(text, bound);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bound);
        if (Buffer.byteLength(text) <= bound) expect(cut).toBe(text);
        else expect(text.startsWith(cut.slice(0, -1))).toBe(true);
        expect(Buffer.from(cut).toString()).toBe(cut);
      }),
    );
  });
});
