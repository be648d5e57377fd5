/** What the API server says to resizes, and what Stowage makes of it: the same answers go through its own table. */
import { describe, expect, test } from 'vitest';
import { outcomeOfResizeError } from '../../src/act/resize-outcome.ts';
import { KubeError } from '../../src/api/kube-error.ts';
import { discoveredResources } from '../../src/kube/discovery.ts';
import type { ResizeAnswer } from '../../src/lib/reason-resize-answers.ts';
import { resizeManagers } from '../../src/observe/sizing/resource-managers.ts';
import { at, type Cluster, type Namespace, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Answer, Json } from './endpoint.ts';
import { pod, runningStatus } from './objects.ts';
import { quotaInForce } from './quotas.ts';
import { sizedNode } from './sized-node.ts';

const sized: Json = { requests: { cpu: '200m', memory: '64Mi' }, limits: { cpu: '400m', memory: '128Mi' } };
const resizeOf = (resources: Json): Json => ({ spec: { containers: [{ name: 'main', resources }] } });

/** What `act` would make of the answer. */
function outcomeOf({ status, body, text }: Answer): ReturnType<typeof outcomeOfResizeError> {
  return outcomeOfResizeError(new KubeError(status, body, text));
}

interface Refusal {
  /** Of the pod that is made. */
  readonly spec?: Json;
  readonly metadata?: Json;
  readonly status?: Json;
  readonly patch?: Json;
  readonly reason: ResizeAnswer;
  readonly action: string;
}

describeOnBackends('resizes', (cluster) => {
  const make = async (own: Namespace, { spec = {}, metadata = {}, status }: Partial<Refusal> = {}): Promise<void> => {
    const { post, must, mergePatch } = cluster();
    const base = pod('a', { resources: sized });
    await must(
      post(own.pods, { metadata: { name: 'a', ...metadata }, spec: { ...(at(base, 'spec') as Json), ...spec } }),
    );
    if (status !== undefined) await must(mergePatch(`${own.pods}/a/status`, { status }));
  };
  const send = ({ strategicPatch }: Cluster, own: Namespace, body: Json, query = '') =>
    strategicPatch(`${own.pods}/a/resize${query}`, body);

  describe('refused', () => {
    const containers = (resources: Json, more: Json = {}) => [
      { name: 'main', image: 'example.test/app:1', resources, ...more },
    ];
    test.each<[string, Refusal]>([
      [
        'away from Guaranteed',
        {
          spec: { containers: containers({ limits: { cpu: '1', memory: '1Gi' } }) },
          patch: resizeOf({ requests: { cpu: '500m' } }),
          reason: 'ResizeQosRefused',
          action: 'recreate',
        },
      ],
      [
        'removes a limit',
        { patch: resizeOf({ limits: { cpu: null } }), reason: 'ResizeRemovalRefused', action: 'give-up' },
      ],
      [
        'removes a request',
        {
          patch: resizeOf({ requests: { memory: null }, limits: { memory: null } }),
          reason: 'ResizeRemovalRefused',
          action: 'give-up',
        },
      ],
      [
        'another resource',
        {
          patch: resizeOf({ requests: { 'ephemeral-storage': '1Gi' } }),
          reason: 'ResizeFieldRefused',
          action: 'give-up',
        },
      ],
      [
        'above the limit',
        { patch: resizeOf({ requests: { cpu: '500m' } }), reason: 'ResizeRefused', action: 'give-up' },
      ],
      [
        'a kubelet that does not report resources',
        { status: runningStatus() as Json, reason: 'ResizeNotOnNode', action: 'recreate' },
      ],
      [
        'the same while another container is yet to start',
        { status: { ...(runningStatus() as object), phase: 'Pending' }, reason: 'ResizeNotOnNode', action: 'recreate' },
      ],
      ['Windows', { spec: { os: { name: 'windows' } }, reason: 'ResizePodKindRefused', action: 'recreate' }],
      [
        'a container that is not there',
        {
          patch: {
            spec: {
              containers: [{ name: 'other', image: 'example.test/app:1', resources: { requests: { cpu: '1' } } }],
            },
          },
          reason: 'ResizeContainersChanged',
          action: 'retry',
        },
      ],
    ])('%s', async (_, refusal) => {
      const own = await cluster().namespace();
      await make(own, refusal);
      const { patch = resizeOf({ requests: { cpu: '300m' } }), reason, action } = refusal;
      const outcome = outcomeOf(await send(cluster(), own, patch));
      expect(outcome).toMatchObject({ result: 'refused', reason, action, isUncertain: false });
    });

    test('more than the node has', async () => {
      const own = await cluster().namespace();
      const nodeName = await sizedNode(cluster(), { cpu: '1', memory: '8Gi', pods: '110' });
      await make(own, { spec: { nodeName }, status: { phase: 'Running' } });
      const patch = resizeOf({ requests: { cpu: '2' }, limits: { cpu: '2' } });
      expect(outcomeOf(await send(cluster(), own, patch))).toMatchObject({
        reason: 'ResizeBeyondNode',
        action: 'recreate',
      });
    });

    test('integration 2, integration 4: a full quota, and a LimitRange, are refused, and each is understood', async () => {
      const { must, post, namespace, eventually } = cluster();
      const own = await namespace();
      const core = `/api/v1/namespaces/${own.name}`;
      await quotaInForce(cluster(), own, 'compute', { hard: { 'requests.cpu': '300m' } });
      await make(own);
      const more = resizeOf({ requests: { cpu: '350m' } });
      expect(outcomeOf(await send(cluster(), own, more))).toMatchObject({
        reason: 'ResizeQuotaDenied',
        action: 'wait',
      });
      const limits = [{ type: 'Container', max: { cpu: '500m' } }];
      await must(post(`${core}/limitranges`, { metadata: { name: 'bounds' }, spec: { limits } }));
      const wide = resizeOf({ limits: { cpu: '600m' } });
      await eventually(async () => expect((await send(cluster(), own, wide, '?dryRun=All')).status).toBe(403));
      expect(outcomeOf(await send(cluster(), own, wide))).toMatchObject({
        reason: 'ResizeLimitRangeDenied',
        action: 'give-up',
      });
    });

    test('a user without the right', async () => {
      const { backend, namespace } = cluster();
      const user = await backend.endpointFor?.('resizes-nobody', []);
      if (user === undefined) return;
      const own = await namespace();
      await make(own);
      const answer = await user.call('PATCH', `${own.pods}/a/resize`, {
        body: resizeOf({ requests: { cpu: '300m' } }),
        contentType: 'application/strategic-merge-patch+json',
      });
      expect(outcomeOf(answer)).toMatchObject({ reason: 'ResizeForbidden', action: 'give-up' });
    });
  });

  describe('preconditions', () => {
    test('another uid is another pod', async () => {
      const own = await cluster().namespace();
      await make(own);
      const body = { metadata: { uid: 'another' }, ...resizeOf({ requests: { cpu: '300m' } }) };
      expect(outcomeOf(await send(cluster(), own, body))).toEqual({ result: 'gone' });
      const metadata = { metadata: { uid: 'another', annotations: { a: 'b' } } };
      expect(outcomeOf(await cluster().mergePatch(`${own.pods}/a`, metadata))).toEqual({ result: 'gone' });
    });

    test('an older version is a conflict', async () => {
      const { get, mergePatch, must, namespace } = cluster();
      const own = await namespace();
      await make(own);
      const resourceVersion = textAt((await get(`${own.pods}/a`)).body, 'metadata', 'resourceVersion');
      await must(mergePatch(`${own.pods}/a`, { metadata: { labels: { a: 'b' } } }));
      const body = { metadata: { resourceVersion }, ...resizeOf({ requests: { cpu: '300m' } }) };
      expect(outcomeOf(await send(cluster(), own, body))).toMatchObject({ reason: 'ResizeConflict', action: 'retry' });
    });

    test('a pod that does not exist is gone', async () => {
      const own = await cluster().namespace();
      expect(outcomeOf(await send(cluster(), own, resizeOf({ requests: { cpu: '1' } })))).toEqual({ result: 'gone' });
    });
  });

  // Feature: k8s-workload-rightsizing, Property 20: Feature gate detection
  test('Property 20: discovery tells that pods can be resized, whatever the version says', async () => {
    const { body } = await cluster().get('/api/v1');
    const pods = discoveredResources(body).find(({ plural }) => plural === 'pods');
    expect(pods?.subresources).toEqual(expect.arrayContaining(['resize', 'eviction', 'status']));
  });

  describe('accepted', () => {
    test('metadata in the body is ignored: what the pod had has to be written before', async () => {
      const { namespace } = cluster();
      const own = await namespace();
      await make(own);
      const annotations = { 'optipod.io/original-resources': '{}' };
      const answer = await send(cluster(), own, {
        metadata: { annotations },
        ...resizeOf({ requests: { cpu: '300m' } }),
      });
      expect(answer.status).toBe(200);
      expect(at(answer.body, 'metadata', 'annotations')).toBeUndefined();
    });

    test('the manager that resized is told from the one that created', async () => {
      const { get, namespace } = cluster();
      const own = await namespace();
      await make(own);
      const managers = async () =>
        resizeManagers(at((await get(`${own.pods}/a`)).body, 'metadata', 'managedFields') as never);
      expect(await managers()).toEqual([]);
      await send(cluster(), own, resizeOf({ requests: { cpu: '300m' } }), '?fieldManager=optipod');
      expect(await managers()).toEqual(['optipod']);
      await send(cluster(), own, resizeOf({ requests: { cpu: '310m' } }), '?fieldManager=somebody');
      expect(await managers()).toEqual(['somebody']);
    });

    test('a dry run gets the answer, and changes nothing', async () => {
      const { get, namespace } = cluster();
      const own = await namespace();
      await make(own);
      const before = (await get(`${own.pods}/a`)).body;
      const answer = await send(cluster(), own, resizeOf({ requests: { cpu: '300m' } }), '?dryRun=All');
      expect(at(answer.body, 'spec', 'containers', 0, 'resources', 'requests', 'cpu')).toBe('300m');
      expect((await send(cluster(), own, resizeOf({ limits: { cpu: null } }), '?dryRun=All')).status).toBe(422);
      expect((await get(`${own.pods}/a`)).body).toEqual(before);
    });

    test('a native sidecar is resized among the init containers, and a limit may be added', async () => {
      const { strategicPatch, namespace } = cluster();
      const own = await namespace();
      const proxy = {
        name: 'proxy',
        image: 'example.test/proxy:1',
        restartPolicy: 'Always',
        resources: { requests: { cpu: '20m' } },
      };
      await make(own, { spec: { initContainers: [proxy] } });
      const resources = { requests: { cpu: '30m' }, limits: { cpu: '60m' } };
      const answer = await strategicPatch(`${own.pods}/a/resize`, {
        spec: { initContainers: [{ name: 'proxy', resources }] },
      });
      expect(answer.status).toBe(200);
      expect(at(answer.body, 'spec', 'initContainers', 0, 'resources')).toEqual(resources);
    });

    test('of a pod none of whose containers runs: whether its kubelet can is not asked', async () => {
      const own = await cluster().namespace();
      const state = { waiting: { reason: 'CrashLoopBackOff' } };
      const main = { name: 'main', image: 'example.test/app:1', imageID: '', ready: false, restartCount: 2, state };
      await make(own, { status: { phase: 'Running', containerStatuses: [main] } });
      expect((await send(cluster(), own, resizeOf({ requests: { cpu: '300m' } }))).status).toBe(200);
    });

    test('the same sizes again are no new version', async () => {
      const own = await cluster().namespace();
      await make(own);
      const body = resizeOf({ requests: { cpu: '300m' } });
      const first = await send(cluster(), own, body, '?fieldManager=optipod');
      const second = await send(cluster(), own, body, '?fieldManager=optipod');
      expect(textAt(second.body, 'metadata', 'resourceVersion')).toBe(
        textAt(first.body, 'metadata', 'resourceVersion'),
      );
    });
  });
});
