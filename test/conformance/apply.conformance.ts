import { expect, test } from 'vitest';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { workload } from './objects.ts';

interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly fieldsType: string;
  readonly fieldsV1: unknown;
  readonly subresource?: string;
}

function managedFields(body: unknown): ManagedFields[] {
  const entries = at(body, 'metadata', 'managedFields');
  return Array.isArray(entries) ? entries : [];
}

describeOnBackends('server-side apply', (cluster) => {
  const apply = (name: string, data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });

  test('creates with 201, changes with 200, and owns what it sets', async () => {
    const { apply: send, namespace } = cluster();
    const { configMaps } = await namespace();
    const created = await send(`${configMaps}/a?fieldManager=one`, apply('a', { key: '1', other: '1' }));
    expect(created.status).toBe(201);
    expect(managedFields(created.body)).toEqual([
      expect.objectContaining({
        manager: 'one',
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:key': {}, 'f:other': {} } },
      }),
    ]);
    const changed = await send(`${configMaps}/a?fieldManager=one`, apply('a', { key: '2' }));
    expect(changed.status).toBe(200);
    // What a manager no longer lists, and nobody else owns, is removed.
    expect(changed.body['data']).toEqual({ key: '2' });
  });

  test('of another value that someone else owns is 409 with the field; force takes it over', async () => {
    const { apply: send, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(send(`${configMaps}/a?fieldManager=one`, apply('a', { key: '1' })));
    const conflict = await send(`${configMaps}/a?fieldManager=two`, apply('a', { key: '2' }));
    expect(conflict.status).toBe(409);
    expect(conflict.body).toMatchObject({
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "one": .data.key',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.key' }] },
    });
    const forced = await send(`${configMaps}/a?fieldManager=two&force=true`, apply('a', { key: '2' }));
    expect(forced.status).toBe(200);
    expect(forced.body['data']).toEqual({ key: '2' });
    expect(managedFields(forced.body).map(({ manager }) => manager)).toEqual(['two']);
  });

  test('of the same value shares it, and it stays until both have let go', async () => {
    const { apply: send, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(send(`${configMaps}/a?fieldManager=one`, apply('a', { key: '1' })));
    const shared = await send(`${configMaps}/a?fieldManager=two`, apply('a', { key: '1' }));
    expect(
      managedFields(shared.body)
        .map(({ manager }) => manager)
        .toSorted(),
    ).toEqual(['one', 'two']);
    const one = await send(`${configMaps}/a?fieldManager=one`, apply('a', {}));
    expect(one.body['data']).toEqual({ key: '1' });
    const two = await send(`${configMaps}/a?fieldManager=two`, apply('a', {}));
    expect(two.body).not.toHaveProperty('data.key');
  });

  test('of an empty map, as charts write them, is no conflict and changes nothing', async () => {
    const { apply: send, post, must, namespace } = cluster();
    const { configMaps } = await namespace();
    const metadata = { name: 'a', labels: { app: 'a' } };
    await must(post(`${configMaps}?fieldManager=writer`, { metadata, data: { key: '1' } }));
    const { status, body } = await send(`${configMaps}/a?fieldManager=one`, {
      ...apply('a', {}),
      metadata: { name: 'a', labels: {} },
    });
    expect(status).toBe(200);
    expect([at(body, 'metadata', 'labels'), body['data']]).toEqual([{ app: 'a' }, { key: '1' }]);
  });

  test('takes a field from an updater only by force', async () => {
    const { apply: send, post, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(`${configMaps}?fieldManager=writer`, { metadata: { name: 'a' }, data: { key: '1' } }));
    const conflict = await send(`${configMaps}/a?fieldManager=one`, apply('a', { key: '2' }));
    expect(conflict.status).toBe(409);
    expect(textAt(conflict.body, 'message')).toMatch(
      /^Apply failed with 1 conflict: conflict with "writer" using v1( at \S+)?: \.data\.key$/,
    );
  });

  test('needs a field manager, a kind, and the right name', async () => {
    const { apply: send, namespace } = cluster();
    const { configMaps } = await namespace();
    const nameless = await send(`${configMaps}/a`, apply('a', {}));
    expect(nameless.status).toBe(422);
    expect(nameless.body).toMatchObject({
      details: { causes: [{ field: 'fieldManager', reason: 'FieldValueRequired' }] },
    });
    expect((await send(`${configMaps}/a?fieldManager=one`, { data: {} })).status).toBe(400);
    expect((await send(`${configMaps}/a?fieldManager=one`, apply('b', {}))).status).toBe(400);
  });

  test('with managedFields of its own is refused', async () => {
    const { apply: send, must, namespace } = cluster();
    const { configMaps } = await namespace();
    const created = await must(send(`${configMaps}/a?fieldManager=one`, apply('a', { key: '1' })));
    const body = { ...apply('a', { key: '1' }), metadata: { name: 'a', managedFields: managedFields(created) } };
    expect((await send(`${configMaps}/a?fieldManager=one`, body)).status).toBe(400);
  });

  test('merges containers by name and leaves those of others', async () => {
    const { apply: send, post, must, get, namespace } = cluster();
    const { deployments } = await namespace();
    await must(post(deployments, workload('a', 0)));
    const requests = (cpu: string) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } } },
    });
    const first = await send(`${deployments}/a?fieldManager=sizer`, requests('100m'));
    expect(first.status).toBe(200);
    expect(at(first.body, 'spec', 'template', 'spec', 'containers', 0)).toMatchObject({
      image: 'example.test/app:1',
      resources: { requests: { cpu: '100m' } },
    });
    const sizer = managedFields((await get(`${deployments}/a`)).body).find(({ manager }) => manager === 'sizer');
    expect(sizer?.fieldsV1).toEqual({
      'f:spec': {
        'f:template': {
          'f:spec': {
            'f:containers': {
              'k:{"name":"main"}': { '.': {}, 'f:name': {}, 'f:resources': { 'f:requests': { 'f:cpu': {} } } },
            },
          },
        },
      },
    });
  });

  test('updates are recorded per manager and subresource', async () => {
    const { call, post, must, namespace } = cluster();
    const { deployments } = await namespace();
    const created = await must(post(`${deployments}?fieldManager=maker`, workload('a', 0)));
    expect(managedFields(created)).toEqual([
      expect.objectContaining({ manager: 'maker', operation: 'Update', apiVersion: 'apps/v1' }),
    ]);
    const merge = 'application/merge-patch+json';
    await must(
      call('PATCH', `${deployments}/a?fieldManager=scaler`, {
        body: { spec: { replicas: 0, paused: true } },
        contentType: merge,
      }),
    );
    const reported = await must(
      call('PATCH', `${deployments}/a/status?fieldManager=reporter`, {
        body: { status: { conditions: [{ type: 'Odd', status: 'True' }] } },
        contentType: merge,
      }),
    );
    const entries = managedFields(reported).map(({ manager, operation, subresource }) => ({
      manager,
      operation,
      subresource,
    }));
    expect(entries).toEqual(
      expect.arrayContaining([
        { manager: 'maker', operation: 'Update', subresource: undefined },
        { manager: 'scaler', operation: 'Update', subresource: undefined },
        { manager: 'reporter', operation: 'Update', subresource: 'status' },
      ]),
    );
    expect(managedFields(reported).find(({ manager }) => manager === 'scaler')?.fieldsV1).toEqual({
      'f:spec': { 'f:paused': {} },
    });
  });
});
