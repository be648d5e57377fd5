import { describe, expect, test } from 'vitest';
import { createTextInterner } from './text-interner.ts';

describe('createTextInterner', () => {
  // Identity of texts cannot be seen from JavaScript; what can be seen is that nothing is changed or lost.
  test('answers equal texts, also after its memory started anew', () => {
    const interner = createTextInterner(2);
    for (const text of ['a', 'b', 'c', 'a', '', 'a']) expect(interner.intern(text)).toBe(text);
  });

  test('a bound below one is refused', () => {
    expect(() => createTextInterner(0)).toThrow(RangeError);
  });
});
