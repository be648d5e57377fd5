import { describe, expect, test } from 'vitest';
import { isForbidden } from '../../../api/kube-error.ts';
import { resources } from '../../../api/resources.ts';
import { createTestServer, IN_DEFAULT, testPod } from '../testing/test-server.ts';

const core = (plural: string, kind: string) => ({ group: '', version: 'v1', plural, kind, namespaced: true });
const LIMIT_RANGES = core('limitranges', 'LimitRange');
const QUOTAS = core('resourcequotas', 'ResourceQuota');
const named = (content: object) => ({ metadata: { name: 'bounds', namespace: 'default' }, ...content });
const sized = (name: string, requests: Record<string, string>, limits: Record<string, string> = {}) =>
  testPod(name, { containers: [{ name: 'main', image: 'i:1', resources: { requests, limits } }] });

describe('LimitRange', () => {
  test('gives default requests and limits', async () => {
    const { api } = createTestServer();
    await api.create(
      LIMIT_RANGES,
      named({
        spec: {
          limits: [{ type: 'Container', default: { memory: '1Gi' }, defaultRequest: { cpu: '50m', memory: '256Mi' } }],
        },
      }),
    );
    const pod = await api.create(resources.pods, testPod('a'));
    expect(pod.spec?.containers[0]?.resources).toEqual({
      limits: { memory: '1Gi' },
      requests: { cpu: '50m', memory: '256Mi' },
    });
    expect(pod.status?.qosClass).toBe('Burstable');
  });

  test.each<[object, ReturnType<typeof sized>, string]>([
    [
      { max: { cpu: '500m' } },
      sized('a', { cpu: '100m' }, { cpu: '600m' }),
      'pods "a" is forbidden: maximum cpu usage per Container is 500m, but limit is 600m',
    ],
    [
      { type: 'Pod', max: { cpu: '500m' } },
      sized('a', { cpu: '100m' }),
      'maximum cpu usage per Pod is 500m.  No limit is specified',
    ],
    [
      { min: { memory: '1Gi' } },
      sized('a', { memory: '512Mi' }),
      'minimum memory usage per Container is 1Gi, but request is 512Mi',
    ],
    [
      { type: 'Pod', min: { cpu: '1' } },
      sized('a', { memory: '512Mi' }),
      'minimum cpu usage per Pod is 1.  No request is specified',
    ],
    [
      { maxLimitRequestRatio: { cpu: '2' } },
      sized('a', { cpu: '1' }, { cpu: '3' }),
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    ],
    [
      { maxLimitRequestRatio: { cpu: '2' } },
      sized('a', { cpu: '1' }),
      'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
    ],
    [
      { type: 'Pod', max: { cpu: '1' } },
      sized('a', { cpu: '1500m' }, { cpu: '1500m' }),
      'maximum cpu usage per Pod is 1, but limit is 1500m',
    ],
  ])('%o refuses what is out of bounds', async (limit, pod, message) => {
    const { api } = createTestServer();
    await api.create(LIMIT_RANGES, named({ spec: { limits: [{ type: 'Container', ...limit }] } }));
    const error = await api.create(resources.pods, pod).catch((reason: unknown) => reason);
    expect(isForbidden(error)).toBe(true);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
  });
});

describe('overhead of a pod', () => {
  const withOverhead = (requests: Record<string, string>, limits: Record<string, string> = {}) =>
    testPod('a', {
      containers: [{ name: 'main', image: 'i:1', resources: { requests, limits } }],
      overhead: { cpu: '300m' },
    });

  test('is nothing to a LimitRange of pods', async () => {
    const { api } = createTestServer();
    const limits = [{ type: 'Pod', max: { cpu: '1' }, min: { cpu: '900m' } }];
    await api.create(LIMIT_RANGES, named({ spec: { limits } }));
    const less = api.create(resources.pods, withOverhead({ cpu: '800m' }, { cpu: '800m' }));
    await expect(less).rejects.toThrow('minimum cpu usage per Pod is 900m, but request is 800m');
    await api.create(resources.pods, withOverhead({ cpu: '1' }, { cpu: '1' }));
  });

  test('counts against a quota, for limits only where there are some', async () => {
    const { api, clock } = createTestServer();
    await api.create(resources.pods, withOverhead({ cpu: '700m' }));
    await api.create(QUOTAS, named({ spec: { hard: { 'requests.cpu': '2', 'limits.cpu': '2' } } }));
    await clock.advance(0);
    expect(await api.get(QUOTAS, 'bounds', IN_DEFAULT)).toMatchObject({
      status: { used: { 'requests.cpu': '1', 'limits.cpu': '0' } },
    });
  });
});

describe('ResourceQuota', () => {
  test('counts what is there, refuses what is too much, and keeps its status', async () => {
    const { api, clock } = createTestServer();
    await api.create(QUOTAS, named({ spec: { hard: { 'requests.cpu': '800m', pods: '3' } } }));
    await api.create(resources.pods, sized('a', { cpu: '600m' }));
    await expect(api.create(resources.pods, sized('b', { cpu: '300m' }))).rejects.toThrow(
      'pods "b" is forbidden: exceeded quota: bounds, requested: requests.cpu=300m, used: requests.cpu=600m, limited: requests.cpu=800m',
    );
    await expect(api.create(resources.pods, testPod('c'))).rejects.toThrow(
      'failed quota: bounds: must specify requests.cpu for: main',
    );
    const initContainers = [{ name: 'before', image: 'image:1' }];
    const withInit = { ...sized('d', { cpu: '1m' }) };
    await expect(
      api.create(resources.pods, {
        ...withInit,
        spec: { ...withInit.spec, containers: withInit.spec?.containers ?? [], initContainers },
      }),
    ).rejects.toThrow('failed quota: bounds: must specify requests.cpu for: before');
    await api.create(resources.pods, sized('b', { cpu: '200m' }));
    await clock.advance(0);
    expect(await api.get(QUOTAS, 'bounds', IN_DEFAULT)).toMatchObject({
      status: { hard: { 'requests.cpu': '800m', pods: '3' }, used: { 'requests.cpu': '800m', pods: '2' } },
    });
    await api.delete(resources.pods, 'a', IN_DEFAULT);
    await clock.advance(0);
    expect(await api.get(QUOTAS, 'bounds', IN_DEFAULT)).toMatchObject({
      status: { used: { 'requests.cpu': '200m', pods: '1' } },
    });
  });

  test('a resize counts by its difference', async () => {
    const { api } = createTestServer();
    await api.create(QUOTAS, named({ spec: { hard: { cpu: '800m' } } }));
    await api.create(resources.pods, sized('a', { cpu: '600m' }));
    const resize = (cpu: string) =>
      api.patch(
        resources.pods,
        'a',
        { type: 'strategic', body: { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } } },
        { ...IN_DEFAULT, subresource: 'resize' },
      );
    await expect(resize('900m')).rejects.toThrow(
      'exceeded quota: bounds, requested: cpu=300m, used: cpu=600m, limited: cpu=800m',
    );
    expect((await resize('800m')).spec?.containers[0]?.resources?.requests).toEqual({ cpu: '800m' });
  });
});
