import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { withRules } from './cel-rule.ts';
import { crdSchema, NotStructuralError } from './crd-schema.ts';
import { int32, listMap, quantityField, timeField } from './fields.ts';

describe('crdSchema', () => {
  test.each<[string, z.ZodType, object]>([
    ['text', z.string().min(1).max(5), { type: 'string', minLength: 1, maxLength: 5 }],
    ['a pattern', z.string().regex(/^a+$/), { type: 'string', pattern: '^a+$' }],
    ['a whole number has a format and no bounds of its type', z.int(), { type: 'integer', format: 'int64' }],
    ['a small whole number', z.int32(), { type: 'integer', format: 'int32' }],
    ['own bounds stay', z.int32().min(1).max(9), { type: 'integer', format: 'int32', minimum: 1, maximum: 9 }],
    ['one own bound', z.int().min(0), { type: 'integer', format: 'int64', minimum: 0 }],
    ['a number', z.number().min(1).max(1.5), { type: 'number', minimum: 1, maximum: 1.5 }],
    ['a default', z.boolean().default(true), { type: 'boolean', default: true }],
    ['a choice', z.enum(['A', 'B']).default('A'), { type: 'string', default: 'A', enum: ['A', 'B'] }],
    ['a description', z.string().meta({ description: 'What.' }), { type: 'string', description: 'What.' }],
    [
      'a map',
      z.record(z.string(), z.int32()),
      { type: 'object', additionalProperties: { type: 'integer', format: 'int32' } },
    ],
    ['a list', z.array(z.string()).max(3), { type: 'array', items: { type: 'string' }, maxItems: 3 }],
    ['a time', timeField('When.'), { type: 'string', format: 'date-time', description: 'When.' }],
    ['a described number', int32('How many.'), { type: 'integer', format: 'int32', description: 'How many.' }],
    ['what is sent, not what it is parsed to', z.string().transform(Number), { type: 'string' }],
  ])('%s', (_, schema, expected) => {
    expect(crdSchema(schema)).toEqual(expected);
  });

  test('an object says what is required; what has a default or is optional is not', () => {
    const schema = z.object({ a: z.string(), b: z.string().optional(), c: z.string().default('x') });
    expect(crdSchema(schema)).toEqual({
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string', default: 'x' } },
    });
  });

  test('a quantity is int-or-string in the form the API server takes', () => {
    expect(crdSchema(quantityField('Least.'))).toEqual({
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      description: 'Least.',
      pattern: expect.stringContaining('[KMGTPE]i'),
      'x-kubernetes-int-or-string': true,
    });
  });

  test('a list map names its keys', () => {
    expect(crdSchema(listMap(z.object({ name: z.string() }), ['name']))).toMatchObject({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    });
  });

  test('one schema used twice is written twice: a structural schema has no references', () => {
    const part = z.object({ a: z.string() });
    const text = JSON.stringify(crdSchema(z.object({ x: part, y: part })));
    expect(text).not.toContain('$ref');
    expect(text.match(/"a":/g)).toHaveLength(2);
  });

  test.each<[string, z.ZodType, string]>([
    ['a union', z.object({ a: z.union([z.string(), z.object({})]) }), '.a: anyOf'],
    ['what nothing fits', z.object({ a: z.never() }), '.a: not'],
  ])('%s is refused: it has no structural form', (_, schema, message) => {
    expect(() => crdSchema(schema)).toThrow(NotStructuralError);
    expect(() => crdSchema(schema)).toThrow(message);
  });
});

describe('withRules', () => {
  const ordered = withRules(z.object({ min: z.number(), max: z.number() }).meta({ description: 'Range.' }), {
    rule: 'self.min <= self.max',
    message: 'min must not be greater than max',
    holds: ({ min, max }) => min <= max,
  });

  test('one rule for the API server and for the parser', () => {
    expect(crdSchema(ordered)).toMatchObject({
      description: 'Range.',
      'x-kubernetes-validations': [{ rule: 'self.min <= self.max', message: 'min must not be greater than max' }],
    });
    expect(ordered.safeParse({ min: 1, max: 2 }).success).toBe(true);
    expect(ordered.safeParse({ min: 2, max: 1 }).error?.issues).toEqual([
      expect.objectContaining({ message: 'min must not be greater than max' }),
    ]);
  });

  test('rules add up', () => {
    const more = withRules(ordered, { rule: 'self.max < 10', message: 'too much', holds: ({ max }) => max < 10 });
    expect(crdSchema(more)['x-kubernetes-validations']).toHaveLength(2);
    expect(more.safeParse({ min: 20, max: 11 }).error?.issues).toHaveLength(2);
  });

  test('run only on values of the right shape', () => {
    expect(ordered.safeParse({ min: 'x' }).error?.issues.map(({ code }) => code)).toEqual([
      'invalid_type',
      'invalid_type',
    ]);
  });
});

describe('quantityField', () => {
  const field = quantityField('Any.');

  test.each<[unknown, string]>([
    ['500m', '500m'],
    [2, '2'],
    ['1e3', '1e3'],
  ])('%j is %s', (value, expected) => {
    expect(field.parse(value)).toBe(expected);
  });

  test.each([undefined, null, '', 'abc', 1.5, true, {}])('%j is none', (value) => {
    expect(field.safeParse(value).error?.issues[0]?.message).toMatch(/^is not a quantity; accepted: /);
  });
});
