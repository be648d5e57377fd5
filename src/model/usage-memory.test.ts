import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryHistory, PEAK_SPAN_MILLIS } from './usage-memory.ts';

const HOUR = 3_600_000;
const MIB = 1024 * 1024;

describe('memory peaks', () => {
  test('rightsizing bug 17: of a span are its highest use, of whichever replica', () => {
    const memory = new MemoryHistory();
    for (let replica = 0; replica < 9; replica++) memory.add(100 * MIB, replica);
    memory.add(600 * MIB, 9);
    expect(memory.peaks()).toEqual([{ span: 0, bytes: 600 * MIB }]);
  });

  test('are kept for eight days and no longer', () => {
    const memory = new MemoryHistory();
    for (let span = 0; span < 100; span++) memory.add(span + 1, span * PEAK_SPAN_MILLIS);
    expect(memory.peaks()).toHaveLength(32);
    expect(memory.peaks()[0]).toEqual({ span: 68, bytes: 69 });
  });

  test('a sample of before those days comes too late, and takes nothing from the span that has its place', () => {
    const memory = new MemoryHistory();
    memory.add(5, 100 * PEAK_SPAN_MILLIS);
    memory.add(9, 68 * PEAK_SPAN_MILLIS);
    expect(memory.peaks()).toEqual([{ span: 100, bytes: 5 }]);
    memory.add(9, 69 * PEAK_SPAN_MILLIS);
    expect(memory.peaks()).toEqual([
      { span: 69, bytes: 9 },
      { span: 100, bytes: 5 },
    ]);
  });

  test.each([1, 31, 32, 33, 64, 1000])('after a gap of %s spans nothing older shows as newer', (gap) => {
    const memory = new MemoryHistory();
    memory.add(10, 1 * PEAK_SPAN_MILLIS);
    memory.add(1, (1 + gap) * PEAK_SPAN_MILLIS);
    const old = gap < 32 ? [{ span: 1, bytes: 10 }] : [];
    expect(memory.peaks()).toEqual([...old, { span: 1 + gap, bytes: 1 }]);
  });

  test('a clock of before 1970 has spans, too', () => {
    const memory = new MemoryHistory();
    for (const span of [-40, -9, 3]) memory.add(50 + span, span * PEAK_SPAN_MILLIS);
    expect(memory.peaks()).toEqual([
      { span: -9, bytes: 41 },
      { span: 3, bytes: 53 },
    ]);
  });

  test.each([
    ['nothing', 0, 0],
    ['less than nothing', -5, 0],
    ['no number', Number.NaN, 0],
    ['without a time', 5, Number.NaN],
  ])('a sample that is %s is ignored', (_name, usage, at) => {
    const memory = new MemoryHistory();
    memory.add(usage, at);
    expect([memory.peaks(), memory.lastAt()]).toEqual([[], undefined]);
  });

  test('are known from the first sample on, wherever in its span it was, and no longer than they are kept', () => {
    const memory = new MemoryHistory();
    expect(memory.knownMillis()).toBe(0);
    memory.add(MIB, 5.5 * HOUR);
    expect(memory.knownMillis()).toBe(0);
    memory.add(MIB, 5.75 * HOUR);
    expect(memory.knownMillis()).toBe(0.25 * HOUR);
    expect(new MemoryHistory(memory.save()).knownMillis()).toBe(0.25 * HOUR);
    memory.add(MIB, 30 * 24 * HOUR);
    expect(memory.knownMillis()).toBe(0);
    memory.add(MIB, 30 * 24 * HOUR + HOUR);
    expect(memory.knownMillis()).toBe(HOUR);
  });

  test('that were saved without their first instant count from the beginning of its span', () => {
    const memory = new MemoryHistory({ peaks: [[1, MIB]], lastAt: 7 * HOUR });
    expect(memory.knownMillis()).toBe(HOUR);
    memory.add(MIB, 9 * HOUR);
    expect(memory.knownMillis()).toBe(3 * HOUR);
  });

  test('are counted by the sample, also over a restart; of those saved uncounted each peak is one', () => {
    const memory = new MemoryHistory();
    for (const bytes of [1, 2, Number.NaN, 0]) memory.add(bytes, HOUR);
    expect([memory.samples(), new MemoryHistory(memory.save()).samples()]).toEqual([2, 2]);
    expect(
      new MemoryHistory({
        peaks: [
          [1, 5],
          [3, 5],
        ],
      }).samples(),
    ).toBe(2);
    expect(new MemoryHistory().samples()).toBe(0);
  });

  test('for any samples, the order in which they are told does not matter', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 1e12 }), fc.nat(7 * 24 * HOUR)), { maxLength: 60 }),
        (list) => {
          const [forward, backward] = [new MemoryHistory(), new MemoryHistory()];
          for (const [usage, at] of list) forward.add(usage, at);
          for (const [usage, at] of list.toReversed()) backward.add(usage, at);
          expect(forward.save()).toEqual(backward.save());
        },
      ),
      { numRuns: 150 },
    );
  });

  test('rightsizing bug 3: for any restarts on the way, the same is known as without one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 1e12 }), fc.boolean()), { minLength: 1, maxLength: 100 }),
        (list) => {
          const steady = new MemoryHistory();
          let restarted = new MemoryHistory();
          for (const [index, [usage, isRestart]] of list.entries()) {
            if (isRestart) restarted = new MemoryHistory(restarted.save());
            for (const memory of [steady, restarted]) memory.add(usage, index * HOUR);
          }
          expect(restarted.save()).toEqual(steady.save());
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('out-of-memory kills', () => {
  test.each([
    ['vpa 1: a small container needs 100 MiB more', 200 * MIB, 300 * MIB],
    ['vpa 2: a large one a fifth more', 1000 * MIB, 1200 * MIB],
    ['vpa 3: both are the same at 500 MiB', 500 * MIB, 600 * MIB],
  ])('%s', (_name, limit, need) => {
    const memory = new MemoryHistory();
    memory.noteOom(limit, 0);
    expect(memory.oom()).toEqual({ bytes: need, at: 0, count: 1 });
  });

  test('count from the highest use seen, where that is above the limit', () => {
    const memory = new MemoryHistory();
    memory.add(2000 * MIB, 0);
    memory.noteOom(1000 * MIB, HOUR);
    expect(memory.oom()?.bytes).toBe(2400 * MIB);
  });

  test('rightsizing bug 16: each one less than a day after the one before doubles the step', () => {
    const memory = new MemoryHistory();
    const steps: number[] = [];
    let limit = 1000 * MIB;
    for (let kill = 0; kill < 5; kill++) {
      memory.noteOom(limit, kill * HOUR);
      steps.push(Math.round((100 * (memory.oom()?.bytes ?? 0)) / limit) - 100);
      limit = memory.oom()?.bytes ?? 0;
    }
    expect(steps).toEqual([20, 40, 80, 160, 160]);
  });

  test('a kill without what the last one showed to be needed is no news, but of today', () => {
    const memory = new MemoryHistory();
    memory.noteOom(1000 * MIB, HOUR);
    const before = memory.oom();
    memory.noteOom(1000 * MIB, 2 * HOUR);
    expect(memory.oom()).toEqual({ ...before, at: 2 * HOUR });
    // It had what was needed then, and that was not enough.
    memory.noteOom(1300 * MIB, 3 * HOUR);
    expect(memory.oom()?.count).toBe(2);
    expect(memory.oom()?.bytes).toBeGreaterThan(1300 * MIB);
  });

  test('one within a day is another in a row, whatever the instant', () => {
    const memory = new MemoryHistory();
    memory.noteOom(1000 * MIB, 20 * HOUR);
    memory.noteOom(1200 * MIB, 43 * HOUR);
    expect(memory.oom()).toMatchObject({ at: 43 * HOUR, count: 2 });
  });

  test('one that is no news and is told late is of no earlier day', () => {
    const memory = new MemoryHistory();
    memory.noteOom(1000 * MIB, 10 * HOUR);
    memory.noteOom(900 * MIB, 5 * HOUR);
    expect(memory.oom()).toEqual({ bytes: 1200 * MIB, at: 10 * HOUR, count: 1 });
  });

  test('where a pod without a limit is killed in a row, the need stays what it was shown to be', () => {
    const memory = new MemoryHistory();
    memory.noteOom(1000 * MIB, 0);
    memory.noteOom(1, HOUR);
    expect(memory.oom()).toEqual({ bytes: 1200 * MIB, at: HOUR, count: 2 });
  });

  test('a need is whole bytes, and never less than its share', () => {
    const memory = new MemoryHistory();
    memory.noteOom(1000 * MIB + 1, 0);
    expect(memory.oom()?.bytes).toBe(1200 * MIB + 2);
  });

  test('one a day later begins anew', () => {
    const memory = new MemoryHistory();
    memory.noteOom(1000 * MIB, 0);
    memory.noteOom(1000 * MIB, 24 * HOUR);
    expect(memory.oom()).toMatchObject({ bytes: 1200 * MIB, count: 1 });
  });

  test('rightsizing bug 18: one that is told late counts all the same', () => {
    const memory = new MemoryHistory();
    memory.add(1000 * MIB, 10 * HOUR);
    memory.noteOom(1000 * MIB, 9 * HOUR);
    expect(memory.oom()?.bytes).toBe(1200 * MIB);
  });

  test('rightsizing bug 18: the one of another pod that is told after a later one makes that no older', () => {
    const memory = new MemoryHistory();
    memory.noteOom(200 * MIB, 30 * HOUR);
    memory.noteOom(500 * MIB, 8 * HOUR);
    expect(memory.oom()?.at).toBe(30 * HOUR);
    expect(memory.oom()?.bytes).toBeGreaterThanOrEqual(600 * MIB);
    const longAgo = new MemoryHistory();
    longAgo.noteOom(200 * MIB, 100 * HOUR);
    longAgo.noteOom(500 * MIB, 8 * HOUR);
    expect(longAgo.oom()).toMatchObject({ at: 100 * HOUR, bytes: 300 * MIB });
  });

  test('rightsizing bug 16: of a container without any sample gives a need from its limit alone', () => {
    const memory = new MemoryHistory();
    memory.noteOom(64 * MIB, 0);
    expect(memory.oom()?.bytes).toBe(164 * MIB);
  });

  test.each([
    ['no limit', 0, 0],
    ['a limit that is no number', Number.NaN, 0],
    ['no time', 5, Number.NaN],
  ])('%s: nothing is learned', (_name, limit, at) => {
    const memory = new MemoryHistory();
    memory.noteOom(limit, at);
    expect(memory.oom()).toBeUndefined();
  });

  test('for any limit, the need is above it and survives a restart', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), (limit) => {
        const memory = new MemoryHistory();
        memory.noteOom(limit, 0);
        expect(memory.oom()?.bytes).toBeGreaterThanOrEqual(Math.max(limit + 100 * MIB, Math.floor(limit * 1.2)));
        expect(new MemoryHistory(memory.save()).oom()).toEqual(memory.oom());
      }),
      { numRuns: 150 },
    );
  });
});
