import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createObjectMap, objectKey } from './object-map.ts';

test.each([
  ['ns', 'n', 'ns/n'],
  ['', 'n', 'n'],
  ['', '', ''],
])('the key of namespace %j and name %j is %j', (namespace, name, key) => {
  expect(objectKey(namespace, name)).toBe(key);
});

describe('map of objects', () => {
  test('one name may be there in each namespace, and in none', () => {
    const map = createObjectMap<number>();
    map.put('x', 'n', 1);
    map.put('y', 'n', 2);
    map.put('', 'n', 3);
    expect([map.get('x/n'), map.get('y/n'), map.get('n'), map.get('z/n'), map.size]).toEqual([1, 2, 3, undefined, 3]);
  });

  test('a namespace that was emptied while it was gone through does no harm', () => {
    const map = createObjectMap<number>();
    map.put('x', 'a', 1);
    map.put('x', 'b', 2);
    map.put('y', 'c', 3);
    const seen: string[] = [];
    for (const [key] of map.entries()) {
      seen.push(key);
      map.delete('x', 'a');
      map.delete('x', 'b');
    }
    expect(seen).toEqual(['x/a', 'y/c']);
  });

  test('for any changes it holds what a map by key would', () => {
    const step = fc.record({
      namespace: fc.constantFrom('', 'x', 'y'),
      name: fc.constantFrom('a', 'b'),
      value: fc.option(fc.nat(9), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const map = createObjectMap<number>();
        const model = new Map<string, number>();
        for (const { namespace, name, value } of steps) {
          const key = objectKey(namespace, name);
          if (value === undefined) {
            map.delete(namespace, name);
            model.delete(key);
          } else {
            map.put(namespace, name, value);
            model.set(key, value);
          }
          expect([map.get(key), map.find(namespace, name)]).toEqual([model.get(key), model.get(key)]);
        }
        expect(map.size).toBe(model.size);
        expect(new Map(map.entries())).toEqual(model);
        expect([...map.values()].sort((a, b) => a - b)).toEqual([...model.values()].sort((a, b) => a - b));
        const ofX = [...map.valuesIn('x')].sort((a, b) => a - b);
        expect(ofX).toEqual(['x/a', 'x/b'].flatMap((key) => model.get(key) ?? []).sort((a, b) => a - b));
      }),
    );
  });
});
