import { describe, expect, test } from 'vitest';
import { createSizingSnapshot } from './sizing-snapshot.ts';
import { aNamespace, aNode, aPdb, aPod } from './testing/records.ts';
import { aLimitRange, aQuota, aSizedPod, aSizedWorkload, aVpa } from './testing/sizing-records.ts';

const web = aSizedWorkload();
const revision = (name: string) => ({
  namespace: 'shop',
  name,
  uid: `uid-${name}`,
  owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: web.uid },
  revision: name,
  replicas: 1,
  createdAt: 0,
});
const [first, second] = [revision('web-a'), revision('web-b')];

describe('workloads and pods', () => {
  const view = createSizingSnapshot({
    workloads: [web],
    replicaSets: [first, second],
    pods: [aSizedPod(first, 'web-a-1'), aSizedPod(second, 'web-b-1'), aPod(first, 'web-a-2')],
  });

  test('pods of all revisions, without those that have no sizing part', () => {
    expect(view.podsOf(web).map(({ pod }) => pod.name)).toEqual(['web-a-1', 'web-b-1']);
    expect(view.pod('shop', 'web-a-2')).toBeUndefined();
    expect(view.podsOnNode('n1').map(({ pod }) => pod.name)).toEqual(['web-a-1', 'web-b-1']);
    expect(view.podsOnNode('n2')).toEqual([]);
  });

  test('a workload is found by name and by uid, and from its pod', () => {
    expect(view.workload({ kind: 'Deployment', namespace: 'shop', name: 'web' })).toBe(web);
    expect(view.workload({ kind: 'StatefulSet', namespace: 'shop', name: 'web' })).toBeUndefined();
    expect(view.workloadByUid(web.uid)).toBe(web);
    expect(view.workloadOf(aPod(second, 'new'))).toBe(web);
    expect([...view.workloads()]).toEqual([web]);
  });
});

test('what belongs to a namespace is found there only', () => {
  const view = createSizingSnapshot({
    namespaces: [aNamespace()],
    nodes: [aNode('n1', undefined)],
    limitRanges: [aLimitRange(), aLimitRange({ namespace: 'other' })],
    quotas: [aQuota()],
    vpas: [aVpa()],
    pdbs: [aPdb()],
  });
  expect(view.limitRanges('shop')).toEqual([aLimitRange()]);
  expect(
    [view.quotas('shop'), view.vpas('shop'), view.pdbs('shop'), view.hpas('shop')].map(({ length }) => length),
  ).toEqual([1, 1, 1, 0]);
  expect(view.quotas('other')).toEqual([]);
  expect(view.namespace('shop')).toEqual(aNamespace());
  expect([...view.namespaces()].length + [...view.nodes()].length).toBe(2);
  expect(view.node('n1')?.name).toBe('n1');
});

test('fresh unless said otherwise', () => {
  expect(createSizingSnapshot({}).freshness()).toEqual({ synced: true, stale: [] });
  const stale = { synced: true, stale: ['pods'] };
  expect(createSizingSnapshot({ freshness: stale }).freshness()).toBe(stale);
});
