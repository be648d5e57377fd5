import { describe, expect, test } from 'vitest';
import type { Node, PersistentVolume, Pod } from '../../api/core.ts';
import { createClusterState } from './cluster-state.ts';
import { createPodFilter } from './filters.ts';
import { podInfoOf } from './pod-info.ts';

type Spec = Partial<NonNullable<Pod['spec']>>;

let serial = 0;
const pod = (labels: Record<string, string>, spec: Spec = {}, cpu = '100m'): Pod => ({
  metadata: { name: `p${++serial}`, namespace: 'default', uid: `u${serial}`, labels },
  spec: { containers: [{ name: 'a', resources: { requests: { cpu, memory: '1Gi' } } }], ...spec },
});
const node = (name: string, zone: string, more: Node['spec'] = {}): Node => ({
  metadata: { name, labels: { zone, 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone } },
  spec: more,
  status: { allocatable: { cpu: '1', memory: '2Gi', pods: '3' } },
});

/** Reasons by node, for nodes that refuse. */
function reasons(
  incoming: Pod,
  nodes: readonly Node[],
  placed: readonly [Pod, string][] = [],
  volumes: PersistentVolume[] = [],
) {
  const cluster = createClusterState();
  for (const each of nodes) cluster.putNode(each);
  for (const [each, nodeName] of placed) cluster.putPod(podInfoOf(each), nodeName);
  const refuse = createPodFilter(podInfoOf(incoming), cluster, volumes);
  return Object.fromEntries(
    [...cluster.nodes()].flatMap((state) => {
      const refusal = refuse(state);
      return refusal === undefined ? [] : [[state.name, refusal.reasons.join('; ')]];
    }),
  );
}

describe('a node is refused', () => {
  test('when it is cordoned, unless that is tolerated', () => {
    const cordoned = node('n1', 'a', { unschedulable: true });
    expect(reasons(pod({}), [cordoned])).toEqual({ n1: 'node(s) were unschedulable' });
    expect(reasons(pod({}, { tolerations: [{ operator: 'Exists' }] }), [cordoned])).toEqual({});
  });

  test.each([
    ['NoSchedule', { n1: 'node(s) had untolerated taint(s)' }],
    ['NoExecute', { n1: 'node(s) had untolerated taint(s)' }],
    ['PreferNoSchedule', {}],
  ])('for an untolerated taint with effect %s', (effect, expected) => {
    expect(reasons(pod({}), [node('n1', 'a', { taints: [{ key: 'k', effect }] })])).toEqual(expected);
  });

  test('when it does not match the selector', () => {
    expect(reasons(pod({}, { nodeSelector: { zone: 'b' } }), [node('n1', 'a'), node('n2', 'b')])).toEqual({
      n1: "node(s) didn't match Pod's node affinity/selector",
    });
  });

  test('when it is short of anything, naming all of it', () => {
    const full = pod({}, {}, '950m');
    expect(
      reasons(
        pod({}),
        [node('n1', 'a')],
        [
          [full, 'n1'],
          [pod({}, {}, '0'), 'n1'],
        ],
      ),
    ).toEqual({ n1: 'Insufficient cpu; Insufficient memory' });
  });

  test('when it has as many pods as it takes', () => {
    const tiny = (): Pod => ({ metadata: { uid: `t${++serial}`, name: 't' }, spec: { containers: [{ name: 'a' }] } });
    expect(
      reasons(
        tiny(),
        [node('n1', 'a')],
        [
          [tiny(), 'n1'],
          [tiny(), 'n1'],
          [tiny(), 'n1'],
        ],
      ),
    ).toEqual({ n1: 'Too many pods' });
  });

  test.each<[string, object, boolean]>([
    ['the same port', {}, true],
    ['the same port of one address', { hostIP: '10.0.0.1' }, true],
    ['another port', { hostPort: 81 }, false],
    ['the port of another protocol', { protocol: 'UDP' }, false],
    ['no port of the node', { hostPort: 0 }, false],
  ])('when a port of its own is taken: %s', (_, port, isRefused) => {
    const serving = (more: object): Spec => ({
      containers: [{ name: 'a', ports: [{ containerPort: 8080, hostPort: 80, ...more }] }],
    });
    const leaving = pod({}, serving({}));
    const placed: Pod = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-06-01T00:00:00Z' } };
    expect(reasons(pod({}, serving(port)), [node('n1', 'a')], [[placed, 'n1']])).toEqual(
      isRefused ? { n1: "node(s) didn't have free ports for the requested pod ports" } : {},
    );
  });

  test('for a port of a sidecar, and not for one of a container that ends before', () => {
    const initial = (more: object): Spec => ({
      containers: [{ name: 'a' }],
      initContainers: [{ name: 'b', ports: [{ containerPort: 80, hostPort: 80, hostIP: '10.0.0.1' }], ...more }],
    });
    const sidecar = pod({}, initial({ restartPolicy: 'Always' }));
    const refused = (other: Pod) => Object.keys(reasons(other, [node('n1', 'a')], [[sidecar, 'n1']])).length;
    expect([sidecar, pod({}, initial({}))].map(refused)).toEqual([1, 0]);
  });

  test('when a bound volume lives in another zone', () => {
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] };
    expect(
      reasons(pod({}), [node('n1', 'a'), node('n2', 'b')], [], [{ spec: { nodeAffinity: { required } } }]),
    ).toEqual({
      n2: "node(s) didn't match PersistentVolume's node affinity",
    });
    const labelled = { metadata: { labels: { 'topology.kubernetes.io/zone': 'a__c' } } };
    expect(reasons(pod({}), [node('n1', 'a'), node('n2', 'b')], [], [labelled])).toEqual({
      n2: 'node(s) had no available volume zone',
    });
  });
});

describe('topology spread', () => {
  const spread = (more: object = {}): Spec => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'web' } },
        ...more,
      },
    ],
  });
  const web = { app: 'web' };
  const nodes = [node('n1', 'a'), node('n2', 'b')];
  const SKEW = "node(s) didn't match pod topology spread constraints";

  test('refuses the domain that has more', () => {
    expect(reasons(pod(web, spread()), nodes, [[pod(web), 'n1']])).toEqual({ n1: SKEW });
  });
  test('counts only pods of its selector and namespace', () => {
    const foreign = { ...pod(web), metadata: { ...pod(web).metadata, namespace: 'other', uid: 'foreign' } };
    expect(
      reasons(pod(web, spread()), nodes, [
        [foreign, 'n1'],
        [pod({ app: 'db' }), 'n2'],
      ]),
    ).toEqual({});
  });
  test('does not count terminating pods', () => {
    const leaving = pod(web);
    const placed: Pod = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-06-01T00:00:00Z' } };
    expect(reasons(pod(web, spread()), nodes, [[placed, 'n1']])).toEqual({});
  });
  test('refuses nodes without the label for good', () => {
    const bare: Node = { ...node('n3', 'c'), metadata: { name: 'n3' } };
    expect(reasons(pod(web, spread()), [...nodes, bare])).toEqual({ n3: `${SKEW} (missing required label)` });
    const [key, missing] = ['constructor', `${SKEW} (missing required label)`];
    expect(reasons(pod(web, spread({ topologyKey: key })), nodes)).toEqual({ n1: missing, n2: missing });
  });
  test('with several constraints counts only nodes that are in a domain of each', () => {
    const both = [spread(), spread({ topologyKey: 'rack' })].flatMap((each) => each.topologySpreadConstraints ?? []);
    const incoming = pod(web, { topologySpreadConstraints: both });
    const racked: Node = { ...node('n3', 'b'), metadata: { name: 'n3', labels: { zone: 'b', rack: 'r' } } };
    // Without a rack n1 is no reason to keep zone b empty.
    expect(reasons(incoming, [node('n1', 'a'), racked], [[pod(web), 'n3']])).toEqual({
      n1: `${SKEW} (missing required label)`,
    });
  });
  test('with minDomains holds pods back until there are enough domains', () => {
    expect(
      reasons(pod(web, spread({ minDomains: 3 })), nodes, [
        [pod(web), 'n1'],
        [pod(web), 'n2'],
      ]),
    ).toEqual({ n1: SKEW, n2: SKEW });
  });
  test('leaves out domains the pod cannot use, unless told otherwise', () => {
    const tied = (more: object) => pod(web, { ...spread(more), nodeSelector: { zone: 'a' } });
    const other = "node(s) didn't match Pod's node affinity/selector";
    expect(reasons(tied({}), nodes, [[pod(web), 'n1']])).toEqual({ n2: other });
    expect(reasons(tied({ nodeAffinityPolicy: 'Ignore' }), nodes, [[pod(web), 'n1']])).toEqual({ n1: SKEW, n2: other });
  });
  test('as a mere wish refuses nothing', () => {
    expect(reasons(pod(web, spread({ whenUnsatisfiable: 'ScheduleAnyway' })), nodes, [[pod(web), 'n1']])).toEqual({});
  });
});

describe('pod affinity', () => {
  const term = (labels: Record<string, string>) => ({ labelSelector: { matchLabels: labels }, topologyKey: 'zone' });
  const apart = (labels: Record<string, string>): Spec => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(labels)] } },
  });
  const near = (labels: Record<string, string>): Spec => ({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(labels)] } },
  });
  const nodes = [node('n1', 'a'), node('n2', 'b')];

  test('keeps away from pods it does not want near', () => {
    expect(reasons(pod({ app: 'x' }, apart({ app: 'web' })), nodes, [[pod({ app: 'web' }), 'n1']])).toEqual({
      n1: "node(s) didn't match pod anti-affinity rules",
    });
  });
  test('keeps away from pods that do not want it near', () => {
    expect(reasons(pod({ app: 'web' }), nodes, [[pod({ app: 'x' }, apart({ app: 'web' })), 'n1']])).toEqual({
      n1: "node(s) didn't satisfy existing pods anti-affinity rules",
    });
  });
  test.each<[string, Pod, Pod]>([
    ['it does not want near', pod({ app: 'x' }, apart({ app: 'web' })), pod({ app: 'web' })],
    ['that does not want it near', pod({ app: 'web' }), pod({ app: 'x' }, apart({ app: 'web' }))],
  ])('keeps away from a pod %s until that is gone', (_, incoming, other) => {
    const leaving: Pod = { ...other, metadata: { ...other.metadata, deletionTimestamp: '2026-06-01T00:00:00Z' } };
    expect(Object.keys(reasons(incoming, nodes, [[leaving, 'n1']]))).toEqual(['n1']);
  });
  test('of several kinds of pods it wants near, one must be all of them', () => {
    const both: Spec = {
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term({ app: 'web' }), term({ tier: 'a' })] },
      },
    };
    const placed: [Pod, string][] = [
      [pod({ app: 'web' }), 'n1'],
      [pod({ tier: 'a' }), 'n3'],
      [pod({ app: 'web', tier: 'a' }), 'n2'],
    ];
    expect(Object.keys(reasons(pod({}, both), [...nodes, node('n3', 'a')], placed))).toEqual(['n1', 'n3']);
    expect(Object.keys(reasons(pod({ app: 'web' }, both), nodes))).toEqual(['n1', 'n2']);
  });
  test('the first of its kind goes where there is a domain', () => {
    const bare: Node = { ...node('n3', 'c'), metadata: { name: 'n3' } };
    expect(Object.keys(reasons(pod({ app: 'web' }, near({ app: 'web' })), [...nodes, bare]))).toEqual(['n3']);
  });
  test('goes where pods it wants near are, and anywhere when it is the first of its kind', () => {
    expect(reasons(pod({ app: 'x' }, near({ app: 'web' })), nodes, [[pod({ app: 'web' }), 'n1']])).toEqual({
      n2: "node(s) didn't match pod affinity rules",
    });
    expect(reasons(pod({ app: 'web' }, near({ app: 'web' })), nodes)).toEqual({});
    expect(Object.keys(reasons(pod({ app: 'x' }, near({ app: 'web' })), nodes))).toEqual(['n1', 'n2']);
  });
});

test('counts follow pods as they come, move and go', () => {
  const cluster = createClusterState();
  cluster.putNode(node('n1', 'a'));
  const info = podInfoOf(pod({ app: 'web' }));
  const group = {
    key: 'g',
    namespaces: ['default'],
    selector: { matchLabels: { app: 'web' } },
    controllerUid: undefined,
    countsTerminating: false,
  };
  cluster.putPod(info, 'n2');
  expect([...cluster.countsOf(group)]).toEqual([['n2', 1]]);
  cluster.putPod(info, 'n1');
  expect([...cluster.countsOf(group)]).toEqual([['n1', 1]]);
  expect([...cluster.nodes()][0]?.requested.get('cpu')).toBe(100);
  cluster.removePod(info.uid);
  expect([...cluster.countsOf(group)]).toEqual([]);
  expect([...cluster.nodes()][0]?.requested.get('cpu')).toBe(0);
});

test('a node that joins finds the pods already bound to it', () => {
  const cluster = createClusterState();
  cluster.putPod(podInfoOf(pod({})), 'late');
  cluster.putNode(node('late', 'a'));
  expect([...cluster.nodes()][0]?.pods.size).toBe(1);
  cluster.removeNode('late');
  expect(cluster.nodeCount).toBe(0);
});
