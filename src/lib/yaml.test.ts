import { expect, test, vi } from 'vitest';
import { headOf, InvalidYamlError, parseYaml } from './yaml.ts';

test('a document becomes data', () => {
  expect(parseYaml('pools:\n  - name: spot\n    price: 0.05\n')).toEqual({ pools: [{ name: 'spot', price: 0.05 }] });
});

test('what the parser only warns of is not printed', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  expect(parseYaml('a: !!js/function x')).toEqual({ a: 'x' });
  expect(warned).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

test.each(['['.repeat(20_000), `a: ${'['.repeat(5_000)}${']'.repeat(5_000)}`])('too deep a text is told so', (text) => {
  expect(() => parseYaml(text)).toThrow(/nested too deep to be read/);
});

test('an empty text is null', () => {
  expect(parseYaml('')).toBeNull();
});

test.each([
  ['no YAML', 'a: [1'],
  ['two documents', 'a: 1\n---\nb: 2\n'],
])('%s throws', (_, text) => {
  expect(() => parseYaml(text)).toThrow(InvalidYamlError);
});

test('a mistake is told with its place and without the lines around it', () => {
  const secret = 'token: t0p-secret\nlist: [1\n';
  expect(() => parseYaml(secret)).toThrow(/ at line \d+, column \d+$/);
  expect(() => parseYaml(secret)).not.toThrow(/t0p-secret/);
});

test('aliases that multiply without end are refused', () => {
  const levels = 'bcdefghijk'.split('').map((name, at) => `${name}: &${name} [${`*${'abcdefghijk'[at]},`.repeat(9)}]`);
  expect(() => parseYaml(['a: &a [x]', ...levels].join('\n'))).toThrow(InvalidYamlError);
});

test.each(['&a [*a]', 'a: &a\n  b: [{c: *a}]\n'])('%j, which holds itself, is refused', (text) => {
  expect(() => parseYaml(text)).toThrow(InvalidYamlError);
});

test('what an alias repeats elsewhere is no end of it', () => {
  expect(parseYaml('a: &a [1]\nb: *a\nc: [*a, *a]\n')).toEqual({ a: [1], b: [1], c: [[1], [1]] });
});

test.each([
  ['one line', 'one line'],
  ['a mistake at line 2, column 1:\n\na: [1\n^', 'a mistake at line 2, column 1'],
  ['', ''],
])('of %j the head is %j', (message, head) => {
  expect(headOf(message)).toBe(head);
});
