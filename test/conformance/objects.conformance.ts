import { expect, test } from 'vitest';
import { textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';

describeOnBackends('objects', (cluster) => {
  test('create fills in identity, and what is created can be read back', async () => {
    const { post, get, namespace } = cluster();
    const { configMaps, name } = await namespace();
    const created = await post(configMaps, { metadata: { name: 'a' }, data: { key: 'value' } });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'a',
        namespace: name,
        uid: expect.stringMatching(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/),
        resourceVersion: expect.stringMatching(/^[1-9]\d*$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
      data: { key: 'value' },
    });
    expect(created.body).not.toHaveProperty('metadata.generation');
    const read = await get(`${configMaps}/a`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual(created.body);
  });

  test('generateName makes names of the prefix and five characters', async () => {
    const { post, namespace } = cluster();
    const { configMaps } = await namespace();
    const names = new Set<string>();
    for (let i = 0; i < 5; i++) {
      const { body } = await post(configMaps, { metadata: { generateName: 'made-' } });
      names.add(textAt(body, 'metadata', 'name'));
    }
    expect(names.size).toBe(5);
    for (const name of names) expect(name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test('creating what exists is AlreadyExists, not Conflict', async () => {
    const { post, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a' } }));
    const again = await post(configMaps, { metadata: { name: 'a' } });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      reason: 'AlreadyExists',
      code: 409,
      message: 'configmaps "a" already exists',
      details: { name: 'a', kind: 'configmaps' },
    });
  });

  test('what does not exist is NotFound for get, put, patch and delete', async () => {
    const { get, put, mergePatch, delete: remove, namespace } = cluster();
    const { configMaps } = await namespace();
    const answers = [
      await get(`${configMaps}/none`),
      await put(`${configMaps}/none`, { metadata: { name: 'none' } }),
      await put(`${configMaps}/none`, { metadata: { name: 'none', resourceVersion: '2' } }),
      await mergePatch(`${configMaps}/none`, { data: {} }),
      await remove(`${configMaps}/none`),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect(body).toMatchObject({
        reason: 'NotFound',
        message: 'configmaps "none" not found',
        details: { name: 'none', kind: 'configmaps' },
      });
    }
  });

  test('types of a group are named with it in errors', async () => {
    const { get, namespace } = cluster();
    const { deployments } = await namespace();
    const { body } = await get(`${deployments}/none`);
    expect(body).toMatchObject({
      message: 'deployments.apps "none" not found',
      details: { name: 'none', group: 'apps', kind: 'deployments' },
    });
  });

  test('an unknown type is NotFound too, but names nothing', async () => {
    const { get, namespace } = cluster();
    const { name } = await namespace();
    const { status, body } = await get(`/api/v1/namespaces/${name}/nothings/a`);
    expect(status).toBe(404);
    expect(body).toMatchObject({
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    });
    expect((await get('/apis/nothing.example/v1/things')).status).toBe(404);
  });

  test('a method the resource does not have is 405', async () => {
    const { put, namespace } = cluster();
    const { configMaps } = await namespace();
    const { status, body, headers } = await put(configMaps, {});
    expect(status).toBe(405);
    expect(body).toMatchObject({
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
      details: {},
    });
    // Against RFC 9110.
    expect(headers['allow']).toBeUndefined();
  });

  test('a namespace that does not exist refuses content', async () => {
    const { post } = cluster();
    const { status, body } = await post('/api/v1/namespaces/does-not-exist/configmaps', { metadata: { name: 'a' } });
    expect(status).toBe(404);
    expect(body).toMatchObject({
      message: 'namespaces "does-not-exist" not found',
      details: { name: 'does-not-exist', kind: 'namespaces' },
    });
  });

  test('put without resourceVersion overwrites, with a stale one conflicts', async () => {
    const { post, put, must, namespace } = cluster();
    const { configMaps } = await namespace();
    const first = await must(post(configMaps, { metadata: { name: 'a' }, data: { key: '1' } }));
    const second = await put(`${configMaps}/a`, { metadata: { name: 'a' }, data: { key: '2' } });
    expect(second.status).toBe(200);
    expect(textAt(second.body, 'metadata', 'resourceVersion')).not.toBe(textAt(first, 'metadata', 'resourceVersion'));
    const stale = await put(`${configMaps}/a`, { ...first, data: { key: '3' } });
    expect(stale.status).toBe(409);
    expect(stale.body).toMatchObject({
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  test('put with another uid conflicts: the object was deleted and made anew', async () => {
    const { post, put, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a' } }));
    const { status, body } = await put(`${configMaps}/a`, { metadata: { name: 'a', uid: 'another' } });
    expect(status).toBe(409);
    expect(body).toMatchObject({ reason: 'Conflict' });
    expect(body['message']).toContain('Precondition failed: UID in precondition: another, UID in object meta: ');
  });

  test('a put that changes nothing keeps the resourceVersion', async () => {
    const { post, put, must, namespace } = cluster();
    const { configMaps } = await namespace();
    const first = await must(post(configMaps, { metadata: { name: 'a' }, data: { key: '1' } }));
    const same = await put(`${configMaps}/a`, first);
    expect(same.status).toBe(200);
    expect(textAt(same.body, 'metadata', 'resourceVersion')).toBe(textAt(first, 'metadata', 'resourceVersion'));
  });

  test('names and namespaces of body and URL must agree', async () => {
    const { post, put, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a' } }));
    const otherName = await put(`${configMaps}/a`, { metadata: { name: 'b' } });
    expect(otherName.status).toBe(400);
    expect(otherName.body['message']).toBe('the name of the object (b) does not match the name on the URL (a)');
    const nameless = await put(`${configMaps}/a`, { metadata: {} });
    expect(nameless.status).toBe(400);
    expect(nameless.body['message']).toBe(
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    );
    const elsewhere = await put(`${configMaps}/a`, { metadata: { name: 'a', namespace: 'default' } });
    expect(elsewhere.status).toBe(400);
    const otherNamespace = await post(configMaps, { metadata: { name: 'b', namespace: 'default' } });
    expect(otherNamespace.status).toBe(400);
    for (const { body } of [elsewhere, otherNamespace])
      expect(body['message']).toBe(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
  });

  test.each([
    ['no name', {}, 'metadata.name', 'FieldValueRequired', 'Required value: name or generateName is required'],
    [
      'a name with capitals',
      { name: 'Bad_Name' },
      'metadata.name',
      'FieldValueInvalid',
      'Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain',
    ],
    [
      'a bad label key',
      { name: 'a', labels: { 'not a key': 'x' } },
      'metadata.labels',
      'FieldValueInvalid',
      'Invalid value: "not a key"',
    ],
    [
      'a bad label value',
      { name: 'a', labels: { key: 'not a value' } },
      'metadata.labels',
      'FieldValueInvalid',
      'Invalid value: "not a value"',
    ],
  ])('%s is 422 with the field as cause', async (_, metadata, field, reason, message) => {
    const { post, namespace } = cluster();
    const { configMaps } = await namespace();
    const { status, body } = await post(configMaps, { metadata });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      reason: 'Invalid',
      code: 422,
      details: { kind: 'ConfigMap', causes: [{ field, reason }] },
    });
    expect(textAt(body, 'details', 'causes', 0, 'message')).toContain(message);
    expect(body['message']).toMatch(/^ConfigMap ".*" is invalid: metadata\./);
  });

  test('dry run answers as if, and stores nothing', async () => {
    const { post, get, delete: remove, mergePatch, must, namespace } = cluster();
    const { configMaps } = await namespace();
    const created = await post(`${configMaps}?dryRun=All`, { metadata: { name: 'dry' } });
    expect(created.status).toBe(201);
    expect(created.body).toHaveProperty('metadata.uid');
    expect((await get(`${configMaps}/dry`)).status).toBe(404);
    await must(post(configMaps, { metadata: { name: 'wet' }, data: { key: '1' } }));
    expect((await mergePatch(`${configMaps}/wet?dryRun=All`, { data: { key: '2' } })).body).toMatchObject({
      data: { key: '2' },
    });
    expect((await remove(`${configMaps}/wet?dryRun=All`)).status).toBe(200);
    expect((await get(`${configMaps}/wet`)).body).toMatchObject({ data: { key: '1' } });
    expect((await post(`${configMaps}?dryRun=Nope`, { metadata: { name: 'dry' } })).status).toBe(422);
  });

  test('a write that is refused as dry run would be refused as a write', async () => {
    const { post, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a' } }));
    expect((await post(`${configMaps}?dryRun=All`, { metadata: { name: 'a' } })).status).toBe(409);
  });

  test('a body that is not JSON, or of another kind, is 400', async () => {
    const { post, namespace } = cluster();
    const { configMaps } = await namespace();
    const otherKind = await post(configMaps, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } });
    expect(otherKind.status).toBe(400);
    expect(otherKind.body).toMatchObject({ reason: 'BadRequest' });
    const wrongType = await post(configMaps, { metadata: { name: 'a' }, data: 'text' });
    expect(wrongType.status).toBe(400);
  });
});
