import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../lib/errors.ts';
import { CpuHistory, cpuLayout } from './usage-cpu.ts';

const HOUR = 3_600_000;
const options = { usualHalfLifeMillis: 8 * HOUR };

describe('CPU history', () => {
  test('begins knowing nothing', () => {
    const cpu = new CpuHistory(options);
    expect([cpu.samples(), cpu.firstAt(), cpu.lastAt(), cpu.usual.isEmpty()]).toEqual([0, undefined, undefined, true]);
  });

  test.each([
    ['negative', -1, 0],
    ['no number', Number.NaN, 0],
    ['endless', Number.POSITIVE_INFINITY, 0],
    ['without a time', 5, Number.NaN],
  ])('a sample that is %s is ignored', (_name, usage, at) => {
    const cpu = new CpuHistory(options);
    cpu.add(usage, at);
    expect(cpu.samples()).toBe(0);
    expect(cpu.usual.isEmpty()).toBe(true);
  });

  test('no use at all is a use, too', () => {
    const cpu = new CpuHistory(options);
    cpu.add(0, 0);
    expect(cpu.usual.share(0)).toBe(1);
  });

  test('the day forgets a burst at once, what is usual by half and half', () => {
    const cpu = new CpuHistory(options);
    cpu.add(4000, HOUR);
    for (let hour = 6; hour < 30; hour++) cpu.add(100, hour * HOUR);
    const burst = cpuLayout.indexOf(4000);
    expect(cpu.day.share(burst)).toBeCloseTo(1 / 25, 9);
    cpu.add(100, 30 * HOUR);
    expect(cpu.day.share(burst)).toBe(0);
    expect(cpu.usual.share(burst)).toBeGreaterThan(0);
  });

  test('a gap of days takes nothing from the day', () => {
    const cpu = new CpuHistory(options);
    for (let hour = 0; hour < 30; hour++) cpu.add(hour === 20 ? 900 : 100, hour * HOUR);
    cpu.add(100, 240 * HOUR);
    expect(cpu.day.share(cpuLayout.indexOf(900))).toBeCloseTo(1 / 25, 9);
  });

  test('keeps the first and the last instant, whatever the order', () => {
    const cpu = new CpuHistory(options);
    for (const at of [5 * HOUR, HOUR, 3 * HOUR]) cpu.add(10, at);
    expect([cpu.firstAt(), cpu.lastAt()]).toEqual([HOUR, 5 * HOUR]);
  });

  test('a gap of days loses nothing of what was usual', () => {
    const cpu = new CpuHistory(options);
    for (let hour = 0; hour < 24; hour++) cpu.add(hour % 2 === 0 ? 100 : 400, hour * HOUR);
    const before = cpu.usual.percentile(0.9);
    cpu.add(100, 10 * 24 * HOUR);
    expect(before).toBeGreaterThan(400);
    expect(cpu.usual.percentile(0.9)).toBeLessThan(before);
    expect(cpu.samples()).toBe(25);
  });

  test('for any samples, saved and restored it goes on as if never stopped', () => {
    const samples = fc.array(fc.tuple(fc.nat(100_000), fc.nat(240 * HOUR)), { maxLength: 80 });
    fc.assert(
      fc.property(samples, samples, (before, after) => {
        const kept = new CpuHistory(options);
        for (const [usage, at] of before) kept.add(usage, at);
        const restored = new CpuHistory(options, kept.save());
        for (const [usage, at] of after) {
          kept.add(usage, at);
          restored.add(usage, at);
        }
        expect(restored.save()).toEqual(kept.save());
      }),
      { numRuns: 150 },
    );
  });

  test('for how long something is known survives a restart', () => {
    const cpu = new CpuHistory(options);
    for (const at of [5 * HOUR, 2 * HOUR, 9 * HOUR]) cpu.add(10, at);
    for (const restored of [new CpuHistory(options, cpu.save()), new CpuHistory(options, cpu.saveForOtherHalfLife())])
      expect([restored.firstAt(), restored.lastAt(), restored.samples()]).toEqual([2 * HOUR, 9 * HOUR, 3]);
  });

  test('what was saved by something else is refused', () => {
    const good = new CpuHistory(options).save();
    expect(() => new CpuHistory(options, { ...good, usual: 'rubbish' })).toThrow(InvalidValueError);
    const day = { ...good.day, counts: 'rubbish!' };
    expect(() => new CpuHistory(options, { ...good, day })).toThrow(InvalidValueError);
  });
});
