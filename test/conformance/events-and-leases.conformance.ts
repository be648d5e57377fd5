import { describe, expect, test } from 'vitest';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';

function event(namespace: string, overrides: Json = {}): Json {
  return {
    metadata: { name: 'a' },
    eventTime: '2026-01-01T00:00:00.123456Z',
    reportingController: 'stowage.io/operator',
    reportingInstance: 'operator-0',
    action: 'Evict',
    reason: 'Because',
    type: 'Normal',
    regarding: { apiVersion: 'v1', kind: 'Pod', name: 'p', namespace },
    note: 'text',
    ...overrides,
  };
}

describeOnBackends('events and leases', (cluster) => {
  describe('events.k8s.io', () => {
    test('are stored as given, and seen through the core API in its form', async () => {
      const { post, get, namespace } = cluster();
      const { events, name } = await namespace();
      const created = await post(events, event(name));
      expect(created.status).toBe(201);
      expect(created.body).toMatchObject({
        kind: 'Event',
        apiVersion: 'events.k8s.io/v1',
        note: 'text',
        regarding: { name: 'p' },
      });
      const core = await get(`/api/v1/namespaces/${name}/events/a`);
      expect(core.body).toMatchObject({
        kind: 'Event',
        apiVersion: 'v1',
        message: 'text',
        involvedObject: { kind: 'Pod', name: 'p', namespace: name },
        reportingComponent: 'stowage.io/operator',
        reportingInstance: 'operator-0',
        eventTime: '2026-01-01T00:00:00.123456Z',
        firstTimestamp: null,
        lastTimestamp: null,
        action: 'Evict',
      });
    });

    test('written through the core API need none of the new fields', async () => {
      const { post, get, namespace } = cluster();
      const { events, name } = await namespace();
      const old = {
        metadata: { name: 'old' },
        involvedObject: { kind: 'Pod', name: 'p', namespace: name },
        reason: 'Because',
        message: 'text',
        type: 'Normal',
        count: 3,
      };
      expect((await post(`/api/v1/namespaces/${name}/events`, old)).status).toBe(201);
      expect((await get(`${events}/old`)).body).toMatchObject({ note: 'text', deprecatedCount: 3 });
    });

    test.each([
      ['no eventTime', { eventTime: undefined }, 'eventTime'],
      ['no reportingController', { reportingController: undefined }, 'reportingController'],
      ['no reportingInstance', { reportingInstance: undefined }, 'reportingInstance'],
      ['no action', { action: undefined }, 'action'],
      ['no reason', { reason: undefined }, 'reason'],
      ['a type other than Normal and Warning', { type: 'Odd' }, 'type'],
      ['an action of more than 128 characters', { action: 'x'.repeat(129) }, 'action'],
      ['a reason of more than 128 characters', { reason: 'x'.repeat(129) }, 'reason'],
      ['a note of more than 1024 bytes', { note: 'x'.repeat(1025) }, 'message'],
      [
        'a cluster object in a namespace other than default',
        { regarding: { kind: 'Node', name: 'n' } },
        'involvedObject.namespace',
      ],
    ])('with %s are 422', async (_, overrides, field) => {
      const { post, namespace } = cluster();
      const { events, name } = await namespace();
      const { status, body } = await post(events, event(name, overrides));
      expect(status).toBe(422);
      expect(body).toMatchObject({
        reason: 'Invalid',
        details: { causes: expect.arrayContaining([expect.objectContaining({ field })]) },
      });
    });

    test('of cluster objects live in the namespace default', async () => {
      const { post, namespace } = cluster();
      const { name } = await namespace();
      const body = event('default', { metadata: { name }, regarding: { kind: 'Node', name } });
      expect((await post('/apis/events.k8s.io/v1/namespaces/default/events?dryRun=All', body)).status).toBe(201);
    });

    test('a series can be added later, nothing else changed', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { events, name } = await namespace();
      await must(post(events, event(name)));
      const series = { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' };
      const patched = await mergePatch(`${events}/a`, { series });
      expect(patched.status).toBe(200);
      expect(patched.body).toMatchObject({ series });
      for (const change of [{ note: 'another' }, { reason: 'Another' }, { eventTime: '2026-02-01T00:00:00.000000Z' }]) {
        expect((await mergePatch(`${events}/a`, change)).status).toBe(422);
      }
    });

    test('can be found by the object they are about', async () => {
      const { post, get, must, namespace } = cluster();
      const { events, name } = await namespace();
      await must(post(events, event(name)));
      await must(
        post(events, event(name, { metadata: { name: 'b' }, regarding: { kind: 'Pod', name: 'q', namespace: name } })),
      );
      expect((await get(`${events}?fieldSelector=regarding.name%3Dq`)).body).toMatchObject({
        items: [{ metadata: { name: 'b' } }],
      });
      const found = await get(`/api/v1/namespaces/${name}/events?fieldSelector=involvedObject.name%3Dq`);
      expect(found.body).toMatchObject({ items: [{ metadata: { name: 'b' } }] });
    });
  });

  describe('times with microseconds', () => {
    test.each([
      ['three digits', '2026-01-01T00:00:00.123Z'],
      ['no fraction', '2026-01-01T00:00:00Z'],
      ['nine digits', '2026-01-01T00:00:00.123456789Z'],
    ])('%s are 400, for leases and events', async (_, time) => {
      const { post, namespace } = cluster();
      const { leases, events, name } = await namespace();
      const lease = await post(leases, {
        metadata: { name: 'a' },
        spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: time },
      });
      expect(lease.status).toBe(400);
      expect(lease.body['message']).toContain(`parsing time "${time}" as "2006-01-02T15:04:05.000000Z07:00"`);
      expect((await post(events, event(name, { eventTime: time }))).status).toBe(400);
    });

    test('six digits are kept as they are', async () => {
      const { post, namespace } = cluster();
      const { leases } = await namespace();
      const spec = {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.120000Z',
        leaseTransitions: 0,
      };
      const { status, body } = await post(leases, { metadata: { name: 'a' }, spec });
      expect(status).toBe(201);
      expect(body['spec']).toEqual(spec);
    });
  });

  describe('leases', () => {
    test('durations are positive, transitions not negative', async () => {
      const { post, namespace } = cluster();
      const { leases } = await namespace();
      const { status, body } = await post(leases, {
        metadata: { name: 'a' },
        spec: { leaseDurationSeconds: 0, leaseTransitions: -1 },
      });
      expect(status).toBe(422);
      expect(body).toMatchObject({
        details: { causes: [{ field: 'spec.leaseDurationSeconds' }, { field: 'spec.leaseTransitions' }] },
      });
    });

    test('of two that renew from the same version, one wins', async () => {
      const { post, put, must, namespace } = cluster();
      const { leases } = await namespace();
      const lease = await must(
        post(leases, { metadata: { name: 'a' }, spec: { holderIdentity: '', leaseDurationSeconds: 15 } }),
      );
      const claim = (holderIdentity: string): Json => ({
        ...lease,
        spec: { holderIdentity, leaseDurationSeconds: 15 },
      });
      const answers = await Promise.all([put(`${leases}/a`, claim('one')), put(`${leases}/a`, claim('two'))]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
      const winner = answers.find(({ status }) => status === 200);
      expect(textAt(winner?.body, 'metadata', 'resourceVersion')).not.toBe(
        textAt(lease, 'metadata', 'resourceVersion'),
      );
    });

    test('are made by a replacement where there is none, unless it names one that was; a patch makes none', async () => {
      const { put, mergePatch, post, namespace } = cluster();
      const { leases, configMaps } = await namespace();
      const spec = { holderIdentity: 'one', leaseDurationSeconds: 15 };
      const made = await put(`${leases}/a`, { metadata: { name: 'a', resourceVersion: '7' }, spec });
      expect([made.status, at(made.body, 'spec')]).toEqual([201, spec]);
      expect((await post(leases, { metadata: { name: 'a' }, spec })).status).toBe(409);
      const uid = '00000000-0000-4000-8000-000000000000';
      const gone = await put(`${leases}/b`, { metadata: { name: 'b', uid }, spec });
      expect([gone.status, gone.body['reason']]).toEqual([409, 'Conflict']);
      expect(gone.body['message']).toContain(`Precondition failed: UID in precondition: ${uid}, UID in object meta: `);
      expect((await mergePatch(`${leases}/b`, { spec })).status).toBe(404);
      expect((await put(`${configMaps}/b`, { metadata: { name: 'b' } })).status).toBe(404);
    });

    test('can be released by an empty holder', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { leases } = await namespace();
      await must(post(leases, { metadata: { name: 'a' }, spec: { holderIdentity: 'one', leaseDurationSeconds: 15 } }));
      const { status, body } = await mergePatch(`${leases}/a`, {
        spec: { holderIdentity: '', leaseDurationSeconds: 1 },
      });
      expect(status).toBe(200);
      expect(at(body, 'spec', 'holderIdentity')).toBe('');
    });
  });
});
