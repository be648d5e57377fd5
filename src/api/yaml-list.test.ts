import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseYamlList } from './yaml-list.ts';

/** As kubectl: items at the margin. */
const written = (items: readonly unknown[]): string =>
  stringify({ apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } }, { indentSeq: false });
const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } });

describe('parseYamlList', () => {
  test.each([
    ['a list', written([pod('a'), pod('b')])],
    ['with a mark before it', `---\n${written([pod('a')])}`],
    ['lines as Windows ends them', written([pod('a'), pod('b')]).replaceAll('\n', '\r\n')],
    ['without metadata', 'apiVersion: v1\nitems:\n- kind: Pod\n  metadata:\n    name: a\nkind: List'],
    ['text of several lines', written([{ data: { key: 'one\n\n- two\nkind: List\n', other: '- x' } }])],
  ])('%s is read as the whole would be', (_, text) => {
    const { apiVersion, kind, items } = parse(text);
    expect(parseYamlList(text)).toEqual({ apiVersion, kind, items });
  });

  test.each([
    ['an object', stringify(pod('a'))],
    ['an empty list', written([])],
    ['items that are indented', written([pod('a')]).replaceAll(/^- /gm, '  - ')],
    ['one that is cut off', written([pod('a'), pod('b')]).slice(0, -60)],
    ['one with a mistake', written([pod('a')]).replace('name: a', 'name: [a')],
    ['one with more after it', `${written([pod('a')])}---\n${stringify(pod('b'))}`],
    [
      'one with something at the margin',
      written([pod('a'), pod('b')]).replace('\n- apiVersion', '\n# b\n- apiVersion'),
    ],
    ['one with an item that holds itself', 'apiVersion: v1\nitems:\n- &a\n  b: *a\nkind: List\n'],
    ['one that refers from item to item', 'apiVersion: v1\nitems:\n- a: &a 1\n- b: *a\nkind: List\n'],
  ])('%s is left to the parser of the whole', (_, text) => {
    expect(parseYamlList(text)).toBeUndefined();
  });

  test('for any items: each as it was written, or none', () => {
    const item = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), (items) => {
        const text = written(items);
        const read = parseYamlList(text);
        if (read !== undefined) expect(read).toEqual({ apiVersion: 'v1', kind: 'List', items: parse(text).items });
      }),
    );
  });
});
