import { describe, expect, test } from 'vitest';
import type { KubeObject, Pod, PodDisruptionBudget } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { deploymentObject, type EmbeddedWorld } from './testing/embedded-world.ts';
import {
  annotate,
  deploy,
  eventReasons,
  firstBlock,
  inShop,
  MINUTE,
  podsOf,
  policy,
  startWorld,
  untilReady,
  untilSides,
} from './testing/steps.ts';

const budget = (name: string, app: string, spec: object): PodDisruptionBudget =>
  ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'shop' },
    spec: { selector: { matchLabels: { app } }, ...spec },
  }) as PodDisruptionBudget;

describe('an eviction that does not go through', () => {
  test('bug 14: bug 33: a pod with two budgets holds up itself alone, and leaves nothing behind', async () => {
    const world = await startWorld();
    const good = Array.from({ length: 9 }, (_, index) => `good${index}`);
    await deploy(world, 3, policy(0, 0), 'bad');
    for (const name of good) await deploy(world, 3, policy(0, 0), name);
    for (const name of ['one', 'two'])
      await world.api.create(resources.podDisruptionBudgets, budget(name, 'bad', { maxUnavailable: 1 }), inShop);
    await world.clock.advance(15_000);
    const nodesBefore = await world.api.list(resources.nodes);
    for (const name of ['bad', ...good]) await annotate(world, policy(100, 0), name);
    for (const name of good) await untilSides(world, name, 3, 0);
    expect(await world.sides('shop', 'bad')).toEqual({ spot: 0, 'on-demand': 3, pending: 0 });
    expect(firstBlock(world, 'Deployment', 'bad')).toBe('MultiplePdbs');
    expect(world.evictions.filter((pod) => pod.startsWith('bad'))).toEqual([]);
    expect((await eventReasons(world)).filter((reason) => reason === 'MultiplePdbs')).toHaveLength(1);
    // No taint, no cordon, no label.
    const specs = ({ items }: { items: readonly KubeObject[] }) =>
      items.map((node) => [node.metadata?.labels, 'spec' in node ? node.spec : undefined]);
    expect(specs(await world.api.list(resources.nodes))).toEqual(specs(nodesBefore));
  });

  test('bug 15: one that hangs, in another webhook say, is asked for once and holds up nobody else', async () => {
    const world = await startWorld();
    await deploy(world, 3, policy(0, 0), 'slow');
    await deploy(world, 3, policy(0, 0), 'quick');
    await world.clock.advance(15_000);
    // As long as the client waits for one answer.
    const effect = { kind: 'slow', millis: 35_000 } as const;
    world.server.faults.add({ resources: ['pods/eviction'], effect, count: 1 });
    await annotate(world, policy(100, 0), 'slow');
    await world.until('the eviction hangs', () => world.evictions.length === 1);
    await annotate(world, policy(100, 0), 'quick');
    await world.clock.advance(30_000);
    expect(world.evictions.filter((pod) => pod.startsWith('slow'))).toHaveLength(1);
    expect(world.evictions.filter((pod) => pod.startsWith('quick')).length).toBeGreaterThanOrEqual(2);
    await untilSides(world, 'slow', 3, 0);
    expect(world.evictions.filter((pod) => pod.startsWith('slow'))).toHaveLength(3);
  });
});

describe('a webhook that does not answer', () => {
  test.each([
    ['refuses connections', () => Promise.reject(new Error('connection refused'))],
    ['hangs', () => new Promise<object>(() => {})],
    ['answers nonsense', () => Promise.resolve({ kind: 'Nonsense' })],
  ])(
    'bug 31: one that %s: pods come up within its two seconds each, and are put right afterwards',
    async (_, answer) => {
      const world = await startWorld();
      const { localWebhooks } = world.server.core;
      const healthy = localWebhooks.get('spotalis-system/spotalis');
      localWebhooks.set('spotalis-system/spotalis', answer);
      const startedAt = world.clock.now();
      await world.api.create(
        resources.deployments,
        deploymentObject({ name: 'web', replicas: 4, annotations: policy(50, 1) }),
        inShop,
      );
      await world.until('all pods are made', async () => (await podsOf(world, 'web')).length === 4);
      // A ReplicaSet makes them in batches of 1, 2 and 1.
      expect(world.clock.now() - startedAt).toBeLessThanOrEqual(3 * 2_000 + 1_000);
      await untilReady(world, 'web', 4);
      if (healthy !== undefined) localWebhooks.set('spotalis-system/spotalis', healthy);
      await untilSides(world, 'web', 2, 2);
      await world.clock.advance(5 * MINUTE);
      expect(world.evictions.length).toBeLessThanOrEqual(2);
    },
  );
});

describe('what the webhook makes of a pod is a pod that the API server takes', () => {
  const containers = [{ name: 'app', image: 'app:1' }];
  const zoneTerms = (zones: readonly string[]) => ({
    nodeSelectorTerms: zones.map((zone) => ({
      matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'NotIn' as const, values: [zone] }],
    })),
  });
  type PodSpec = Partial<NonNullable<Pod['spec']>>;
  const specs: readonly (readonly [string, PodSpec])[] = [
    ['with nothing of its own', {}],
    ['with a node selector', { nodeSelector: { 'kubernetes.io/os': 'linux' } }],
    [
      'with two terms of required affinity',
      {
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: zoneTerms(['a', 'b']) } },
      },
    ],
    [
      'with preferences only',
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } },
            ],
          },
        },
      },
    ],
    [
      'with an empty affinity and a toleration',
      {
        affinity: {},
        tolerations: [{ key: 'team', operator: 'Exists', effect: 'NoSchedule' }],
      },
    ],
    [
      'with a priority and limits',
      {
        containers: [{ name: 'app', image: 'app:1', resources: { limits: { cpu: '1', memory: '1Gi' } } }],
        terminationGracePeriodSeconds: 5,
      },
    ],
  ];

  async function create(world: EmbeddedWorld, name: string, spec: PodSpec): Promise<void> {
    const deployment = deploymentObject({ name, replicas: 4, annotations: policy(50, 1) });
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers, ...spec } };
    const specWithPods = { ...deployment.spec, selector: { matchLabels: labels }, template };
    await world.api.create(resources.deployments, { ...deployment, spec: specWithPods }, inShop);
  }

  test.each([
    ['karpenter', 'karpenter.sh/capacity-type', 'spot'],
    ['aks', 'kubernetes.azure.com/scalesetpriority', 'spot'],
    ['gke', 'cloud.google.com/gke-spot', 'true'],
  ])(
    'bug 30: bug 34: hazard H17: with the profile %s, whatever the pod brings along is kept',
    async (profile, key, value) => {
      const world = await startWorld({ config: `controllers:\n  nodeClassifier:\n    profiles: [${profile}]` });
      const { items: nodes } = await world.api.list(resources.nodes);
      for (const { metadata } of nodes) {
        const labels = { [key]: metadata?.name?.startsWith('spot') ? value : null };
        const body = { metadata: { labels } };
        if (profile !== 'karpenter')
          await world.api.patch(resources.nodes, metadata?.name ?? '', { type: 'merge', body });
      }
      await world.clock.advance(1_000);
      for (const [index, [, spec]] of specs.entries()) {
        await create(world, `app${index}`, spec);
        await untilSides(world, `app${index}`, 2, 2);
        for (const pod of await podsOf(world, `app${index}`)) expect(pod.spec).toMatchObject(kept(spec));
      }
      expect(world.evictions).toEqual([]);
    },
  );

  /** What of a template must be found in its pods again. Lists may have grown, and terms of required affinity be narrower. */
  function kept({ containers: own = containers, affinity, tolerations, ...rest }: PodSpec): object {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required,
      preferredDuringSchedulingIgnoredDuringExecution,
    } = affinity?.nodeAffinity ?? {};
    const terms = required?.nodeSelectorTerms.map(({ matchExpressions = [] }) =>
      expect.objectContaining({ matchExpressions: expect.arrayContaining(matchExpressions) }),
    );
    const nodeAffinity = {
      ...(terms && {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: expect.arrayContaining(terms) },
      }),
      ...(preferredDuringSchedulingIgnoredDuringExecution && {
        preferredDuringSchedulingIgnoredDuringExecution: expect.arrayContaining(
          preferredDuringSchedulingIgnoredDuringExecution,
        ),
      }),
    };
    return {
      ...rest,
      containers: own,
      ...(tolerations && { tolerations: expect.arrayContaining(tolerations) }),
      ...(affinity?.nodeAffinity && { affinity: { nodeAffinity } }),
    };
  }
});
