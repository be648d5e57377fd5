/** Where the scheduler puts pods, as far as Stowage goes by it when it proves a place before a move. */
import { expect, test } from 'vitest';
import { at, type Cluster, type Namespace } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const SPACE = 'conformance.stowage.test/space';
const WEB = { app: 'web' };
const CAPACITY = { cpu: '4', memory: '4Gi', pods: '10' };

/** Nodes with room and these labels, for pods of the namespace. */
async function nodesFor(
  { node, must, mergePatch }: Cluster,
  space: Namespace,
  ...labels: readonly Json[]
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const each of labels) {
    const name = await node();
    const metadata = { labels: { [SPACE]: space.name, [HOSTNAME]: name, ...each } };
    const status = { capacity: CAPACITY, allocatable: CAPACITY };
    await must(mergePatch(`/api/v1/nodes/${name}`, { metadata }));
    await must(mergePatch(`/api/v1/nodes/${name}/status`, { status }));
    names.push(name);
  }
  return names;
}

/** A pod for the nodes of the namespace. */
function podFor(space: Namespace, name: string, labels: Json, spec: Json = {}): Json {
  return {
    metadata: { name, labels },
    spec: {
      nodeSelector: { [SPACE]: space.name },
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'main', image: 'example.test/app:1' }],
      ...spec,
    },
  };
}

async function isOn({ get, eventually }: Cluster, { pods }: Namespace, name: string, node: unknown): Promise<void> {
  await eventually(async () => {
    expect(at((await get(`${pods}/${name}`)).body, 'spec', 'nodeName')).toBe(node);
  });
}

async function waits({ get, eventually }: Cluster, { pods }: Namespace, name: string, why: string): Promise<void> {
  await eventually(async () => {
    expect((await get(`${pods}/${name}`)).body).toMatchObject({
      status: {
        conditions: [{ type: 'PodScheduled', reason: 'Unschedulable', message: expect.stringContaining(why) }],
      },
    });
  });
}

type Kind = 'podAffinity' | 'podAntiAffinity';
const required = (kind: Kind, ...terms: readonly Json[]): Json => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const term = (matchLabels: Json, topologyKey = HOSTNAME): Json => ({ labelSelector: { matchLabels }, topologyKey });
const named = ({ name }: Namespace): Json => ({ matchLabels: { 'kubernetes.io/metadata.name': name } });
const serving: Json = {
  containers: [{ name: 'main', image: 'example.test/app:1', ports: [{ containerPort: 80, hostPort: 8080 }] }],
};

describeOnBackends('scheduling', (cluster) => {
  test.each<[string, Json, Json, string]>([
    [
      'that others do not want near',
      {},
      required('podAntiAffinity', term(WEB)),
      "didn't match pod anti-affinity rules",
    ],
    [
      'that does not want others near',
      required('podAntiAffinity', term(WEB)),
      {},
      "didn't satisfy existing pods anti-affinity rules",
    ],
    ['with a port of the machine', serving, serving, "didn't have free ports for the requested pod ports"],
  ])('a pod %s keeps them away until it is gone', async (_, spec, ofOther, why) => {
    const { post, must, delete: remove, namespace } = cluster();
    const space = await namespace();
    const [node] = await nodesFor(cluster(), space, {});
    await must(post(space.pods, podFor(space, 'a', WEB, { ...spec, nodeName: node })));
    await must(remove(`${space.pods}/a`));
    await must(post(space.pods, podFor(space, 'b', WEB, ofOther)));
    await waits(cluster(), space, 'b', why);
    await must(remove(`${space.pods}/a`, { gracePeriodSeconds: 0 }));
    await isOn(cluster(), space, 'b', node);
  });

  test('of several kinds of pods that one wants near, a single one must be all', async () => {
    const { post, must, namespace } = cluster();
    const space = await namespace();
    const [first, second] = await nodesFor(cluster(), space, {}, {});
    const placed: readonly [string, Json, unknown][] = [
      ['web', WEB, first],
      ['tier', { tier: 'a' }, first],
      ['both', { ...WEB, tier: 'a' }, second],
    ];
    for (const [name, labels, nodeName] of placed)
      await must(post(space.pods, podFor(space, name, labels, { nodeName })));
    const spec = required('podAffinity', term(WEB), term({ tier: 'a' }));
    await must(post(space.pods, podFor(space, 'x', {}, spec)));
    await isOn(cluster(), space, 'x', second);
  });

  test('anti-affinity is to pods of the namespaces that are named or selected; with neither, of its own', async () => {
    const { post, must, namespace } = cluster();
    const [space, other] = [await namespace(), await namespace()];
    const [node] = await nodesFor(cluster(), space, {});
    await must(post(other.pods, podFor(space, 'a', WEB, { nodeName: node })));
    const reaching: readonly [string, Json, boolean][] = [
      ['selected', { namespaceSelector: named(other) }, true],
      ['all', { namespaceSelector: {} }, true],
      ['both', { namespaces: [other.name], namespaceSelector: named(space) }, true],
      ['own', {}, false],
      ['not-selected', { namespaceSelector: named(space) }, false],
    ];
    for (const [name, reach] of reaching) {
      const spec = required('podAntiAffinity', { ...term(WEB), ...reach });
      await must(post(space.pods, podFor(space, name, {}, spec)));
    }
    for (const [name, , isKeptAway] of reaching) {
      if (isKeptAway) await waits(cluster(), space, name, "didn't match pod anti-affinity rules");
      else await isOn(cluster(), space, name, node);
    }
  });

  test('a pod keeps those away that come to the namespaces it selects', async () => {
    const { post, must, namespace } = cluster();
    const [space, other, third] = [await namespace(), await namespace(), await namespace()];
    const [node] = await nodesFor(cluster(), space, {});
    const spec = required('podAntiAffinity', { ...term(WEB), namespaceSelector: named(other) });
    await must(post(space.pods, podFor(space, 'a', {}, { ...spec, nodeName: node })));
    for (const { pods } of [other, third]) await must(post(pods, podFor(space, 'b', WEB)));
    await waits(cluster(), other, 'b', "didn't satisfy existing pods anti-affinity rules");
    await isOn(cluster(), third, 'b', node);
  });

  test('the first pod that wants its like near goes to a node in a domain', async () => {
    const { post, must, namespace } = cluster();
    const space = await namespace();
    const [, racked] = await nodesFor(cluster(), space, {}, { rack: 'r' });
    await must(post(space.pods, podFor(space, 'a', WEB, required('podAffinity', term(WEB, 'rack')))));
    await isOn(cluster(), space, 'a', racked);
  });

  test('nodes outside a domain of one spread constraint do not count for the others', async () => {
    const { post, must, namespace } = cluster();
    const space = await namespace();
    const [, racked] = await nodesFor(cluster(), space, { zone: 'a' }, { zone: 'b', rack: 'r' });
    await must(post(space.pods, podFor(space, 'a', WEB, { nodeName: racked })));
    const topologySpreadConstraints = ['zone', 'rack'].map((topologyKey) => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: WEB },
    }));
    await must(post(space.pods, podFor(space, 'b', WEB, { topologySpreadConstraints })));
    await isOn(cluster(), space, 'b', racked);
  });

  test('what pods say under label keys becomes part of their selectors', async () => {
    const { post, must, namespace } = cluster();
    const space = await namespace();
    const [node] = await nodesFor(cluster(), space, {});
    await must(post(space.pods, podFor(space, 'a', { ...WEB, hash: '1' }, { nodeName: node })));
    const keys = { matchLabelKeys: ['hash', 'none'] };
    const spread = { topologyKey: HOSTNAME, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', ...keys };
    const spec = {
      ...required('podAntiAffinity', { ...term(WEB), ...keys, mismatchLabelKeys: ['tenant'] }),
      topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: WEB } }],
    };
    const made = await must(post(space.pods, podFor(space, 'b', { ...WEB, hash: '2', tenant: 't' }, spec)));
    const same = { key: 'hash', operator: 'In', values: ['2'] };
    expect(made).toMatchObject({
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: { matchExpressions: [same, { key: 'tenant', operator: 'NotIn', values: ['t'] }] } },
            ],
          },
        },
        topologySpreadConstraints: [{ labelSelector: { matchExpressions: [same] } }],
      },
    });
    await isOn(cluster(), space, 'b', node);
  });
});
