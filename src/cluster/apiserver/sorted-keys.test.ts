import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSortedKeys } from './sorted-keys.ts';

test('whatever is added, deleted and added again: all that are there, each once, in order, at each look', () => {
  const key = fc.constantFrom('a', 'aa', 'B', 'c/10', 'c/2');
  const change = fc.record({ kind: fc.constantFrom('add' as const, 'delete' as const), key });
  const look = fc.constant({ kind: 'look' as const, key: '' });
  const step = fc.oneof({ weight: 8, arbitrary: change }, { weight: 1, arbitrary: look });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const there = new Set<string>();
      const keys = createSortedKeys((each) => there.has(each));
      for (const { kind, key: named } of [...steps, { kind: 'look' as const, key: '' }]) {
        if (kind === 'look') expect(keys.all()).toEqual([...there].sort());
        else if (kind === 'add' && !there.has(named)) {
          there.add(named);
          keys.add(named);
        } else if (kind === 'delete' && there.delete(named)) keys.onDeleted();
      }
    }),
  );
});
