import { expect, test } from 'vitest';
import { parseYaml } from './yaml.ts';

test('a document becomes data', () => {
  expect(parseYaml('pools:\n  - name: spot\n    price: 0.05\n')).toEqual({ pools: [{ name: 'spot', price: 0.05 }] });
});

test('an empty text is null', () => {
  expect(parseYaml('')).toBeNull();
});

test.each([
  ['no YAML', 'a: [1'],
  ['two documents', 'a: 1\n---\nb: 2\n'],
])('%s throws', (_, text) => {
  expect(() => parseYaml(text)).toThrow();
});
