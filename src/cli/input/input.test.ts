import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/core.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { assumeEnabled } from './assume-enabled.ts';
import { type ClusterInput, createClusterInputBuilder } from './cluster-input.ts';
import { missingFromCluster, missingFromFiles } from './missing-data.ts';

function build(...objects: readonly object[]): ClusterInput {
  const builder = createClusterInputBuilder({ defaultNamespace: 'default' });
  for (const object of objects) builder.add(object as KubeObject);
  return builder.build();
}

const deployment = (name: string, namespace?: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [] } },
  },
});
const pod = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop' },
  spec: { containers: [], ...more },
});
const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n-1' } };

describe('createClusterInputBuilder', () => {
  test('sorts objects into records and counts them', () => {
    const { records, counts } = build(deployment('web', 'shop'), pod('web-1'), node);
    expect(records.workloads?.map(({ kind, namespace, name }) => `${kind}/${namespace}/${name}`)).toEqual([
      'Deployment/shop/web',
    ]);
    expect(records.nodes?.map(({ name }) => name)).toEqual(['n-1']);
    expect(counts).toMatchObject({ deployments: 1, pods: 1, nodes: 1, namespaces: 0 });
  });

  test('kinds without a use are ignored and counted, old versions by their version', () => {
    const { ignored } = build(
      { apiVersion: 'v1', kind: 'Service' },
      { apiVersion: 'v1', kind: 'Service' },
      { apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget' },
    );
    expect([...ignored]).toEqual([
      ['Service', 2],
      ['PodDisruptionBudget (policy/v1beta1)', 1],
    ]);
  });

  test('manifests without namespace and uid stay apart', () => {
    const { records } = build(deployment('a'), deployment('b'), deployment('a', 'other'));
    const view = createSnapshot(records);
    expect([...view.workloads()].map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
      'default/a',
      'default/b',
      'other/a',
    ]);
    expect(view.workloadByUid('Deployment/default/b')?.name).toBe('b');
  });

  test('a second installation of Stowage is told, unless it is scaled down', () => {
    const operator = (namespace: string, replicas: number): object => ({
      ...deployment('stowage', namespace),
      metadata: {
        name: 'stowage',
        namespace,
        labels: { 'app.kubernetes.io/name': 'stowage', 'app.kubernetes.io/component': 'operator' },
      },
      spec: { replicas, selector: {}, template: { spec: { containers: [] } } },
    });
    expect(build(operator('a', 2)).problems).toEqual([]);
    expect(build(operator('a', 2), operator('b', 0), deployment('stowage', 'c')).problems).toEqual([]);
    expect(build(operator('b', 1), operator('a', 2)).problems).toEqual([
      expect.stringContaining(
        'Stowage is installed 2 times (a/stowage, b/stowage): unless each has namespaces of its own',
      ),
    ]);
    const unreadable = { ...deployment('web', 'c'), spec: { replicas: 'many' } };
    const [first, ...others] = build(unreadable, operator('b', 1), operator('a', 2)).problems;
    expect(first).toContain('Stowage is installed 2 times');
    expect(others).toHaveLength(1);
  });

  test('an object that cannot be read is a problem that names it', () => {
    const { records, problems } = build({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'bad' },
      spec: { replicas: 'three' },
    });
    expect(records.workloads).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(/^Deployment default\/bad was skipped.*spec\.replicas.*three/)]);
  });
});

describe('what is missing', () => {
  const missing = (input: ClusterInput): string[] => missingFromFiles(input).map(({ data }) => data);

  test('manifests alone miss what only a cluster has', () => {
    expect(missing(build(deployment('web')))).toEqual(['namespaces', 'nodes', 'pods']);
  });

  test('pods without ReplicaSets cannot be traced to Deployments', () => {
    expect(missing(build(deployment('web'), pod('web-1'), node))).toEqual([
      'namespaces',
      'replicasets',
      'poddisruptionbudgets',
    ]);
  });

  test('claims are missed only where pods have some', () => {
    const input = build(
      pod('db-0', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }] }),
      node,
    );
    expect(missing(input)).toContain('persistentvolumeclaims');
  });

  test('an empty live cluster misses nothing but what could not be listed', () => {
    expect(missingFromCluster(build(), [])).toEqual([]);
    expect(missingFromCluster(build(), ['nodes']).map(({ data }) => data)).toEqual(['nodes']);
  });
});

describe('volumes that are not in the input', () => {
  const claim = (more: object): object => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'shop' },
    ...more,
  });
  const termsOf = (...objects: readonly object[]) => {
    const view = createSnapshot(build(...objects).records);
    return view.volumeClaim('shop', 'data')?.requiredNodeTerms;
  };

  test('a bound claim without its volume is reached from no node; one that is not bound, from any', () => {
    expect(termsOf(claim({ spec: { volumeName: 'pv-1' }, status: { phase: 'Bound' } }))).toEqual([]);
    expect(termsOf(claim({ spec: {} }))).toBeUndefined();
    const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv-1' } };
    expect(termsOf(claim({ spec: { volumeName: 'pv-1' }, status: { phase: 'Bound' } }), volume)).toBeUndefined();
  });
});

describe('assumeEnabled', () => {
  const { records } = build(deployment('web', 'shop'), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'empty' },
  });

  test('enables namespaces, those it invents too, and workloads', () => {
    const assumed = assumeEnabled(records, { spotPercentage: '70', minOnDemand: undefined });
    expect(assumed.namespaces?.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['empty', true],
      ['shop', true],
    ]);
    expect(assumed.workloads?.[0]).toMatchObject({
      enabled: true,
      annotations: { 'spotalis.io/spot-percentage': '70' },
    });
  });

  test('without values the annotations stay as they are, and the records it was given are not changed', () => {
    expect(
      assumeEnabled(records, { spotPercentage: undefined, minOnDemand: undefined }).workloads?.[0]?.annotations,
    ).toEqual({});
    expect(records.workloads?.[0]?.enabled).toBe(false);
  });
});
