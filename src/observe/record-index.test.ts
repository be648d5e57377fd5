import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRecordIndex } from './record-index.ts';

interface Item {
  readonly id: string;
  readonly group: string | undefined;
}

const createIndex = () => createRecordIndex<Item>({ groupOf: (item) => item.group, isSame: (a, b) => a.id === b.id });

describe('createRecordIndex', () => {
  test('unknown groups are empty', () => {
    expect(createIndex().group('nowhere')).toEqual([]);
  });

  test('a record the store exchanged for an equal one is still found', () => {
    const index = createIndex();
    index.apply(undefined, { id: 'a', group: 'x' });
    index.apply({ id: 'a', group: 'x' }, { id: 'a', group: 'y' });
    expect(index.group('x')).toEqual([]);
    expect(index.group('y')).toEqual([{ id: 'a', group: 'y' }]);
    index.apply({ id: 'a', group: 'y' }, undefined);
    expect([...index.names()]).toEqual([]);
  });

  test('a group of hundreds has all of them, each as it was told last', () => {
    const index = createIndex();
    const items = Array.from({ length: 200 }, (_, place): Item => ({ id: `i${place}`, group: 'x' }));
    for (const item of items) index.apply(undefined, item);
    expect(new Set(index.group('x'))).toEqual(new Set(items));
    const left = items.filter((_, place) => place % 3 !== 0).map((item) => ({ ...item }));
    for (const [place, item] of items.entries()) index.apply(item, place % 3 === 0 ? undefined : { ...item });
    expect(index.group('x')).toHaveLength(left.length);
    expect(new Set(index.group('x'))).toEqual(new Set(left));
  });

  test('for any sequence of changes the groups equal those of a plain map', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      to: fc.constantFrom('x', 'y', 'none', 'gone'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const index = createIndex();
        const model = new Map<string, Item>();
        for (const { id, to } of steps) {
          const before = model.get(id);
          const after = to === 'gone' ? undefined : { id, group: to === 'none' ? undefined : to };
          if (after === undefined) model.delete(id);
          else model.set(id, after);
          index.apply(before, after);
        }
        for (const group of ['x', 'y']) {
          const expected = [...model.values()].filter((item) => item.group === group);
          expect(new Set(index.group(group))).toEqual(new Set(expected));
          expect(index.group(group)).toHaveLength(expected.length);
        }
        expect(new Set(index.names())).toEqual(
          new Set([...model.values()].flatMap(({ group }) => (group === undefined ? [] : [group]))),
        );
      }),
    );
  });
});
