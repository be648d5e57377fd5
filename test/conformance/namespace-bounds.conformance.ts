/** LimitRange and ResourceQuota: what they give and refuse, at creation and when a pod is resized. */
import { expect, test } from 'vitest';
import { at, type Cluster, type Namespace } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { pod, podSpec } from './objects.ts';
import { quotaInForce, usedOf } from './quotas.ts';
import { sizedNode } from './sized-node.ts';

const sized = (cpu: string, cpuLimit: string, memory = '64Mi', memoryLimit = '128Mi'): Json => ({
  requests: { cpu, memory },
  limits: { cpu: cpuLimit, memory: memoryLimit },
});
const core = ({ name }: Namespace): string => `/api/v1/namespaces/${name}`;

describeOnBackends('bounds of a namespace', (cluster) => {
  const resize = ({ strategicPatch }: Cluster, { pods }: Namespace, resources: Json, query = '') =>
    strategicPatch(`${pods}/a/resize${query}`, { spec: { containers: [{ name: 'main', resources }] } });
  const limitRange = async (namespace: Namespace, ...limits: Json[]): Promise<void> => {
    const { post, must } = cluster();
    await must(post(`${core(namespace)}/limitranges`, { metadata: { name: 'bounds' }, spec: { limits } }));
  };
  const quota = (own: Namespace, name: string, spec: Json, used?: Json) =>
    quotaInForce(cluster(), own, name, spec, used);
  const used = (own: Namespace, name: string) => usedOf(cluster(), own, name);

  test('a LimitRange of containers gets its defaults from its bounds', async () => {
    const { get, post, namespace } = cluster();
    const own = await namespace();
    await limitRange(own, {
      type: 'Container',
      max: { cpu: '0.5', memory: '256Mi' },
      min: { cpu: '50m', 'ephemeral-storage': '1Mi' },
    });
    expect(at((await get(`${core(own)}/limitranges/bounds`)).body, 'spec', 'limits')).toEqual([
      {
        type: 'Container',
        max: { cpu: '500m', memory: '256Mi' },
        min: { cpu: '50m', 'ephemeral-storage': '1Mi' },
        default: { cpu: '500m', memory: '256Mi' },
        defaultRequest: { cpu: '500m', memory: '256Mi', 'ephemeral-storage': '1Mi' },
      },
    ]);
    const { body } = await post(own.pods, pod('a'));
    expect(at(body, 'spec', 'containers', 0, 'resources')).toEqual({
      limits: { cpu: '500m', memory: '256Mi' },
      requests: { cpu: '500m', memory: '256Mi', 'ephemeral-storage': '1Mi' },
    });
    expect(at(body, 'metadata', 'annotations', 'kubernetes.io/limit-ranger')).toBe(
      'LimitRanger plugin set: cpu, ephemeral-storage, memory request for container main; cpu, memory limit for container main',
    );
  });

  test.each<[string, Json, string]>([
    ['above the greatest', sized('300m', '600m'), 'maximum cpu usage per Container is 500m, but limit is 600m'],
    ['below the least', sized('40m', '100m'), 'minimum cpu usage per Container is 50m, but request is 40m'],
    [
      'too far from its request',
      sized('50m', '500m'),
      'cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000',
    ],
    [
      'wrong in every way',
      sized('40m', '600m'),
      '[minimum cpu usage per Container is 50m, but request is 40m, maximum cpu usage per Container is 500m, but limit is 600m, cpu max limit to request ratio per Container is 4, but provided ratio is 15.000000]',
    ],
  ])('a resize to something %s is refused by the LimitRange', async (_, resources, why) => {
    const { post, must, namespace } = cluster();
    const own = await namespace();
    const bounds = { max: { cpu: '500m' }, min: { cpu: '50m' }, maxLimitRequestRatio: { cpu: '4' } };
    await limitRange(own, { type: 'Container', ...bounds });
    await must(post(own.pods, pod('a', { resources: sized('100m', '200m') })));
    const { status, body } = await resize(cluster(), own, resources);
    expect(status).toBe(403);
    expect(body).toMatchObject({ reason: 'Forbidden', details: { name: 'a', kind: 'pods' } });
    expect(body['message']).toBe(`pods "a" is forbidden: ${why}`);
    expect((await resize(cluster(), own, sized('200m', '400m'))).status).toBe(200);
  });

  test('a pod that is out of bounds already cannot be resized, not even elsewhere', async () => {
    const { post, must, namespace } = cluster();
    const own = await namespace();
    await must(post(own.pods, pod('a', { resources: sized('100m', '200m') })));
    await limitRange(own, { type: 'Container', max: { memory: '100Mi' } });
    await cluster().eventually(async () =>
      expect((await resize(cluster(), own, { requests: { cpu: '150m' } }, '?dryRun=All')).status).toBe(403),
    );
    const { status, body } = await resize(cluster(), own, { requests: { cpu: '150m' } });
    expect(status).toBe(403);
    expect(body['message']).toBe(
      'pods "a" is forbidden: maximum memory usage per Container is 100Mi, but limit is 128Mi',
    );
  });

  test('a resize counts by its difference against the ResourceQuota', async () => {
    const { post, must, namespace } = cluster();
    const own = await namespace();
    await must(post(own.pods, pod('a', { resources: sized('200m', '400m') })));
    const hard = { 'requests.cpu': '1', 'limits.cpu': '2', pods: '5' };
    await quota(own, 'all', { hard }, { 'requests.cpu': '200m', 'limits.cpu': '400m', pods: '1' });
    const over = await resize(cluster(), own, sized('1100m', '1200m'));
    expect(over.status).toBe(403);
    expect(over.body).toMatchObject({ reason: 'Forbidden', details: { name: 'a', kind: 'pods' } });
    expect(over.body['message']).toBe(
      'pods "a" is forbidden: exceeded quota: all, requested: requests.cpu=900m, used: requests.cpu=200m, limited: requests.cpu=1',
    );
    expect((await resize(cluster(), own, sized('1100m', '2100m'))).body['message']).toBe(
      'pods "a" is forbidden: exceeded quota: all, requested: limits.cpu=1700m,requests.cpu=900m, used: limits.cpu=400m,requests.cpu=200m, limited: limits.cpu=2,requests.cpu=1',
    );
    expect((await resize(cluster(), own, sized('500m', '900m'))).status).toBe(200);
    await cluster().eventually(async () =>
      expect(await used(own, 'all')).toEqual({ 'requests.cpu': '500m', 'limits.cpu': '900m', pods: '1' }),
    );
  });

  test('what a pod gives back is credited when its kubelet has made it smaller', async () => {
    const { post, strategicPatch, must, namespace, eventually } = cluster();
    const own = await namespace();
    const nodeName = await sizedNode(cluster(), { cpu: '4', memory: '8Gi', pods: '110' });
    await must(post(own.pods, pod('a', { nodeName, resources: sized('500m', '900m') })));
    const hold = (cpu: string, limit: string) => {
      const resources = sized(cpu, limit);
      const held = { name: 'main', image: 'i', imageID: '', ready: true, restartCount: 0, state: { running: {} } };
      const containerStatuses = [{ ...held, allocatedResources: at(resources, 'requests'), resources }];
      return must(strategicPatch(`${own.pods}/a/status`, { status: { phase: 'Running', containerStatuses } }));
    };
    await hold('500m', '900m');
    const hard = { 'requests.cpu': '1', 'limits.cpu': '1' };
    await quota(own, 'all', { hard }, { 'requests.cpu': '500m', 'limits.cpu': '900m' });
    await must(resize(cluster(), own, sized('200m', '400m')));
    expect(await used(own, 'all')).toEqual({ 'requests.cpu': '500m', 'limits.cpu': '900m' });
    const { body } = await post(own.pods, pod('b', { resources: sized('600m', '600m') }));
    expect(body['message']).toBe(
      'pods "b" is forbidden: exceeded quota: all, requested: limits.cpu=600m,requests.cpu=600m, used: limits.cpu=900m,requests.cpu=500m, limited: limits.cpu=1,requests.cpu=1',
    );
    await hold('200m', '400m');
    await eventually(async () =>
      expect(await used(own, 'all')).toEqual({ 'requests.cpu': '200m', 'limits.cpu': '400m' }),
    );
    // The admission knows of the new count from a watch.
    await eventually(async () =>
      expect((await post(own.pods, pod('b', { resources: sized('600m', '600m') }))).status).toBe(201),
    );
  });

  test('what one container gives back makes room for another of the pod: their sums count', async () => {
    const { strategicPatch, post, must, namespace } = cluster();
    const own = await namespace();
    const nodeName = await sizedNode(cluster(), { cpu: '4', memory: '8Gi', pods: '110' });
    const pair = (left: string, right: string) => [
      { name: 'left', resources: { requests: { cpu: left } } },
      { name: 'right', resources: { requests: { cpu: right } } },
    ];
    const containers = pair('500m', '100m').map((each) => ({ ...each, image: 'example.test/app:1' }));
    await must(post(own.pods, { ...pod('a'), spec: { ...podSpec({ nodeName }), containers } }));
    const containerStatuses = pair('500m', '100m').map(({ name, resources }) => ({
      ...{ name, image: 'i', imageID: '', ready: true, restartCount: 0, state: { running: {} } },
      allocatedResources: resources.requests,
      resources,
    }));
    await must(strategicPatch(`${own.pods}/a/status`, { status: { phase: 'Running', containerStatuses } }));
    await quota(own, 'all', { hard: { 'requests.cpu': '700m' } }, { 'requests.cpu': '600m' });
    const ask = (left: string, right: string) =>
      strategicPatch(`${own.pods}/a/resize`, { spec: { containers: pair(left, right) } });
    expect((await ask('200m', '300m')).status).toBe(200);
    expect(await used(own, 'all')).toEqual({ 'requests.cpu': '600m' });
    expect((await ask('500m', '300m')).body['message']).toBe(
      'pods "a" is forbidden: exceeded quota: all, requested: requests.cpu=200m, used: requests.cpu=600m, limited: requests.cpu=700m',
    );
  });

  test.each<[string, Json, Json, Json]>([
    ['BestEffort', { hard: { pods: '1' }, scopes: ['BestEffort'] }, {}, { resources: sized('1', '1') }],
    ['NotBestEffort', { hard: { pods: '1' }, scopes: ['NotBestEffort'] }, { resources: sized('1', '1') }, {}],
    ['Terminating', { hard: { pods: '1' }, scopes: ['Terminating'] }, { spec: { activeDeadlineSeconds: 60 } }, {}],
    [
      'NotTerminating',
      { hard: { pods: '1' }, scopes: ['NotTerminating'] },
      {},
      { spec: { activeDeadlineSeconds: 60 } },
    ],
    [
      'PriorityClass In',
      {
        hard: { pods: '1' },
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
        },
      },
      { spec: { priorityClassName: 'system-node-critical' } },
      {},
    ],
    [
      'PriorityClass DoesNotExist',
      {
        hard: { pods: '1' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'DoesNotExist' }] },
      },
      {},
      { spec: { priorityClassName: 'system-node-critical' } },
    ],
  ])('a quota with the scope %s counts and refuses only its pods', async (_, spec, within, outside) => {
    const { post, namespace } = cluster();
    const own = await namespace();
    await quota(own, 'scoped', spec);
    const make = (name: string, { resources, spec: more }: Json) => {
      const whole = pod(name, resources === undefined ? {} : { resources: resources as Json });
      return post(own.pods, { ...whole, spec: { ...(at(whole, 'spec') as Json), ...(more as Json | undefined) } });
    };
    expect((await make('a', within)).status).toBe(201);
    expect((await make('b', outside)).status).toBe(201);
    expect((await make('c', outside)).status).toBe(201);
    const refused = await make('d', within);
    expect(refused.status).toBe(403);
    expect(refused.body['message']).toBe(
      'pods "d" is forbidden: exceeded quota: scoped, requested: pods=1, used: pods=1, limited: pods=1',
    );
    expect(await used(own, 'scoped')).toEqual({ pods: '1' });
  });

  test.each<[Json, string]>([
    [{ hard: { pods: '1' }, scopes: ['Odd'] }, 'spec.scopes: Invalid value: ["Odd"]: unsupported scope'],
    [
      { hard: { 'requests.cpu': '1' }, scopes: ['BestEffort'] },
      'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
    ],
    [
      { hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] },
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
    ],
  ])('the quota %j is refused', async (spec, why) => {
    const { post, namespace } = cluster();
    const own = await namespace();
    const { status, body } = await post(`${core(own)}/resourcequotas`, { metadata: { name: 'bad' }, spec });
    expect(status).toBe(422);
    expect(body['message']).toBe(`ResourceQuota "bad" is invalid: ${why}`);
  });
});
