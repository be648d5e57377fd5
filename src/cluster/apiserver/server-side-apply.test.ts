import { describe, expect, test } from 'vitest';
import { isConflict } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createApiServer } from './api-server.ts';

const at = { namespace: 'default' };

function setUp() {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const server = createApiServer({ clock, random: createSeededRandom(1) });
  return { clock, api: server.client() };
}

function deployment(replicas: number | undefined, containers: object[] = [{ name: 'main', image: 'a:1' }]) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: { matchLabels: { app: 'd' } },
      template: { metadata: { labels: { app: 'd' } }, spec: { containers } },
    },
  };
}

describe('server-side apply', () => {
  test('creates the object and owns what it named, not what was defaulted', async () => {
    const { api } = setUp();
    const created = await api.patch(
      resources.deployments,
      'd',
      { type: 'apply', body: deployment(2) },
      { ...at, fieldManager: 'alice' },
    );
    expect(created.spec?.revisionHistoryLimit).toBe(10);
    expect(created.metadata?.managedFields).toEqual([
      {
        manager: 'alice',
        operation: 'Apply',
        apiVersion: 'apps/v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': {
            'f:replicas': {},
            'f:selector': {},
            'f:template': {
              'f:metadata': { 'f:labels': { 'f:app': {} } },
              'f:spec': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
            },
          },
        },
      },
    ]);
  });

  test('a field of another manager with another value is a conflict that names it; force takes it over', async () => {
    const { api } = setUp();
    await api.patch(
      resources.deployments,
      'd',
      { type: 'apply', body: deployment(2) },
      { ...at, fieldManager: 'alice' },
    );
    const error = await api
      .patch(resources.deployments, 'd', { type: 'apply', body: deployment(5) }, { ...at, fieldManager: 'bob' })
      .catch((reason: unknown) => reason);
    expect(isConflict(error)).toBe(true);
    expect(error).toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "alice": .spec.replicas',
      status: {
        details: {
          causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "alice"', field: '.spec.replicas' }],
        },
      },
    });
    const forced = await api.patch(
      resources.deployments,
      'd',
      { type: 'apply', body: deployment(5), force: true },
      { ...at, fieldManager: 'bob' },
    );
    expect(forced.spec?.replicas).toBe(5);
    const alice = forced.metadata?.managedFields?.find(({ manager }) => manager === 'alice');
    expect(alice?.fieldsV1).not.toHaveProperty('f:spec.f:replicas');
  });

  test('an update takes the fields it changes away from an applier, who then conflicts', async () => {
    const { api } = setUp();
    await api.patch(
      resources.deployments,
      'd',
      { type: 'apply', body: deployment(2) },
      { ...at, fieldManager: 'alice' },
    );
    await api.patch(
      resources.deployments,
      'd',
      { type: 'merge', body: { spec: { replicas: 9 } } },
      { ...at, fieldManager: 'scaler' },
    );
    await expect(
      api.patch(resources.deployments, 'd', { type: 'apply', body: deployment(2) }, { ...at, fieldManager: 'alice' }),
    ).rejects.toThrow('Apply failed with 1 conflict: conflict with "scaler" using apps/v1: .spec.replicas');
    // Not naming it any more leaves it to the scaler.
    const yielded = await api.patch(
      resources.deployments,
      'd',
      { type: 'apply', body: deployment(undefined) },
      { ...at, fieldManager: 'alice' },
    );
    expect(yielded.spec?.replicas).toBe(9);
  });

  test('what an applier no longer names is removed, unless someone else owns it too', async () => {
    const { api } = setUp();
    const both = [
      {
        name: 'main',
        image: 'a:1',
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      },
      { name: 'side', image: 'b:1' },
    ];
    await api.patch(
      resources.deployments,
      'd',
      { type: 'apply', body: deployment(2, both) },
      { ...at, fieldManager: 'alice' },
    );
    await api.patch(
      resources.deployments,
      'd',
      {
        type: 'apply',
        body: deployment(undefined, [{ name: 'main', image: 'a:1', env: [{ name: 'B', value: '2' }] }]),
      },
      { ...at, fieldManager: 'bob' },
    );
    const after = await api.patch(
      resources.deployments,
      'd',
      { type: 'apply', body: deployment(2, [{ name: 'main', image: 'a:1' }]) },
      { ...at, fieldManager: 'alice' },
    );
    const containers = after.spec?.template.spec?.containers;
    expect(containers?.map(({ name }) => name)).toEqual(['main']);
    expect(containers?.[0]?.env).toEqual([{ name: 'B', value: '2' }]);
  });

  test.each([
    ['', '100m'],
    ['in another form than what is stored ', '0.10'],
  ])('applying the same %sagain writes nothing', async (_, cpu) => {
    const { api, clock } = setUp();
    const applyAs = (fieldManager: string, metadata: object, container: object) => {
      const whole = deployment(2, [{ name: 'main', image: 'a:1', ...container }]);
      const body = { ...whole, metadata: { ...whole.metadata, ...metadata } };
      return api.patch(resources.deployments, 'd', { type: 'apply', body }, { ...at, fieldManager });
    };
    const sized = { resources: { requests: { cpu } } };
    await applyAs('zoe', {}, sized);
    await clock.advance(5_000);
    const first = await applyAs('alice', {}, {});
    await clock.advance(5_000);
    expect(await applyAs('zoe', {}, sized)).toEqual(first);
    const labelled = await applyAs('zoe', { labels: { a: 'b' } }, sized);
    expect(labelled.metadata?.managedFields?.find(({ manager }) => manager === 'zoe')?.time).toBe(
      '2026-01-01T00:00:10Z',
    );
  });

  test("a manager, and no managedFields of one's own, are required", async () => {
    const { api } = setUp();
    await expect(api.patch(resources.deployments, 'd', { type: 'apply', body: deployment(1) }, at)).rejects.toThrow(
      'fieldManager',
    );
    const body = { ...deployment(1), metadata: { name: 'd', managedFields: [] } };
    await expect(
      api.patch(resources.deployments, 'd', { type: 'apply', body }, { ...at, fieldManager: 'a' }),
    ).rejects.toThrow('metadata.managedFields must be nil');
  });
});

describe('ownership by updates', () => {
  test('each manager keeps what it set last; the status subresource has its own entry', async () => {
    const { api } = setUp();
    await api.create(
      resources.configMaps,
      { metadata: { name: 'c', namespace: 'default' }, data: { a: '1', b: '2' } },
      { fieldManager: 'one' },
    );
    const changed = await api.patch(
      resources.configMaps,
      'c',
      { type: 'merge', body: { data: { b: '3' } } },
      { ...at, fieldManager: 'two' },
    );
    expect(changed.metadata?.managedFields?.map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      ['one', { 'f:data': { '.': {}, 'f:a': {} } }],
      ['two', { 'f:data': { 'f:b': {} } }],
    ]);
    await api.patch(resources.deployments, 'd', { type: 'apply', body: deployment(1) }, { ...at, fieldManager: 'one' });
    const reported = await api.patch(
      resources.deployments,
      'd',
      { type: 'merge', body: { status: { replicas: 1 } } },
      { ...at, fieldManager: 'ctl', subresource: 'status' },
    );
    expect(reported.metadata?.managedFields?.find(({ manager }) => manager === 'ctl')).toMatchObject({
      operation: 'Update',
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:replicas': {} } },
    });
  });
});
