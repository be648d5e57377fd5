import { describe, expect, test } from 'vitest';
import { createInterner, createLatest } from './intern.ts';

describe('createInterner', () => {
  test('equal values become one', () => {
    const interner = createInterner<{ a: number }>(10);
    const first = interner.intern({ a: 1 });
    expect(interner.intern({ a: 1 })).toBe(first);
    expect(interner.intern({ a: 2 })).not.toBe(first);
    expect(interner.size).toBe(2);
  });

  test('the least recently used value is forgotten beyond the bound', () => {
    const interner = createInterner<{ a: number }>(2);
    const one = interner.intern({ a: 1 });
    const two = interner.intern({ a: 2 });
    interner.intern({ a: 1 });
    interner.intern({ a: 3 });
    expect(interner.size).toBe(2);
    expect(interner.intern({ a: 1 })).toBe(one);
    expect(interner.intern({ a: 2 })).not.toBe(two);
  });

  test('what is used once there is half of the bound outlives what is not', () => {
    const interner = createInterner<{ a: number }>(100);
    const values = Array.from({ length: 60 }, (_, a) => interner.intern({ a }));
    for (let a = 0; a < 60; a += 2) interner.intern({ a });
    for (let a = 100; a < 170; a++) interner.intern({ a });
    expect(interner.size).toBe(100);
    for (let a = 0; a < 60; a += 2) expect(interner.intern({ a })).toBe(values[a]);
  });

  test('only the first value of its kind is prepared, and the prepared copy is the one kept', () => {
    const prepared: number[] = [];
    const interner = createInterner<{ a: number }>(10, (value) => {
      prepared.push(value.a);
      return { ...value };
    });
    const given = { a: 1 };
    const kept = interner.intern(given);
    expect(kept).toEqual(given);
    expect(kept).not.toBe(given);
    expect(interner.intern({ a: 1 })).toBe(kept);
    expect(prepared).toEqual([1]);
  });

  test('values of a size that nobody shares are not kept: they would outlive what they came with', () => {
    const interner = createInterner<{ a: string }>(10);
    const large = { a: 'x'.repeat(40_000) };
    expect(interner.intern(large)).toBe(large);
    expect(interner.intern({ ...large })).not.toBe(large);
    expect(interner.size).toBe(0);
  });

  test('for any number of values, what is kept together has a bound; the least recently used goes first', () => {
    const interner = createInterner<{ a: string }>(5_000);
    const numbered = (index: number) => ({ a: `${index}`.padEnd(30_000, 'x') });
    const first = interner.intern(numbered(0));
    for (let index = 1; index < 600; index++) {
      interner.intern(numbered(index));
      if (index % 100 === 0) expect(interner.intern(numbered(0))).toBe(first);
    }
    expect(interner.size).toBe(279);
  });

  test('a bound below one is refused', () => {
    expect(() => createInterner(0)).toThrow(RangeError);
  });
});

describe('createLatest', () => {
  const made = (value: number) => ({ value });
  const setUp = () => {
    const latest = createLatest<object, { value: number }>((one, other) => one.value === other.value);
    return (key: object, value: number) => latest(key, { value }, () => made(value));
  };

  test('equal values that follow one another are one, by key', () => {
    const latest = setUp();
    const [key, other] = [{}, {}];
    const first = latest(key, 1);
    expect(first).toEqual({ value: 1 });
    expect(latest(other, 1)).not.toBe(first);
    expect(latest(key, 1)).toBe(first);
  });

  test('one that came before the last is made anew', () => {
    const latest = setUp();
    const key = {};
    const first = latest(key, 1);
    const second = latest(key, 2);
    expect(second).toEqual({ value: 2 });
    expect(latest(key, 2)).toBe(second);
    expect(latest(key, 1)).not.toBe(first);
  });
});
