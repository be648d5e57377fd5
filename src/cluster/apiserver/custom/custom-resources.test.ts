import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../api/core.ts';
import { customResourceDefinitions } from '../../../api/crd/crd.ts';
import { isNotFound } from '../../../api/kube-error.ts';
import type { ResourceType } from '../../../api/resources.ts';
import { toJson } from '../json.ts';
import { createTestServer, IN_DEFAULT } from '../testing/test-server.ts';
import { jsonPathValue } from './json-path.ts';
import { validateBySchema } from './schema-rules.ts';

const BOATS: ResourceType<KubeObject & { spec?: object; status?: object }> = {
  group: 'example.com',
  version: 'v1',
  plural: 'boats',
  kind: 'Boat',
  namespaced: true,
};

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['sails'],
      properties: {
        sails: { type: 'integer', minimum: 1, maximum: 9 },
        colour: { type: 'string', default: 'white', enum: ['white', 'red'] },
        name: { type: 'string', maxLength: 5, pattern: '^[a-z]+$' },
        load: { 'x-kubernetes-int-or-string': true },
        crew: {
          type: 'array',
          maxItems: 2,
          items: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer', default: 18 } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        cargo: {
          type: 'object',
          properties: { weight: { type: 'integer' } },
          'x-kubernetes-embedded-resource': true,
        },
      },
      'x-kubernetes-validations': [
        { rule: 'self.sails < 5 || self.colour == "red"', message: 'big boats are red' },
        { rule: '!has(oldSelf.name) || self.name == oldSelf.name', message: 'the name stays' },
      ],
    },
    status: { type: 'object', properties: { afloat: { type: 'boolean' } } },
  },
};

const definition = (
  versions: object[] = [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
  ],
) => ({
  metadata: { name: 'boats.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'boats', kind: 'Boat' }, versions },
});

const boat = (spec: object) => ({ metadata: { name: 'b', namespace: 'default' }, spec });

async function setUp() {
  const world = createTestServer();
  const stored = await world.api.create<KubeObject>(customResourceDefinitions, definition());
  return { ...world, stored };
}

describe('custom resources', () => {
  test('hold objects, which may be applied with what every object has', async () => {
    const { api } = await setUp();
    const cargo = { apiVersion: 'v1', kind: 'Crate', metadata: { name: 'c', labels: { a: 'b' } }, weight: 3 };
    const apply = (more: object) =>
      api.patch(
        BOATS,
        'b',
        {
          type: 'apply',
          body: { apiVersion: 'example.com/v1', kind: 'Boat', ...boat({ sails: 1, cargo: { ...cargo, ...more } }) },
        },
        { namespace: 'default', fieldManager: 'one' },
      );
    expect(await apply({})).toMatchObject({ spec: { cargo } });
    await expect(apply({ colour: 'red' })).rejects.toThrow('.spec.cargo.colour: field not declared in schema');
  });

  test('are served once defined, until the definition goes, and go with it', async () => {
    const { api, stored, clock } = await setUp();
    expect(stored).toMatchObject({
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Established', status: 'True' })]),
        storedVersions: ['v1'],
      },
    });
    await api.create(BOATS, boat({ sails: 1 }));
    await api.delete(customResourceDefinitions, 'boats.example.com');
    await expect(api.get(BOATS, 'b', IN_DEFAULT)).rejects.toThrow('the server could not find the requested resource');
    await clock.advance(0);
    await api.create<KubeObject>(customResourceDefinitions, definition());
    await expect(api.get(BOATS, 'b', IN_DEFAULT)).rejects.toSatisfy(isNotFound);
  });

  test('are pruned and defaulted', async () => {
    const { api } = await setUp();
    const made = await api.create(
      BOATS,
      boat({ sails: 2, unknown: 1, crew: [{ name: 'x', rank: 1 }], free: { any: { thing: 1 } }, load: '5%' }),
    );
    expect(made.spec).toEqual({
      sails: 2,
      colour: 'white',
      crew: [{ name: 'x', age: 18 }],
      free: { any: { thing: 1 } },
      load: '5%',
    });
    expect(made.metadata?.generation).toBe(1);
  });

  test.each<[object, string]>([
    [{}, 'spec.sails: Required value'],
    [{ sails: 0 }, 'spec.sails: Invalid value: 0: spec.sails in body should be greater than or equal to 1'],
    [{ sails: '2' }, 'spec.sails: Invalid value: "string": spec.sails in body must be of type integer: "string"'],
    [{ sails: 1, colour: 'blue' }, 'spec.colour: Unsupported value: "blue": supported values: "white", "red"'],
    [{ sails: 1, name: 'toolong' }, 'spec.name: Too long: may not be more than 5 bytes'],
    [{ sails: 1, name: 'A' }, "spec.name in body should match '^[a-z]+$'"],
    [{ sails: 6 }, 'spec: Invalid value: big boats are red'],
    [{ sails: 1, crew: [{ name: 'a' }, { name: 'a' }] }, 'spec.crew[1]: Duplicate value'],
    [
      { sails: 1, crew: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
      'spec.crew: Too many: 3: must have at most 2 items',
    ],
    [{ sails: 1, load: true }, 'spec.load'],
  ])('%j is 422', async (spec, message) => {
    const { api } = await setUp();
    await expect(api.create(BOATS, boat(spec))).rejects.toMatchObject({
      httpStatus: 422,
      message: expect.stringContaining(message),
    });
  });

  test('rules on transitions hold on updates; status is its own subresource', async () => {
    const { api } = await setUp();
    await api.create(BOATS, boat({ sails: 1, name: 'abc' }));
    const patch = (body: object, more: object = {}) =>
      api.patch(BOATS, 'b', { type: 'merge', body }, { ...IN_DEFAULT, ...more });
    await expect(patch({ spec: { name: 'xyz' } })).rejects.toThrow('the name stays');
    expect((await patch({ spec: { sails: 2 }, status: { afloat: true } })).status).toBeUndefined();
    const reported = await patch({ spec: { sails: 3 }, status: { afloat: true, extra: 1 } }, { subresource: 'status' });
    expect(reported).toMatchObject({ metadata: { generation: 2 }, spec: { sails: 2 }, status: { afloat: true } });
    expect(reported.status).toEqual({ afloat: true });
    await expect(patch({ status: { afloat: 'yes' } }, { subresource: 'status' })).rejects.toMatchObject({
      httpStatus: 422,
    });
    await expect(api.patch(BOATS, 'b', { type: 'strategic', body: {} }, IN_DEFAULT)).rejects.toMatchObject({
      httpStatus: 415,
    });
  });

  test('are the same objects in every served version', async () => {
    const { api } = createTestServer();
    const version = (name: string, storage: boolean) => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: schema },
    });
    await api.create<KubeObject>(
      customResourceDefinitions,
      definition([version('v1alpha1', true), version('v1', false)]),
    );
    await api.create(BOATS, boat({ sails: 1 }));
    const alpha = { ...BOATS, version: 'v1alpha1' };
    expect(await api.get(alpha, 'b', IN_DEFAULT)).toMatchObject({
      apiVersion: 'example.com/v1alpha1',
      spec: { sails: 1 },
    });
    expect((await api.list(BOATS, IN_DEFAULT)).items[0]).toMatchObject({ apiVersion: 'example.com/v1' });
    await api.patch(BOATS, 'b', { type: 'merge', body: { spec: { sails: 2 } } }, IN_DEFAULT);
    expect(await api.get(alpha, 'b', IN_DEFAULT)).toMatchObject({ spec: { sails: 2 } });
  });

  test.each([
    [{ ...definition(), metadata: { name: 'wrong.example.com' } }, 'must be spec.names.plural+"."+spec.group'],
    [definition([]), 'spec.versions: Required value'],
    [
      definition([{ name: 'v1', served: true, storage: false, schema: { openAPIV3Schema: {} } }]),
      'must have exactly one version marked as storage version',
    ],
    [definition([{ name: 'v1', served: true, storage: true }]), 'schemas are required'],
  ])('a wrong definition is 422', async (wrong, message) => {
    const { api } = createTestServer();
    await expect(api.create<KubeObject>(customResourceDefinitions, wrong)).rejects.toThrow(message);
  });
});

describe('schemas', () => {
  test.each<[object, unknown, number]>([
    [{ type: 'string', nullable: true }, null, 0],
    [{ type: 'string' }, null, 1],
    [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1, b: 1 }, 1],
    [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, 0],
    [{ anyOf: [{ minimum: 5 }, { maximum: 1 }] }, 3, 1],
    [{ not: { required: ['a'] } }, { a: 1 }, 1],
    [{ allOf: [{ required: ['a'] }, { required: ['b'] }] }, {}, 2],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, { a: 1, b: 'x' }, 1],
    [{ type: 'array', 'x-kubernetes-list-type': 'set' }, ['a', 'a'], 1],
    [{ type: 'number', exclusiveMinimum: true, minimum: 0 }, 0, 1],
    [{ type: 'string', format: 'date-time' }, 'yesterday', 1],
    [{ 'x-kubernetes-validations': [{ rule: 'self.(' }] }, {}, 1],
  ])('%j on %j: %i errors', (rules, value, count) => {
    const lowered = toJson(rules);
    expect(
      validateBySchema(
        toJson(value),
        typeof lowered === 'object' && lowered !== null && !Array.isArray(lowered) ? lowered : undefined,
        'x',
      ),
    ).toHaveLength(count);
  });
});

describe('JSON paths of columns', () => {
  const object = {
    spec: {
      list: [
        { type: 'a', v: 1 },
        { type: 'Ready', v: [2, 3] },
      ],
      'dotted.key': 'd',
    },
  };
  test.each([
    ['.spec.list[0].v', 1],
    ['.spec.list[?(@.type=="Ready")].v', [2, 3]],
    ['.spec.list[*].v', 1],
    [".spec['dotted.key']", 'd'],
    ['.spec.none', undefined],
    ['.spec..x', undefined],
  ])('%s', (path, expected) => {
    expect(jsonPathValue(object, path)).toEqual(expected);
  });
});
