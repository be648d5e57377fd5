import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { startVirtualCluster, testNodes } from '../cluster/testing/virtual-cluster.ts';
import type { ResizeDecision } from '../decide/size-decision.ts';
import { approve } from '../guard/approved.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import { createProjections } from '../observe/project.ts';
import { plainSizing } from '../observe/sizing/compact-pod-sizing.ts';
import { createResize } from './resize.ts';

const { signal } = new AbortController();
const inDefault = { namespace: 'default' };

async function createWorld() {
  const world = await startVirtualCluster({ nodes: testNodes(1, 2000) });
  const { api } = world.cluster;
  const project = createProjections(
    (message) => {
      throw new Error(message);
    },
    { sizing: true },
  );
  const create = async (name: string, more: Partial<NonNullable<Pod['spec']>> = {}): Promise<void> => {
    await api.create(
      resources.pods,
      {
        metadata: { name, namespace: 'default' },
        spec: {
          containers: [
            {
              name: 'app',
              image: 'app:1',
              resources: { requests: { cpu: '200m', memory: '64Mi' }, limits: { memory: '128Mi' } },
            },
            { name: 'log', image: 'log:1', resources: { requests: { cpu: '50m' } } },
          ],
          ...more,
        },
      },
      inDefault,
    );
    await world.seconds(10);
  };
  const read = (name: string) => api.get(resources.pods, name, inDefault);
  const record = async (name: string): Promise<SizedPod> => {
    const pod = project.pod(await read(name));
    if (pod?.sizing === undefined) throw new Error('not read');
    return { pod, sizing: plainSizing(pod.sizing) };
  };
  return { ...world, world, api, create, read, record };
}

function decisionFor({ pod }: SizedPod, changes: Partial<ResizeDecision> = {}): ResizeDecision {
  return {
    kind: 'resize',
    engine: 'rightsizing',
    workload: undefined,
    workloadUid: undefined,
    pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
    changes: [
      { container: 'app', to: { cpuRequest: 300, memoryRequest: 96 * 2 ** 20 } },
      { container: 'log', to: { cpuRequest: 60 } },
    ],
    why: { summary: 'more', numbers: {} },
    ...changes,
  };
}

const requestsOf = (pod: Pod) => pod.spec?.containers.map(({ resources: amounts }) => amounts?.requests);

describe('resize', () => {
  test('one patch changes all containers of the running pod, and the kubelet follows', async () => {
    await using world = await createWorld();
    await world.create('web');
    const known = await world.record('web');
    const outcome = await createResize({ api: world.api, pod: () => known })(approve(decisionFor(known)), signal);
    expect(outcome).toMatchObject({ result: 'accepted' });
    const wanted = [{ cpu: '300m', memory: '96Mi' }, { cpu: '60m' }];
    expect(requestsOf(await world.read('web'))).toEqual(wanted);
    await world.seconds(5);
    const pod = await world.read('web');
    expect(pod.status?.containerStatuses?.map((status) => status.restartCount)).toEqual([0, 0]);
    expect((await world.record('web')).sizing.statuses.map(({ actual }) => actual?.cpuRequest)).toEqual([300, 60]);
    expect(outcome.result === 'accepted' && outcome.generation).toBe(pod.metadata?.generation);
  });

  test('what the pod had is kept on it before the first change, and not overwritten by the second', async () => {
    await using world = await createWorld();
    await world.create('web');
    for (const cpuRequest of [300, 400]) {
      const known = await world.record('web');
      const decision = decisionFor(known, { changes: [{ container: 'app', to: { cpuRequest } }] });
      expect(await createResize({ api: world.api, pod: () => known })(approve(decision), signal)).toMatchObject({
        result: 'accepted',
      });
      await world.seconds(5);
    }
    const annotations = (await world.read('web')).metadata?.annotations ?? {};
    expect(JSON.parse(annotations['optipod.io/original-resources'] ?? '')).toEqual({
      app: { requests: { cpu: '200m', memory: '64Mi' }, limits: { memory: '128Mi' } },
      log: { requests: { cpu: '50m' } },
    });
  });

  test('allocation keeps the CPU only, under its own key and field manager', async () => {
    await using world = await createWorld();
    await world.create('web');
    const known = await world.record('web');
    const decision = decisionFor(known, {
      engine: 'allocation',
      changes: [{ container: 'app', to: { cpuRequest: 250, cpuLimit: 500 } }],
    });
    await createResize({ api: world.api, pod: () => known })(approve(decision), signal);
    const pod = await world.read('web');
    expect(JSON.parse(pod.metadata?.annotations?.['mbcas.io/original-resources'] ?? '')).toEqual({
      app: { requests: { cpu: '200m' } },
      log: { requests: { cpu: '50m' } },
    });
    expect((await world.record('web')).sizing.sizeManagers).toEqual(['mbcas-controller']);
  });

  test.each(['as known', 'by an older record'])(
    'of CPU that allocation has given, rightsizing keeps what the pod had before (%s)',
    async (how) => {
      await using world = await createWorld();
      await world.create('web');
      const before = await world.record('web');
      const share = decisionFor(before, {
        engine: 'allocation',
        changes: [{ container: 'app', to: { cpuRequest: 600, cpuLimit: 700 } }],
      });
      await createResize({ api: world.api, pod: () => before })(approve(share), signal);
      await world.seconds(5);
      const given = await world.record('web');
      const stale = { ...given, pod: before.pod, sizing: { ...given.sizing, marks: before.sizing.marks } };
      const known = how === 'as known' ? given : stale;
      const decision = decisionFor(known, { changes: [{ container: 'app', to: { memoryRequest: 96 * 2 ** 20 } }] });
      expect(await createResize({ api: world.api, pod: () => known })(approve(decision), signal)).toMatchObject({
        result: 'accepted',
      });
      const annotations = (await world.read('web')).metadata?.annotations ?? {};
      expect(JSON.parse(annotations['optipod.io/original-resources'] ?? '')).toEqual({
        app: { requests: { cpu: '200m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        log: { requests: { cpu: '50m' } },
      });
    },
  );

  test('an older record still keeps what the pod has: it is read once', async () => {
    await using world = await createWorld();
    await world.create('web');
    const known = await world.record('web');
    await world.api.patch(
      resources.pods,
      'web',
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
      inDefault,
    );
    const outcome = await createResize({ api: world.api, pod: () => known })(approve(decisionFor(known)), signal);
    expect(outcome.result).toBe('accepted');
    expect((await world.read('web')).metadata?.annotations?.['optipod.io/original-resources']).toContain('200m');
  });

  test('a pod resized by someone else meanwhile is decided anew', async () => {
    await using world = await createWorld();
    await world.create('web');
    const known = await world.record('web');
    const body = { spec: { containers: [{ name: 'app', resources: { requests: { cpu: '210m' } } }] } };
    await world.api.patch(resources.pods, 'web', { type: 'strategic', body }, { ...inDefault, subresource: 'resize' });
    const outcome = await createResize({ api: world.api, pod: () => known })(approve(decisionFor(known)), signal);
    expect(outcome).toMatchObject({ result: 'refused', action: 'retry', reason: 'ResizeConflict' });
    expect(requestsOf(await world.read('web'))?.[0]).toEqual({ cpu: '210m', memory: '64Mi' });
  });

  test.each([
    ['a conflict', 409, 2],
    ['any other answer', 403, 1],
    ['trouble of the server', 500, 1],
  ])('%s (%i) of the API server: asked %i times in all', async (_, code, times) => {
    await using world = await createWorld();
    await world.create('web');
    const known = await world.record('web');
    const asked: string[] = [];
    const refuse = (subresource: string): Pick<KubeApi, 'get' | 'patch'> => ({
      get: (...args) => world.api.get(...args),
      async patch(type, name, patch, options) {
        const what = options?.subresource ?? 'metadata';
        asked.push(what);
        if (what !== subresource) return await world.api.patch(type, name, patch, options);
        throw new KubeError(code, undefined, 'no');
      },
    });
    for (const refused of ['metadata', 'resize']) {
      const api = { ...world.api, ...refuse(refused) };
      const outcome = await createResize({ api, pod: () => known })(approve(decisionFor(known)), signal);
      expect(outcome.result).toBe('refused');
    }
    const twice = (what: string): string[] => Array.from({ length: times }, () => what);
    expect(asked).toEqual([...twice('metadata'), 'metadata', ...twice('resize')]);
  });

  test.each([{ isWithdrawal: true }, { isRestore: true }] as const)(
    'what is taken or put back is nothing to be kept: %j',
    async (changes) => {
      await using world = await createWorld();
      await world.create('web');
      const known = await world.record('web');
      const outcome = await createResize({ api: world.api, pod: () => known })(
        approve(decisionFor(known, changes)),
        signal,
      );
      expect(outcome.result).toBe('accepted');
      expect((await world.read('web')).metadata?.annotations ?? {}).not.toHaveProperty('optipod.io/original-resources');
    },
  );

  test('a native sidecar is resized where it lives, among the init containers', async () => {
    await using world = await createWorld();
    const sidecar = {
      name: 'proxy',
      image: 'proxy:1',
      restartPolicy: 'Always',
      resources: { requests: { cpu: '20m' } },
    };
    await world.create('web', { initContainers: [sidecar] });
    const known = await world.record('web');
    const decision = decisionFor(known, { changes: [{ container: 'proxy', to: { cpuRequest: 30 } }] });
    await createResize({ api: world.api, pod: () => known })(approve(decision), signal);
    expect((await world.read('web')).spec?.initContainers?.[0]?.resources?.requests).toEqual({ cpu: '30m' });
  });

  test('a pod that is gone, or another of its name, is left alone', async () => {
    await using world = await createWorld();
    await world.create('web');
    const known = await world.record('web');
    const resize = createResize({ api: world.api, pod: () => known });
    const older: SizedPod = { ...known, pod: { ...known.pod, uid: 'older' } };
    expect(await resize(approve(decisionFor(older)), signal)).toEqual({ result: 'gone' });
    // The record itself is older than the pod that has the name now.
    const stale = createResize({ api: world.api, pod: () => older });
    expect(await stale(approve(decisionFor(older)), signal)).toEqual({ result: 'gone' });
    const kept: SizedPod = { ...older, sizing: { ...older.sizing, marks: { 'optipod.io/original-resources': '{}' } } };
    const marked = createResize({ api: world.api, pod: () => kept });
    expect(await marked(approve(decisionFor(kept)), signal)).toEqual({ result: 'gone' });
    expect(requestsOf(await world.read('web'))?.[0]).toEqual({ cpu: '200m', memory: '64Mi' });
    await world.api.delete(resources.pods, 'web', { ...inDefault, gracePeriodSeconds: 0 });
    expect(await resize(approve(decisionFor(known)), signal)).toEqual({ result: 'gone' });
  });

  test('the same resize again changes nothing', async () => {
    await using world = await createWorld();
    await world.create('web');
    const known = await world.record('web');
    const resize = createResize({ api: world.api, pod: () => known });
    await resize(approve(decisionFor(known)), signal);
    await world.seconds(5);
    const before = await world.read('web');
    const marked = await world.record('web');
    const again = createResize({ api: world.api, pod: () => marked });
    expect(await again(approve(decisionFor(marked)), signal)).toMatchObject({ result: 'accepted' });
    expect((await world.read('web')).metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  });
});

describe('conflicts without a precondition', () => {
  const conflict = new KubeError(409, { reason: 'Conflict', message: 'the object has been modified' }, '');
  test.each([
    [1, 'accepted'],
    [2, 'refused'],
  ])('%i in a row: %s', async (conflicts, result) => {
    await using world = await createWorld();
    await world.create('web');
    const known = await world.record('web');
    let left = conflicts;
    const api: KubeApi = {
      ...world.api,
      patch: async (type, name, patch, options) => {
        if (options?.subresource === 'resize' && left-- > 0) throw conflict;
        return await world.api.patch(type, name, patch, options);
      },
    };
    expect((await createResize({ api, pod: () => known })(approve(decisionFor(known)), signal)).result).toBe(result);
  });
});
