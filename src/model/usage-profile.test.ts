import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../lib/errors.ts';
import { leafOf, leavesOf, withLeaf } from './testing/leaves.ts';
import { isNewerProfile, UsageProfile, type UsageSample } from './usage-profile.ts';

const HOUR = 3_600_000;
const options = { usualHalfLifeMillis: 8 * HOUR, startupExclusionMillis: 120_000 };

describe('usage profile', () => {
  test('takes CPU and memory of a sample', () => {
    const profile = new UsageProfile(options);
    profile.add({ at: 0, cpu: 100, memory: 5000 });
    expect([profile.cpu.samples(), profile.memory.peaks()]).toEqual([1, [{ span: 0, bytes: 5000 }]]);
  });

  // Feature: k8s-workload-rightsizing, Property 11: for any workload, CPU and memory of each container are collected.
  test('Property 11: for any samples, every resource that is there is taken, whatever of the other is missing', () => {
    const sample = fc.record(
      { at: fc.nat(HOUR), cpu: fc.nat(4000), memory: fc.integer({ min: 1, max: 1e10 }) },
      { requiredKeys: ['at'] },
    );
    fc.assert(
      fc.property(fc.array(sample), (samples: UsageSample[]) => {
        const profile = new UsageProfile(options);
        for (const one of samples) profile.add(one);
        const memories = samples.flatMap(({ memory }) => memory ?? []);
        expect(profile.cpu.samples()).toBe(samples.filter(({ cpu }) => cpu !== undefined).length);
        expect(profile.memory.peaks()[0]?.bytes).toBe(memories.length === 0 ? undefined : Math.max(...memories));
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    ['during the start', 119_999, 0],
    ['after it', 120_000, 1],
    ['without a known start', undefined, 1],
  ])('CPU %s', (_name, sinceStart, samples) => {
    const profile = new UsageProfile(options);
    const at = 10 * HOUR;
    profile.add({ at, cpu: 3000, memory: 7, ...(sinceStart === undefined ? {} : { startedAt: at - sinceStart }) });
    expect(profile.cpu.samples()).toBe(samples);
    expect(profile.memory.peaks()).toHaveLength(1);
  });

  // Feature: k8s-workload-rightsizing, Property 31: for any upgrade, what is known is preserved.
  test('Property 31: for any history, the saved text makes the same profile', () => {
    // Averages have fractions, and a query of one's own may answer anything.
    const bytes = fc.oneof(fc.integer({ min: 1, max: 1e10 }), fc.double({ min: 0.1, max: 1e300, noNaN: true }));
    const cpu = fc.oneof(fc.nat(4000), fc.double({ min: 0, max: 1e300, noNaN: true }));
    const sample = fc.record({ at: fc.nat(200 * HOUR), cpu, memory: bytes });
    fc.assert(
      fc.property(fc.array(sample), fc.option(bytes), (samples, kill) => {
        const profile = new UsageProfile(options);
        for (const one of samples) profile.add(one);
        if (kill !== null) profile.memory.noteOom(kill, HOUR);
        expect(new UsageProfile(options, profile.save()).save()).toBe(profile.save());
      }),
      { numRuns: 150 },
    );
  });

  test('eight busy days are saved in less than 3 KB', () => {
    const profile = new UsageProfile(options);
    for (let step = 0; step < 8 * 288; step++) {
      profile.add({ at: step * 300_000, cpu: 100 * (1 + (step % 40)), memory: 1e9 + step * 1e6 });
    }
    profile.memory.noteOom(2e9, 8 * 24 * HOUR);
    expect(profile.save().length).toBeLessThan(3 * 1024);
  });

  const record = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
  const saved = (): Record<string, unknown> => JSON.parse(new UsageProfile(options).save());
  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['another version', JSON.stringify({ ...saved(), v: 1 })],
    ['no CPU', JSON.stringify({ ...saved(), cpu: undefined })],
    ['CPU that is none', JSON.stringify({ ...saved(), cpu: { usual: 1 } })],
    ['a day that is none', JSON.stringify({ ...saved(), cpu: { ...record(saved()['cpu']), day: { spans: ['x'] } } })],
    ['memory that is none', JSON.stringify({ ...saved(), memory: { peaks: [[1]] } })],
    ['a kill that is none', JSON.stringify({ ...saved(), memory: { peaks: [], oom: { at: 'x' } } })],
    ['long rubbish', 'x'.repeat(100)],
  ])('%s is refused', (_name, text) => {
    expect(() => new UsageProfile(options, text)).toThrow(InvalidValueError);
  });

  const full = (): unknown => {
    const profile = new UsageProfile(options);
    for (const at of [HOUR, 30 * HOUR]) profile.add({ at, cpu: 100, memory: 5000 });
    profile.memory.noteOom(5000, 31 * HOUR);
    return JSON.parse(profile.save());
  };
  test.each(leavesOf(full()).map((path) => [path.join('.'), path] as const))(
    'with something else than it should be at %s it is refused',
    (_name, path) => {
      for (const leaf of [typeof leafOf(full(), path) === 'number' ? '1' : 7, null, {}])
        expect(() => new UsageProfile(options, JSON.stringify(withLeaf(full(), path, leaf)))).toThrow(
          InvalidValueError,
        );
    },
  );

  test.each<[string, string[], number]>([
    ['a bucket before the first', ['cpu', 'day', 'first'], -1],
    ['a place between two buckets', ['cpu', 'day', 'first'], 0.5],
    ['a span between two', ['cpu', 'day', 'spans', '0'], 0.5],
    ['fewer samples of CPU than none', ['cpu', 'samples'], -1],
    ['half a sample of memory', ['memory', 'samples'], 1.5],
    ['a peak between two spans', ['memory', 'peaks', '0', '0'], 0.5],
    ['a peak below nothing', ['memory', 'peaks', '0', '1'], -5000],
    ['a kill that showed less than nothing', ['memory', 'oom', 'bytes'], -5000],
    ['a kill that never was', ['memory', 'oom', 'count'], 0],
    ['a kill at a time that no calendar has', ['memory', 'oom', 'at'], 1e300],
    ['a last sample at none', ['cpu', 'lastAt'], -1e300],
  ])('%s is refused', (_name, path, value) => {
    const text = JSON.stringify(withLeaf(full(), path, value));
    expect(() => new UsageProfile(options, text)).toThrow(InvalidValueError);
  });

  test.each<[string, boolean]>([
    [new UsageProfile(options).save(), false],
    ['{"v":1,"cpu":{}}', false],
    ['{"v":3,"cpu":{}}', true],
    ['{"v":3}', true],
    ['{"v":30', false],
    ['{"w":3}', false],
    ['', false],
  ])('%.20j was saved by a later version: %s', (text, expected) => {
    expect(isNewerProfile(text)).toBe(expected);
  });
});
