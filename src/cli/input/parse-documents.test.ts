import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { parseDocuments } from './parse-documents.ts';

const names = (text: string): (string | undefined)[] =>
  parseDocuments(text, 'x.yaml').objects.map(({ metadata }) => metadata?.name);
const problems = (text: string): readonly string[] => parseDocuments(text, 'x.yaml').problems;

const pod = (name: string): object => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } });

describe('parseDocuments', () => {
  test.each([
    ['one YAML document', stringify(pod('a')), ['a']],
    [
      'several documents, empty ones and comments between',
      `---\n# first\n${stringify(pod('a'))}---\n---\n# only a comment\n---\n${stringify(pod('b'))}`,
      ['a', 'b'],
    ],
    ['a JSON object', JSON.stringify(pod('a')), ['a']],
    ['a JSON array', JSON.stringify([pod('a'), pod('b')]), ['a', 'b']],
    ['JSON documents one after the other', `${JSON.stringify(pod('a'))}\n---\n${JSON.stringify(pod('b'))}`, ['a', 'b']],
    ['a kubectl List', stringify({ apiVersion: 'v1', kind: 'List', items: [pod('a'), pod('b')] }), ['a', 'b']],
    [
      'a List within a List',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [{ apiVersion: 'v1', kind: 'List', items: [pod('a')] }],
      }),
      ['a'],
    ],
    ['a List without items', 'apiVersion: v1\nkind: List\nitems:\n', []],
    ['Windows line ends', stringify(pod('a')).replaceAll('\n', '\r\n'), ['a']],
    ['a byte order mark', `\ufeff${stringify(pod('a'))}`, ['a']],
    ['nothing', '', []],
  ])('reads %s', (_name, text, expected) => {
    expect(names(text)).toEqual(expected);
    expect(problems(text)).toEqual([]);
  });

  test('items of a typed list inherit its kind and version', () => {
    const { objects } = parseDocuments(
      JSON.stringify({ apiVersion: 'apps/v1', kind: 'DeploymentList', items: [{ metadata: { name: 'a' } }] }),
      'x',
    );
    expect(objects).toEqual([{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } }]);
  });

  test('broken YAML is named with its line, and the other documents are used', () => {
    const text = `${stringify(pod('a'))}---\nkind: [Pod\nname: x\n---\n${stringify(pod('b'))}`;
    expect(names(text)).toEqual(['a', 'b']);
    expect(problems(text)).toEqual([expect.stringMatching(/^x\.yaml:\d+: not valid YAML, document skipped: /)]);
  });

  test.each([
    ['a scalar', 'hello', /^x\.yaml:1: not a Kubernetes object/],
    ['a map without kind', 'apiVersion: v1\nmetadata: {}\n', /apiVersion or kind is missing/],
    ['a JSON number in a list', '[1]', /^x\.yaml: item 1: not a Kubernetes object/],
    [
      'null items',
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [null] }),
      /item 1: not a Kubernetes object/,
    ],
    ['unclosed JSON', '{"apiVersion": "v1", "kind": ', /not valid YAML/],
  ])('%s is a problem, not a crash', (_name, text, expected) => {
    expect(names(text)).toEqual([]);
    expect(problems(text)).toEqual([expect.stringMatching(expected)]);
  });

  test('aliases that multiply are refused', () => {
    const levels = Array.from(
      { length: 12 },
      (_, index) => `l${index + 1}: &l${index + 1} [${Array(10).fill(`*l${index}`).join(', ')}]`,
    );
    const text = `apiVersion: v1\nkind: Pod\nl0: &l0 [x]\n${levels.join('\n')}\n`;
    expect(names(text)).toEqual([]);
    expect(problems(text)).toEqual([expect.stringMatching(/alias/i)]);
  });

  test('any text gives objects or problems, never an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const result = parseDocuments(text, 'x');
        expect(Array.isArray(result.objects)).toBe(true);
      }),
    );
  });

  test('any JSON value gives objects or problems, never an exception', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(() => parseDocuments(text, 'x')).not.toThrow();
      }),
    );
  });
});
