import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom, createSystemRandom, type Random } from './random.ts';
import type { Bytes, Millicores } from './units.ts';

const take = (random: Random, count: number): number[] => Array.from({ length: count }, () => random.next());

describe('seeded randomness', () => {
  test('for any seed the sequence repeats and stays in [0, 1)', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const sequence = take(createSeededRandom(seed), 20);
        expect(take(createSeededRandom(seed), 20)).toEqual(sequence);
        for (const value of sequence) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThan(1);
        }
      }),
    );
  });

  test('is mulberry32: what runs with a seed stays what it was', () => {
    expect(take(createSeededRandom(1), 3)).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
    expect(take(createSeededRandom(42), 2)).toEqual([0.6011037519201636, 0.44829055899754167]);
  });

  test('other seeds give other sequences', () => {
    const firsts = new Set(Array.from({ length: 1000 }, (_, seed) => createSeededRandom(seed).next()));
    expect(firsts.size).toBeGreaterThan(990);
  });

  test('fills the range evenly', () => {
    const buckets = Array.from({ length: 10 }, () => 0);
    for (const value of take(createSeededRandom(42), 10_000)) {
      const bucket = Math.floor(value * 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

  test('two generators do not disturb each other', () => {
    const [a, b] = [createSeededRandom(1), createSeededRandom(1)];
    take(a, 5);
    expect(b.next()).toBe(createSeededRandom(1).next());
  });
});

test('the randomness of the machine stays in [0, 1)', () => {
  for (const value of take(createSystemRandom(), 100)) {
    expect(value).toBeGreaterThanOrEqual(0);
    expect(value).toBeLessThan(1);
  }
});

test('units do not mix: memory is not accepted where CPU is meant', () => {
  const half = (cpu: Millicores): Millicores => cpu / 2;
  const memory: Bytes = 1024;
  // @ts-expect-error bytes are no millicores
  half(memory);
  expect(half(250)).toBe(125);
});
