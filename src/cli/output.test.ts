import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DOCUMENT_VERSION, renderDocument } from './output.ts';

const documentWith = (name: string) => ({ apiVersion: DOCUMENT_VERSION, kind: 'Test', name }) as const;
/** What a terminal obeys, in a text whose lines have been joined; YAML leaves tabs as they are, and they harm nobody. */
const OBEYED = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
const joined = (text: string): string => text.replaceAll(/[\n\t]/g, '');

describe.each([
  ['json', (text: string): unknown => JSON.parse(text)],
  ['yaml', (text: string): unknown => parse(text)],
] as const)('a document as %s', (format, read) => {
  test.each(['web', 'red \u001b[31m', 'c1 \u009b31m', 'del \u007f', 'bidi \u202e', 'two\nlines', '\u2066'])(
    'says %j without a character that a terminal obeys',
    (name) => {
      const text = renderDocument(documentWith(name), format) ?? '';
      expect(joined(text)).not.toMatch(OBEYED);
      expect(read(text)).toEqual(documentWith(name));
    },
  );

  test('is read back as it was, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const text = renderDocument(documentWith(name), format) ?? '';
        expect(joined(text)).not.toMatch(OBEYED);
        expect(read(text)).toEqual(documentWith(name));
      }),
    );
  });
});

test('formats for people are not rendered here', () => {
  expect(renderDocument(documentWith('web'), 'table')).toBeUndefined();
  expect(renderDocument(documentWith('web'), 'wide')).toBeUndefined();
});
