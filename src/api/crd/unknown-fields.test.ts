import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { crdSchema } from './crd-schema.ts';
import { crdDescriptions } from './crds.ts';
import { unknownFields } from './unknown-fields.ts';

const schema = crdSchema(
  z.object({
    mode: z.string(),
    selector: z.object({ allow: z.array(z.string()), labels: z.record(z.string(), z.string()) }),
    rules: z.array(z.object({ name: z.string() })),
  }),
);
const found = (spec: unknown) => unknownFields(spec, schema, 'spec').map(({ path, meant }) => [path, meant]);

describe('unknownFields', () => {
  test.each<[string, unknown, readonly unknown[]]>([
    ['nothing', { mode: 'Auto', selector: { allow: ['a'] }, rules: [{ name: 'x' }] }, []],
    ['a misspelt field', { mod: 'Auto' }, [['spec.mod', 'mode']]],
    ['one within others', { selector: { alow: [] } }, [['spec.selector.alow', 'allow']]],
    ['one of an entry', { rules: [{ name: 'x' }, { nmae: 'y' }] }, [['spec.rules[1].nmae', undefined]]],
    ['another case', { selector: { Allow: [] } }, [['spec.selector.Allow', 'allow']]],
    ['one that is like none', { colour: 'red' }, [['spec.colour', undefined]]],
    ['keys of a map', { selector: { labels: { anything: 'x' } } }, []],
    ['a wrong shape', { selector: 'all', rules: {} }, []],
    ['no object', 'Auto', []],
  ])('%s', (_title, spec, fields) => expect(found(spec)).toEqual(fields));

  test('for any value there is an answer', () => {
    const schemas = crdDescriptions.map(({ spec }) => crdSchema(spec));
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...schemas), (value, each) => {
        for (const { path } of unknownFields(value, each, 'spec')) expect(path).toMatch(/^spec/);
      }),
      { numRuns: 100 },
    );
  });
});
