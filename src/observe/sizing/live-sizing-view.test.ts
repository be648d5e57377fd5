import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import type { SizingChange } from './live-sizing-view.ts';
import { createManualSizingView } from './testing/manual-sizing-view.ts';

const container = { name: 'app', image: 'app:1', resources: { requests: { cpu: '100m' } } };
const template = { spec: { containers: [container] } };

function setUp(more: Parameters<typeof createManualSizingView>[0] = {}) {
  const { stores, sizingStores, view, refused } = createManualSizingView(more);
  const changes: SizingChange[] = [];
  view.onChange((change) => changes.push(change));
  const told = () =>
    changes
      .splice(0)
      .map((change) => (change.kind === 'bounds' ? `bounds ${change.namespace}` : `${change.kind} ${change.key}`));
  return { stores, sizingStores, view, told, refused };
}

const owned = (name: string, owner: { kind: string; name: string; uid: string; apiVersion?: string }) => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: `p-${name}`,
    ownerReferences: [{ apiVersion: 'apps/v1', controller: true, ...owner }],
  },
  spec: { containers: [container], nodeName: 'n1' },
  status: { phase: 'Running' },
});
const named = (name: string, uid = `uid-${name}`) => ({ name, namespace: 'shop', uid });

test('a type that may not be read is named: of its objects nothing is known', () => {
  const { view, refused } = setUp();
  expect(view.unreadable()).toEqual([]);
  refused.refusal = 'forbidden';
  expect(view.unreadable()).toEqual(['verticalpodautoscalers.autoscaling.k8s.io']);
});

test('a namespace that changes concerns the workloads that only sizing knows, too', () => {
  const { stores, sizingStores, told } = setUp();
  stores.namespaces.put({ metadata: { name: 'shop', labels: { team: 'a' } } });
  sizingStores.daemonSets.put({ metadata: named('agent'), spec: { selector: {}, template } });
  told();
  stores.namespaces.put({ metadata: { name: 'shop', resourceVersion: '2', labels: { team: 'b' } } });
  expect(told()).toEqual(['workload DaemonSet/shop/agent']);
});

test('what is not known, or not followed any more, is named', () => {
  const { stores, sizingStores, view } = setUp();
  expect(view.unread()).toEqual([]);
  stores.pods.setFreshness('stale');
  sizingStores.quotas.setFreshness('initial');
  expect(view.unread()).toEqual([
    { name: 'pods', error: undefined },
    { name: 'quotas', error: undefined },
  ]);
});

describe('workloads and their pods', () => {
  test('a Deployment has the pods of all its ReplicaSets, each once', () => {
    const { stores, view } = setUp();
    stores.deployments.put({ metadata: named('web'), spec: { selector: {}, template } });
    for (const revision of ['a', 'b']) {
      stores.replicaSets.put({
        metadata: {
          ...named(`web-${revision}`),
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-web', controller: true },
          ],
        },
        spec: { selector: {} },
      });
      stores.pods.put(
        owned(`web-${revision}-1`, { kind: 'ReplicaSet', name: `web-${revision}`, uid: `uid-web-${revision}` }),
      );
    }
    const web = view.workload({ kind: 'Deployment', namespace: 'shop', name: 'web' });
    if (web === undefined) throw new Error('not found');
    expect(view.podsOf(web).map(({ pod }) => pod.name)).toEqual(['web-a-1', 'web-b-1']);
    const pod = view.pod('shop', 'web-a-1');
    expect(pod && view.workloadOf(pod.pod)).toBe(web);
    expect(view.podsOnNode('n1')).toHaveLength(2);
    expect(view.workloadByUid('uid-web')).toBe(web);
    expect([...view.workloads()]).toEqual([web]);
  });

  test('DaemonSets, bare ReplicaSets and StatefulSets own their pods themselves', () => {
    const { stores, sizingStores, view } = setUp();
    sizingStores.daemonSets.put({ metadata: named('agent'), spec: { selector: {}, template } });
    stores.statefulSets.put({ metadata: named('db'), spec: { selector: {}, serviceName: '', template } });
    stores.replicaSets.put({ metadata: named('alone'), spec: { selector: {}, template } });
    for (const [kind, name] of [
      ['DaemonSet', 'agent'],
      ['StatefulSet', 'db'],
      ['ReplicaSet', 'alone'],
    ] as const) {
      stores.pods.put(owned(`${name}-1`, { kind, name, uid: `uid-${name}` }));
      const workload = view.workload({ kind, namespace: 'shop', name });
      expect(workload?.containers.map(({ size }) => size)).toEqual([{ cpuRequest: 100 }]);
      expect(workload && view.podsOf(workload).map(({ pod }) => pod.name)).toEqual([`${name}-1`]);
    }
  });

  test('pods of the Jobs of a CronJob are the pods of the CronJob, and those Jobs are no workloads', () => {
    const { stores, sizingStores, view } = setUp();
    sizingStores.cronJobs.put({
      metadata: named('nightly'),
      spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template } } },
    });
    const cron = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', uid: 'uid-nightly', controller: true };
    sizingStores.jobs.put({ metadata: { ...named('nightly-1'), ownerReferences: [cron] }, spec: { template } });
    sizingStores.jobs.put({ metadata: named('import'), spec: { template } });
    stores.pods.put(
      owned('nightly-1-x', { apiVersion: 'batch/v1', kind: 'Job', name: 'nightly-1', uid: 'uid-nightly-1' }),
    );
    stores.pods.put(owned('import-x', { apiVersion: 'batch/v1', kind: 'Job', name: 'import', uid: 'uid-import' }));
    expect([...view.workloads()].map(({ kind, name }) => `${kind} ${name}`)).toEqual(['CronJob nightly', 'Job import']);
    const nightly = view.workloadByUid('uid-nightly');
    expect(nightly && view.podsOf(nightly).map(({ pod }) => pod.name)).toEqual(['nightly-1-x']);
    const pod = view.pod('shop', 'nightly-1-x')?.pod;
    expect(pod && view.workloadOf(pod)?.name).toBe('nightly');
  });

  test('a bare pod belongs to nobody, and a pod that is gone to no node', () => {
    const { stores, view } = setUp();
    const bare = { metadata: named('bare'), spec: { containers: [container], nodeName: 'n1' } };
    stores.pods.put(bare);
    const pod = view.pod('shop', 'bare')?.pod;
    expect(pod && view.workloadOf(pod)).toBeUndefined();
    stores.pods.remove(bare);
    expect(view.podsOnNode('n1')).toEqual([]);
  });
});

describe('nodes that may not be read', () => {
  test('speak against nothing and offer nothing: neither room nor a size to cut to is known of them', () => {
    const { stores, view } = setUp({ areNodesHidden: true });
    stores.pods.put(owned('web-1', { kind: 'DaemonSet', name: 'web', uid: 'uid-web' }));
    expect(view.node('n1')).toMatchObject({
      name: 'n1',
      labels: {},
      allocatable: { cpuMillis: Number.POSITIVE_INFINITY },
    });
    expect([...view.nodes()]).toEqual([]);
    expect(view.node('')).toBeUndefined();
  });

  test('are unknown until they are seen where they may be', () => {
    expect(setUp().view.node('n1')).toBeUndefined();
  });
});

describe('changes', () => {
  test('a workload is told for itself, for its pods and for its end', () => {
    const { stores, sizingStores, told } = setUp();
    const agent = { metadata: named('agent'), spec: { selector: {}, template } };
    sizingStores.daemonSets.put(agent);
    expect(told()).toEqual(['workload DaemonSet/shop/agent']);
    stores.pods.put(owned('agent-1', { kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' }));
    expect(told()).toEqual(['workload DaemonSet/shop/agent']);
    sizingStores.daemonSets.remove(agent);
    expect(told()).toEqual(['workload-deleted DaemonSet/shop/agent']);
  });

  test('bounds are told by namespace', () => {
    const { sizingStores, view, told } = setUp();
    const range = { metadata: named('bounds'), spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } };
    sizingStores.limitRanges.put(range);
    sizingStores.quotas.put({ metadata: named('quota'), spec: { hard: { 'requests.cpu': '2' } } });
    expect(told()).toEqual(['bounds shop', 'bounds shop']);
    expect(view.limitRanges('shop').map(({ max }) => max)).toEqual([{ cpu: 1000 }]);
    expect(view.limitRanges('other')).toEqual([]);
    expect(view.quotas('shop').map(({ hard }) => hard)).toEqual([{ cpuRequest: 2000 }]);
    sizingStores.limitRanges.remove(range);
    expect(told()).toEqual(['bounds shop']);
    expect(view.limitRanges('shop')).toEqual([]);
  });
});

test('of several LimitRanges in a namespace each item counts, as it is by then', () => {
  const { sizingStores, view } = setUp();
  const item = (cpu: string) => ({ type: 'Container', max: { cpu } });
  const range = (name: string, resourceVersion: string, ...cpu: readonly string[]) => ({
    metadata: { ...named(name), resourceVersion },
    spec: { limits: cpu.map(item) },
  });
  const bounds = () => view.limitRanges('shop').map(({ name, max }) => `${name} ${max.cpu}`);
  sizingStores.limitRanges.put(range('a', '1', '1', '2'));
  sizingStores.limitRanges.put(range('b', '2'));
  sizingStores.limitRanges.put({ ...range('c', '3', '9'), metadata: { ...named('c'), namespace: 'other' } });
  expect(bounds()).toEqual(['a 1000', 'a 2000']);
  sizingStores.limitRanges.put(range('b', '4', '3'));
  sizingStores.limitRanges.put(range('a', '5', '4'));
  expect(bounds().toSorted()).toEqual(['a 4000', 'b 3000']);
  sizingStores.limitRanges.put(range('a', '6'));
  expect(bounds()).toEqual(['b 3000']);
});

describe('freshness', () => {
  test('a store of sizing that is stale makes the view stale by its name', () => {
    const { sizingStores, view } = setUp();
    expect(view.freshness()).toEqual({ synced: true, stale: [] });
    sizingStores.quotas.setFreshness('stale');
    expect(view.freshness()).toEqual({ synced: true, stale: ['quotas'] });
    sizingStores.quotas.setFreshness('initial');
    expect(view.freshness()).toEqual({ synced: false, stale: [] });
  });
});

test('the types sizing reads are those of the API', () => {
  expect(
    [resources.limitRanges, resources.horizontalPodAutoscalers].map(({ group, version }) => `${group}/${version}`),
  ).toEqual(['/v1', 'autoscaling/v2']);
});
