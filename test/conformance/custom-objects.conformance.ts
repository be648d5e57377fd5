/** Custom resources as their definition has it now, whatever it was when they were written. */
import { expect, test } from 'vitest';
import { at, type Cluster } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'conformance.stowage.test';

function definition(plural: string, kind: string, properties: Json, subresources: Json): Json {
  const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { type: 'object', properties: { spec: { type: 'object', properties }, status } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources }],
    },
  };
}

async function install(
  cluster: Cluster,
  plural: string,
  kind: string,
  properties: Json,
  subresources: Json = {},
): Promise<void> {
  const wanted = definition(plural, kind, properties, subresources);
  await cluster.must(cluster.apply(`${CRDS}/${plural}.${GROUP}?fieldManager=stowage-test&force=true`, wanted));
  await cluster.eventually(async () =>
    expect((await cluster.get(`/apis/${GROUP}/v1/${plural}?limit=1`)).status).toBe(200),
  );
}

describeOnBackends('custom objects', (cluster) => {
  test('what is stored is read with the defaults of the present schema, and without what it no longer knows', async () => {
    const { post, get, must, namespace, eventually } = cluster();
    const { name } = await namespace();
    await install(cluster(), 'gadgets', 'Gadget', { size: { type: 'integer' }, colour: { type: 'string' } });
    const path = `/apis/${GROUP}/v1/namespaces/${name}/gadgets`;
    const gadget = {
      apiVersion: `${GROUP}/v1`,
      kind: 'Gadget',
      metadata: { name: 'a' },
      spec: { size: 1, colour: 'red' },
    };
    await must(post(path, gadget));
    const before = at((await get(`${path}/a`)).body, 'metadata', 'resourceVersion');
    await install(cluster(), 'gadgets', 'Gadget', {
      size: { type: 'integer' },
      shape: { type: 'string', default: 'round' },
    });
    await eventually(async () =>
      expect(at((await get(`${path}/a`)).body, 'spec')).toEqual({ size: 1, shape: 'round' }),
    );
    // Its cache of the new schema is filled on its own: a list may be refused until then.
    await eventually(async () =>
      expect(at((await get(path)).body, 'items', 0, 'spec')).toEqual({ size: 1, shape: 'round' }),
    );
    expect(at((await get(`${path}/a`)).body, 'metadata', 'resourceVersion')).toBe(before);
  });

  test('a body that does not say its kind or its version is refused', async () => {
    const { post, namespace } = cluster();
    const { name } = await namespace();
    await install(cluster(), 'widgets', 'Widget', { size: { type: 'integer' } });
    const path = `/apis/${GROUP}/v1/namespaces/${name}/widgets`;
    const refused = await post(path, { metadata: { name: 'a' } });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ reason: 'BadRequest' });
    expect(refused.body['message']).toBe(
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"metadata":{"name":"a"}}' ({"metadata":{"name":"a"}})`,
    );
    const unversioned = await post(path, { kind: 'Widget', metadata: { name: 'a' } });
    expect(unversioned.status).toBe(400);
    expect(unversioned.body['message']).toBe(
      `the API version in the data () does not match the expected API version (${GROUP}/v1)`,
    );
  });

  test('fields that the schema does not have are refused, warned of or dropped, as is asked', async () => {
    const { post, get, mergePatch, must, namespace, eventually } = cluster();
    const { name } = await namespace();
    await install(cluster(), 'sprockets', 'Sprocket', {
      size: { type: 'integer' },
      parts: { type: 'array', items: { type: 'object', properties: { teeth: { type: 'integer' } } } },
    });
    const path = `/apis/${GROUP}/v1/namespaces/${name}/sprockets`;
    const sprocket = (of: string) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'Sprocket',
      metadata: { name: of },
      spec: { sise: 1, parts: [{ teeth: 2 }, { teath: 3 }] },
    });
    await eventually(async () =>
      expect((await post(`${path}?fieldValidation=Strict`, sprocket('a'))).status).toBe(400),
    );
    const refused = await post(`${path}?fieldValidation=Strict`, sprocket('a'));
    expect(refused.body).toMatchObject({ reason: 'BadRequest' });
    const unknown = ['spec.parts[1].teath', 'spec.sise'].map((field) => `unknown field "${field}"`);
    const message = String(refused.body['message']);
    expect(message).toContain('Sprocket in version "v1" cannot be handled as a Sprocket: strict decoding error: ');
    for (const each of unknown) expect(message).toContain(each);
    const warned = await post(path, sprocket('b'));
    expect(warned.status).toBe(201);
    for (const each of unknown) expect(String(warned.headers['warning'])).toContain(JSON.stringify(each));
    expect(at((await get(`${path}/b`)).body, 'spec')).toEqual({ parts: [{ teeth: 2 }, {}] });
    const silent = await must(post(`${path}?fieldValidation=Ignore`, sprocket('c')));
    expect(at(silent, 'spec')).toEqual({ parts: [{ teeth: 2 }, {}] });
    const patched = await mergePatch(`${path}/b?fieldValidation=Strict`, { spec: { colour: 'red' } });
    expect(patched.status).toBe(422);
    expect(patched.body['message']).toContain('strict decoding error: unknown field "spec.colour"');
    await must(mergePatch(`${path}/b?fieldValidation=Strict`, { spec: { size: 2 } }));
  });

  test('a write of the status changes nothing else, not even the metadata, and a replacement must say of which version', async () => {
    const { post, put, get, mergePatch, must, namespace, eventually } = cluster();
    const { name } = await namespace();
    await install(cluster(), 'gauges', 'Gauge', { size: { type: 'integer' } }, { status: {} });
    const path = `/apis/${GROUP}/v1/namespaces/${name}/gauges`;
    const gauge = { apiVersion: `${GROUP}/v1`, kind: 'Gauge', metadata: { name: 'a', labels: { mine: '1' } } };
    await must(post(path, gauge));
    await eventually(async () =>
      expect((await mergePatch(`${path}/a/status`, { status: { level: 1 } })).status).toBe(200),
    );
    await must(
      mergePatch(`${path}/a/status`, {
        metadata: { labels: { by: 'status' }, annotations: { by: 'status' }, finalizers: ['stowage.test/hold'] },
        spec: { size: 7 },
        status: { level: 2 },
      }),
    );
    const { body } = await get(`${path}/a`);
    expect(at(body, 'metadata', 'labels')).toEqual({ mine: '1' });
    expect(at(body, 'metadata', 'annotations')).toBeUndefined();
    expect(at(body, 'metadata', 'finalizers')).toBeUndefined();
    expect(body).toMatchObject({ status: { level: 2 } });
    expect(body['spec']).toBeUndefined();
    const unversioned = await put(`${path}/a`, gauge);
    expect(unversioned.status).toBe(422);
    expect(unversioned.body['message']).toContain('metadata.resourceVersion: Invalid value: 0');
  });
});
