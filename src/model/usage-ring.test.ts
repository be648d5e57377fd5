import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../lib/random.ts';
import { DAY, HOUR } from './testing/usage.ts';
import { UsageRing } from './usage-ring.ts';

const random = createSeededRandom(7);
const NOON = 20_000 * DAY;

describe('ring of a window', () => {
  test('begins knowing nothing', () => {
    const ring = new UsageRing(DAY);
    const none = { cpu: undefined, memory: undefined, since: {}, isSampled: true };
    expect(ring.window(NOON)).toEqual({ from: NOON - DAY, to: NOON, ...none });
    expect(ring.save()).toEqual({ windowMillis: DAY, slots: [] });
  });

  test.each([0, -1, Number.NaN])('a window of %s ms is refused', (millis) => {
    expect(() => new UsageRing(millis)).toThrow(RangeError);
  });

  test.each([
    ['negative', -1, NOON],
    ['no number', Number.NaN, NOON],
    ['endless', Number.POSITIVE_INFINITY, NOON],
    ['without a time', 5, Number.NaN],
  ])('a sample that is %s is ignored', (_name, value, at) => {
    const ring = new UsageRing(DAY);
    ring.addCpu(value, at, random);
    ring.addMemory(value, at, random);
    expect(ring.save().slots).toEqual([]);
  });

  test('a sample a slot: the exact percentiles, as long as there are no more than slots', () => {
    const ring = new UsageRing(64 * HOUR);
    for (const [index, value] of [100, 200, 300].entries()) ring.addCpu(value, NOON + index * HOUR, random);
    ring.addMemory(5_000_000_000, NOON, random);
    const { cpu, memory } = ring.window(NOON + 3 * HOUR);
    expect([cpu?.p50, cpu?.p90, cpu?.samples]).toEqual([200, 280, 3]);
    expect(memory?.max).toBe(5_000_000_000);
  });

  test('of very many samples a slot stays one of them, and both resources count for themselves', () => {
    const ring = new UsageRing(64 * HOUR);
    for (let sample = 0; sample < 20_000; sample++) ring.addCpu(16_777_215, NOON, random);
    ring.addMemory(2 ** 50, NOON, random);
    expect(ring.save().slots.map(([, ...amounts]) => amounts)).toEqual([[16_777_215, 16_383, 2 ** 50, 1]]);
    expect(new UsageRing(64 * HOUR, ring.save()).save()).toEqual(ring.save());
  });

  test('what is older than the window no longer counts', () => {
    const ring = new UsageRing(64 * HOUR);
    ring.addCpu(900, NOON, random);
    ring.addCpu(100, NOON + 10 * HOUR, random);
    expect(ring.window(NOON + 11 * HOUR).cpu?.max).toBe(900);
    expect(ring.window(NOON + 65 * HOUR).cpu?.max).toBe(100);
    expect(ring.window(NOON + 100 * HOUR).cpu).toBeUndefined();
  });

  test('since when each resource is known is told, to a slot', () => {
    const ring = new UsageRing(64 * HOUR);
    for (const hours of [10, 12]) ring.addCpu(100, NOON + hours * HOUR + 5, random);
    ring.addMemory(100, NOON + 12 * HOUR, random);
    const since = { cpu: NOON + 10 * HOUR, memory: NOON + 12 * HOUR };
    expect(ring.window(NOON + 13 * HOUR).since).toEqual(since);
    expect(ring.window(NOON + 75 * HOUR).since).toEqual({ cpu: since.memory, memory: since.memory });
  });

  test('a sample that comes too late for the ring changes nothing', () => {
    const ring = new UsageRing(64 * HOUR);
    ring.addCpu(100, NOON + 100 * HOUR, random);
    const before = ring.save();
    ring.addCpu(900, NOON, random);
    expect(ring.save()).toEqual(before);
  });

  test.each([1, 63, 64, 65, 128, 1000])('after a gap of %s slots nothing older shows as newer', (gap) => {
    const ring = new UsageRing(64 * HOUR);
    ring.addCpu(900, NOON, random);
    ring.addMemory(900, NOON, random);
    ring.addCpu(100, NOON + gap * HOUR, random);
    const { cpu, memory } = ring.window(NOON + gap * HOUR);
    expect([cpu?.samples, cpu?.max, memory?.max]).toEqual(gap < 64 ? [2, 900, 900] : [1, 100, undefined]);
  });

  test('each resource of a slot is there by itself', () => {
    const ring = new UsageRing(64 * HOUR);
    ring.addCpu(100, NOON, random);
    ring.addMemory(7, NOON + HOUR, random);
    expect(ring.save().slots.map(([, ...amounts]) => amounts)).toEqual([
      [100, 1, 0, 0],
      [0, 0, 7, 1],
    ]);
  });

  test('each sample of a slot is as likely to be the one that stays', () => {
    const kept = new Map<number, number>();
    for (let round = 0; round < 2000; round++) {
      const ring = new UsageRing(64 * HOUR);
      for (let value = 0; value < 4; value++) ring.addCpu(value, NOON + value, random);
      const value = ring.window(NOON + HOUR).cpu?.max ?? -1;
      kept.set(value, (kept.get(value) ?? 0) + 1);
    }
    expect([...kept.keys()].sort((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    for (const count of kept.values()) expect(count).toBeGreaterThan(400);
  });

  test('another window begins anew: its slots stand for other spans of time', () => {
    const ring = new UsageRing(DAY);
    ring.addCpu(100, NOON, random);
    expect(new UsageRing(2 * DAY, ring.save()).save().slots).toEqual([]);
  });

  const samples = fc.array(fc.tuple(fc.nat(16_000_000), fc.nat(4 * DAY), fc.boolean()), { maxLength: 200 });

  // Feature: k8s-workload-rightsizing, Property 12: for any metrics collection, data is aggregated over the rolling window.
  test('Property 12: for any samples, the window holds what is new enough, none that is older than it, and at most one a slot', () => {
    fc.assert(
      fc.property(samples, fc.nat(3 * DAY), (list, later) => {
        const ring = new UsageRing(DAY);
        for (const [value, at] of list) ring.addCpu(value, NOON + at, random);
        const now = NOON + 4 * DAY + later;
        const { cpu } = ring.window(now);
        // A slot counts until the last of it is too old: a 64th of the window.
        const inWindow = list.filter(([, at]) => NOON + at > now - DAY - DAY / 32).map(([value]) => value);
        const isSure = list.some(([, at]) => NOON + at >= now - (63 / 64) * DAY);
        if (isSure || inWindow.length === 0) expect(cpu !== undefined).toBe(isSure);
        if (cpu === undefined) return;
        expect(cpu.samples).toBeLessThanOrEqual(Math.min(64, inWindow.length));
        expect(inWindow).toContain(cpu.max);
      }),
      { numRuns: 200 },
    );
  });

  test('for any samples, saved and restored it goes on as if never stopped', () => {
    fc.assert(
      fc.property(samples, samples, (before, after) => {
        const one = createSeededRandom(3);
        const kept = new UsageRing(DAY);
        const add = (ring: UsageRing, list: typeof before, dice: typeof one): void => {
          for (const [value, at, isCpu] of list) {
            if (isCpu) ring.addCpu(value, NOON + at, dice);
            else ring.addMemory(value, NOON + at, dice);
          }
        };
        add(kept, before, one);
        const restored = new UsageRing(DAY, kept.save());
        expect(restored.save()).toEqual(kept.save());
        const [first, second] = [createSeededRandom(9), createSeededRandom(9)];
        add(kept, after, first);
        add(restored, after, second);
        expect(restored.save()).toEqual(kept.save());
      }),
      { numRuns: 120 },
    );
  });
});
