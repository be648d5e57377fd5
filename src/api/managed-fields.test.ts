import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsAt, ownedResources, templateSpecFields } from './managed-fields.ts';

const requests = { 'f:requests': { 'f:cpu': {} } };

describe('managed fields', () => {
  test('are found below their path; what is not owned is undefined', () => {
    const fields = { 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': {} } } } };
    expect(fieldsAt(fields, templateSpecFields)).toEqual({ 'f:containers': {} });
    expect(fieldsAt(fields, [])).toBe(fields);
    expect(fieldsAt(fields, ['f:spec', 'f:replicas'])).toBeUndefined();
    expect(fieldsAt(fields, ['f:status', 'f:replicas'])).toBeUndefined();
  });

  test('name containers by their key, init containers after the others', () => {
    const spec = {
      'f:initContainers': { 'k:{"name":"proxy"}': { 'f:resources': {} } },
      'f:containers': {
        'k:{"name":"app"}': { '.': {}, 'f:image': {}, 'f:resources': requests },
        'k:{"name":"log"}': { 'f:image': {} },
      },
    };
    expect(ownedResources(spec)).toEqual([
      { container: 'app', fields: requests },
      { container: 'proxy', fields: {} },
    ]);
  });

  test.each(['.', 'app', 'k:', 'k:{"name":', 'k:{"port":80}', 'k:{"name":7}', 'v:"app"', 'x:{"name":"app"}'])(
    'the key %s names no container',
    (key) => {
      expect(ownedResources({ 'f:containers': { [key]: { 'f:resources': requests } } })).toEqual([]);
    },
  );

  test('for any value in their place nothing is owned, and nothing breaks', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(ownedResources({ 'f:containers': value, 'f:initContainers': value })).toEqual([]);
        expect(fieldsAt(value, ['f:spec', 'f:containers'])).toBeUndefined();
      }),
    );
  });
});
