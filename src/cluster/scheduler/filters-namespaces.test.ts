import { describe, expect, test } from 'vitest';
import type { KubeObject, Node, Pod } from '../../api/core.ts';
import { createClusterState } from './cluster-state.ts';
import { createPodFilter } from './filters.ts';
import { podInfoOf } from './pod-info.ts';

type Reach = Pick<Term, 'namespaces' | 'namespaceSelector'>;
type Kind = 'podAffinity' | 'podAntiAffinity';
type Term = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod['spec']>['affinity']>['podAffinity']
  >['requiredDuringSchedulingIgnoredDuringExecution']
>[number];

const machine: Node = { metadata: { name: 'n1', labels: { host: 'n1' } }, status: { allocatable: { pods: '9' } } };
const allNamespaces: readonly KubeObject[] = [
  { metadata: { name: 'shop' } },
  { metadata: { name: 'bank', labels: { team: 'money' } } },
  { metadata: { name: 'mail', labels: { team: 'post' } } },
];

const pod = (namespace: string, affinity?: NonNullable<Pod['spec']>['affinity']): Pod => ({
  metadata: { name: 'web', namespace, uid: `uid-${namespace}`, labels: { app: 'web' } },
  spec: { containers: [], ...(affinity !== undefined && { affinity }) },
});
const wants = (kind: Kind, reach: Reach) => {
  const term = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'host', ...reach };
  return { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
};

/** Why the machine does not take the pod, with another one on it. */
function refusalOf(incoming: Pod, placed: Pod, namespaces = allNamespaces): readonly string[] {
  const cluster = createClusterState(() => namespaces);
  cluster.putNode(machine);
  cluster.putPod(podInfoOf(placed), 'n1');
  const refuse = createPodFilter(podInfoOf(incoming), cluster, []);
  return [...cluster.nodes()].flatMap((state) => refuse(state)?.reasons ?? []);
}

describe('a term between pods means those of', () => {
  const money = { matchLabels: { team: 'money' } };

  test.each<[string, Reach, readonly string[]]>([
    ['its own namespace', {}, ['shop']],
    ['its own namespace, where the list is empty', { namespaces: [] }, ['shop']],
    ['namespaces that are named', { namespaces: ['bank'] }, ['bank']],
    ['namespaces that are selected', { namespaceSelector: money }, ['bank']],
    ['both', { namespaces: ['mail'], namespaceSelector: money }, ['bank', 'mail']],
    ['all, where the selector is empty', { namespaceSelector: {} }, ['bank', 'mail', 'shop']],
    ['none, where no namespace is selected', { namespaceSelector: { matchLabels: { team: 'none' } } }, []],
  ])('%s', (_, reach, expected) => {
    const names = ['bank', 'mail', 'shop'];
    // The pod itself is in one of them: another uid.
    const others = names.map((name) => ({ ...pod(name), metadata: { ...pod(name).metadata, uid: `other-${name}` } }));
    const near = (other: Pod): boolean => refusalOf(pod('shop', wants('podAffinity', reach)), other).length === 0;
    const apart = (other: Pod): boolean => refusalOf(pod('shop', wants('podAntiAffinity', reach)), other).length > 0;
    const keepsAway = (other: Pod): boolean =>
      refusalOf(other, pod('shop', wants('podAntiAffinity', reach))).length > 0;
    const meant = (isMeant: (other: Pod) => boolean): readonly string[] =>
      others.filter(isMeant).map(({ metadata }) => metadata?.namespace ?? '');
    expect(meant(apart)).toEqual(expected);
    expect(meant(keepsAway)).toEqual(expected);
    // One that wants its like near may be the first of them.
    if (!expected.includes('shop')) expect(meant(near)).toEqual(expected);
  });

  test('those that are selected now', () => {
    const namespaces = [...allNamespaces];
    const incoming = pod('shop', wants('podAntiAffinity', { namespaceSelector: money }));
    expect(refusalOf(incoming, pod('mail'), namespaces)).toEqual([]);
    namespaces[2] = { metadata: { name: 'mail', labels: { team: 'money' } } };
    expect(refusalOf(incoming, pod('mail'), namespaces)).toEqual(["node(s) didn't match pod anti-affinity rules"]);
  });
});
