import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aSizedWorkload } from './testing/sizing-records.ts';
import { aBook, aSeries, DAY, HOUR, profileOptions, usageSettings } from './testing/usage.ts';
import type { UsageBook } from './usage-book.ts';
import type { UsageSeries } from './usage-series.ts';

const MIB = 1024 * 1024;
const web = aSizedWorkload();
const settings = usageSettings();
const unknownStart = () => undefined;

function take(book: UsageBook, series: readonly UsageSeries[], at: number, changes = {}): boolean {
  return book.take(web, settings, { series, readTo: { cpu: at, memory: at }, startedAt: unknownStart, ...changes }, at);
}

describe('book of usage', () => {
  test('knows nothing of what it never saw', () => {
    const book = aBook();
    expect([book.profileOf(web, 'app'), book.windowOf(web, 'app', 0), book.readTo(web), book.size()]).toEqual([
      undefined,
      undefined,
      {},
      0,
    ]);
  });

  test('rightsizing bug 17: all replicas feed one profile, and the hottest decides memory', () => {
    const book = aBook();
    const cold = Array.from({ length: 9 }, (_, index) =>
      aSeries(`web-${index}`, { cpu: [[HOUR, 100]], memory: [[HOUR, 100 * MIB]] }),
    );
    take(book, [...cold, aSeries('web-9', { cpu: [[HOUR, 900]], memory: [[HOUR, 600 * MIB]] })], HOUR);
    const profile = book.profileOf(web, 'app');
    expect([profile?.cpu.samples(), profile?.memory.peaks()[0]?.bytes]).toEqual([10, 600 * MIB]);
  });

  test('what was read before is not taken again, pod replacement or not', () => {
    const book = aBook();
    take(
      book,
      [
        aSeries('web-a', {
          cpu: [
            [HOUR, 100],
            [2 * HOUR, 100],
          ],
        }),
      ],
      2 * HOUR,
    );
    const again = aSeries('web-b', {
      cpu: [
        [HOUR, 100],
        [2 * HOUR, 100],
        [3 * HOUR, 100],
      ],
    });
    expect(take(book, [again], 3 * HOUR)).toBe(true);
    expect(book.profileOf(web, 'app')?.cpu.samples()).toBe(3);
    expect(take(book, [again], 3 * HOUR)).toBe(false);
  });

  test('a resource that was not read keeps its mark', () => {
    const book = aBook();
    take(book, [aSeries('a', { cpu: [[HOUR, 1]] })], HOUR, { readTo: { cpu: HOUR } });
    expect(book.readTo(web)).toEqual({ cpu: HOUR });
    take(book, [aSeries('a', { memory: [[HOUR, MIB]] })], HOUR, { readTo: { memory: HOUR } });
    expect(book.readTo(web)).toEqual({ cpu: HOUR, memory: HOUR });
  });

  test('a mark never goes back', () => {
    const book = aBook();
    take(book, [], 5 * HOUR);
    take(book, [], 5 * HOUR, { readTo: { cpu: 3 * HOUR, memory: 3 * HOUR } });
    expect(book.readTo(web)).toEqual({ cpu: 5 * HOUR, memory: 5 * HOUR });
  });

  test.each([
    ['a source', { cpu: 5000 * HOUR }, 5 * HOUR],
    ['a clock that was put right since', { cpu: 5000 * HOUR }, 5000 * HOUR],
  ])('a mark of the future, of %s, keeps out nothing', (_, readTo, now) => {
    const book = aBook();
    take(book, [], now, { readTo });
    take(book, [aSeries('a', { cpu: [[6 * HOUR, 1]] })], 6 * HOUR);
    take(book, [aSeries('a', { cpu: [[7 * HOUR, 1]] })], 7 * HOUR);
    expect(book.profileOf(web, 'app')?.cpu.samples()).toBeGreaterThan(0);
    expect(book.readTo(web)).toEqual({ cpu: 7 * HOUR, memory: 7 * HOUR });
  });

  test('sources of the present are taken pod by pod: their samples are of different instants', () => {
    const book = aBook();
    const taken = new Map([
      ['a', HOUR],
      ['b', HOUR + 5000],
    ]);
    const series = [aSeries('a', { cpu: [[HOUR, 1]] }), aSeries('b', { cpu: [[HOUR + 20_000, 1]] })];
    take(book, series, HOUR, { takenOf: (pod: string) => taken.get(pod) });
    expect(book.profileOf(web, 'app')?.cpu.samples()).toBe(1);
  });

  test('a ring is kept only where the strategy needs the window and the source knows only the present', () => {
    const series = [aSeries('a', { cpu: [[HOUR, 100]] })];
    const needing = usageSettings({ needsWindow: true });
    const taken = { series, readTo: {}, startedAt: unknownStart };
    const range = aBook();
    range.take(web, needing, taken, HOUR);
    const plain = aBook();
    plain.take(web, settings, { ...taken, takenOf: unknownStart }, HOUR);
    const instant = aBook();
    instant.take(web, needing, { ...taken, takenOf: unknownStart }, HOUR);
    expect([range, plain, instant].map((book) => book.windowOf(web, 'app', HOUR)?.cpu?.max)).toEqual([
      undefined,
      undefined,
      100,
    ]);
  });

  test('the exact window of a source that knows the past replaces a ring', () => {
    const book = aBook();
    const needing = usageSettings({ needsWindow: true });
    book.take(
      web,
      needing,
      { series: [aSeries('a', { cpu: [[HOUR, 100]] })], readTo: {}, startedAt: unknownStart, takenOf: unknownStart },
      HOUR,
    );
    const window = { from: 0, to: HOUR, cpu: undefined, memory: undefined };
    book.setWindow(web, 'app', window);
    expect(book.windowOf(web, 'app', HOUR)).toBe(window);
    book.setWindow(web, 'never-seen', window);
    expect(book.windowOf(web, 'never-seen', HOUR)).toBeUndefined();
  });

  test('a window that nobody reads any more is gone: of any age, it would count when it is asked for again', () => {
    const book = aBook();
    const needing = usageSettings({ needsWindow: true });
    book.take(
      web,
      needing,
      { series: [aSeries('a', { cpu: [[HOUR, 100]] })], readTo: {}, startedAt: unknownStart },
      HOUR,
    );
    book.setWindow(web, 'app', { from: 0, to: HOUR, cpu: undefined, memory: undefined });
    book.see(web, needing, HOUR);
    expect(book.windowOf(web, 'app', HOUR)).toBeDefined();
    book.see(web, settings, HOUR);
    expect(book.windowOf(web, 'app', HOUR)).toBeUndefined();
  });

  test('rightsizing bug 34: a Deployment and a DaemonSet of one name share nothing', () => {
    const book = aBook();
    take(book, [aSeries('a', { cpu: [[HOUR, 100]] })], HOUR);
    expect(book.profileOf({ ...web, kind: 'DaemonSet' }, 'app')).toBeUndefined();
  });

  test('rightsizing bug 1: a workload that is not seen for a while, or is made anew, goes on where it was', () => {
    const book = aBook(8 * DAY);
    take(book, [aSeries('a', { cpu: [[HOUR, 100]] })], HOUR);
    expect(book.forget(7 * DAY)).toEqual([]);
    book.see({ ...web, uid: 'another' }, settings, 7 * DAY);
    expect(book.forget(14 * DAY)).toEqual([]);
    expect(book.profileOf(web, 'app')?.cpu.samples()).toBe(1);
    expect(book.forget(16 * DAY)).toEqual([{ workload: 'Deployment/shop/web' }]);
    expect([book.profileOf(web, 'app'), book.size()]).toEqual([undefined, 0]);
  });

  test('a replica that is gone is forgotten sooner than its workload: names of nodes that come and go never end', () => {
    const book = aBook(30 * DAY);
    const node = { ...web, name: 'web#node-1' };
    for (const each of [web, node]) book.see(each, settings, 0);
    expect(book.forget(4 * DAY)).toEqual([]);
    expect(book.forget(5 * DAY)).toEqual([{ workload: 'Deployment/shop/web#node-1' }]);
  });

  describe('a container that its workload no longer has', () => {
    const both = [aSeries('a', { cpu: [[HOUR, 100]] }), aSeries('a', { cpu: [[HOUR, 50]] }, 'old-name')];
    const gone = { workload: 'Deployment/shop/web', container: 'old-name' };

    test('is forgotten after the retention, though the workload lives', () => {
      const book = aBook(8 * DAY);
      take(book, both, HOUR);
      book.see(web, settings, 8 * DAY);
      expect([book.forget(8 * DAY), book.size()]).toEqual([[], 2]);
      book.see(web, settings, 9 * DAY);
      expect([book.forget(9 * DAY), book.size()]).toEqual([[gone], 1]);
      expect([book.profileOf(web, 'old-name'), book.profileOf(web, 'app')?.cpu.samples()]).toEqual([undefined, 1]);
    });

    test('is no older after a restart than before it', () => {
      const [before, after] = [aBook(8 * DAY), aBook(8 * DAY)];
      take(before, both, HOUR);
      before.see(web, settings, 5 * DAY);
      after.restore([...before.save()].flat());
      after.see(web, settings, 9 * DAY);
      expect(after.forget(9 * DAY)).toEqual([gone]);
    });

    test('stays as long as pods have it: others inject containers that are in no template', () => {
      const book = aBook(8 * DAY);
      take(book, both, HOUR);
      take(book, [aSeries('b', { cpu: [[5 * DAY, 50]] }, 'old-name')], 5 * DAY);
      book.see(web, settings, 9 * DAY);
      expect(book.forget(9 * DAY)).toEqual([]);
    });

    test('stays as long as a pod tells of its kill, which must not count twice', () => {
      const book = aBook(8 * DAY);
      const kill = { key: 'uid/1', limit: 100 * MIB, at: HOUR };
      book.noteKill(web, 'old-name', settings, kill);
      book.see(web, settings, 9 * DAY);
      expect(book.noteKill(web, 'old-name', settings, kill)).toBe(false);
      expect(book.forget(9 * DAY)).toEqual([]);
    });
  });

  test('a kill is noted once, also for a container without samples', () => {
    const book = aBook();
    const kill = { key: 'uid/1', limit: 100 * MIB, at: HOUR };
    expect([book.noteKill(web, 'app', settings, kill), book.noteKill(web, 'app', settings, kill)]).toEqual([
      true,
      false,
    ]);
    expect(book.profileOf(web, 'app')?.memory.oom()?.bytes).toBe(200 * MIB);
  });

  test('rightsizing bug 5: seen under another policy, the history stays', () => {
    const book = aBook();
    take(book, [aSeries('a', { cpu: [[HOUR, 100]] })], HOUR);
    book.see(web, usageSettings({ profile: { ...profileOptions, usualHalfLifeMillis: DAY } }), 2 * HOUR);
    const cpu = book.profileOf(web, 'app')?.cpu;
    expect([cpu?.samples(), cpu?.usual.halfLifeMillis]).toEqual([1, DAY]);
  });
});

describe('saved and restored', () => {
  test('what cannot be read is told of, and the rest is taken', () => {
    const book = aBook();
    take(book, [aSeries('a', { cpu: [[HOUR, 100]] }), aSeries('a', { cpu: [[HOUR, 200]] }, 'proxy')], HOUR);
    const [first, second] = [...book.save()].flat();
    if (first === undefined || second === undefined) throw new Error('two containers are saved');
    const restored = aBook();
    expect(restored.restore([{ ...first, profile: 'rubbish' }, second])).toEqual([
      expect.stringContaining('Deployment/shop/web, container app'),
    ]);
    expect([restored.profileOf(web, 'app'), restored.profileOf(web, 'proxy')?.cpu.samples()]).toEqual([undefined, 1]);
  });

  test('when it was seen is kept by the hour, so that a save does not change for it', () => {
    const book = aBook();
    book.see(web, settings, 5 * HOUR);
    take(book, [aSeries('a', { cpu: [[HOUR, 100]] })], 5 * HOUR);
    const before = JSON.stringify([...book.save()].flat());
    book.see(web, settings, 5 * HOUR + 59 * 60_000);
    expect(JSON.stringify([...book.save()].flat())).toBe(before);
  });

  const reading = fc.record({
    container: fc.constantFrom('app', 'proxy'),
    pod: fc.constantFrom('a', 'b', 'c'),
    cpu: fc.nat(4000),
    memory: fc.integer({ min: 1, max: 1e10 }),
    isKill: fc.boolean(),
  });

  // Feature: k8s-workload-rightsizing, Property 12: aggregation over the window survives restarts of the operator.
  test('Property 12, rightsizing bug 3: for any readings and restarts between them, the same is known as without one', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(reading, fc.boolean()), { maxLength: 60 }), (list) => {
        const needing = usageSettings({ needsWindow: true });
        let [steady, restarted] = [aBook(8 * DAY, 5), aBook(8 * DAY, 5)];
        // Both draw the same numbers: a restart changes the sequence, which is no part of what is remembered.
        for (const [index, [{ container, pod, cpu, memory, isKill }, isRestart]] of list.entries()) {
          const at = index * 23 * HOUR + HOUR;
          if (isRestart) {
            const text = JSON.stringify([...restarted.save()].flat());
            const same = JSON.stringify([...steady.save()].flat());
            [steady, restarted] = [aBook(8 * DAY, index), aBook(8 * DAY, index)];
            steady.restore(JSON.parse(same));
            restarted.restore(JSON.parse(text));
          }
          for (const book of [steady, restarted]) {
            const series = [aSeries(pod, { cpu: [[at, cpu]], memory: [[at, memory]] }, container)];
            book.take(web, needing, { series, readTo: { cpu: at, memory: at }, startedAt: unknownStart }, at);
            if (isKill) book.noteKill(web, container, needing, { key: `${pod}/${at}`, limit: memory, at });
          }
        }
        expect([...restarted.save()].flat()).toEqual([...steady.save()].flat());
      }),
      { numRuns: 120 },
    );
  });
});
