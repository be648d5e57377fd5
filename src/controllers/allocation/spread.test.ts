import { expect, test } from 'vitest';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { aDeployment, aNode, aReplicaSet, aTemplate } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { medianShareOf, spreadFactsOf } from './spread.ts';

const workload = aSizedWorkload();
const replicaSet = aReplicaSet(aDeployment({ uid: workload.uid }));

/** Replicas on these nodes, to be spread over the domains of one label; what the first is told. */
function factsOf(key: string, nodesOfReplicas: readonly string[] = ['n1', 'n1', 'n2']) {
  const template = aTemplate({ preferences: { nodeTerms: [], spreadKeys: [key] } });
  const pods = nodesOfReplicas.map((nodeName, index) =>
    aSizedPod(replicaSet, `web-${index}`, {}, { nodeName, template }),
  );
  const nodes = ['n1', 'n2', 'n3', 'n4'].map((name) =>
    aNode(name, undefined, { labels: { host: name, ...(name < 'n3' && { zone: `zone-of-${name}` }) } }),
  );
  const view = createSizingSnapshot({ workloads: [workload], replicaSets: [replicaSet], pods, nodes });
  const [pod] = view.podsOf(workload);
  return pod === undefined ? undefined : spreadFactsOf(view, pod, workload);
}

test('a replica is told how many are beside it, and how many there would be on average', () => {
  expect(factsOf('zone')).toEqual([{ replicasHere: 2, averageReplicas: 1.5 }]);
});

test.each<[string, readonly string[], number, number]>([
  ['alone on its node', ['n1', 'n2'], 1, 1],
  ['beside its like, with nodes to spare', ['n1', 'n1'], 2, 1],
  ['one of many', ['n1', 'n1', 'n2', 'n3', 'n3', 'n4'], 2, 1.5],
])('of more domains than replicas none is missed: %s', (_, nodes, replicasHere, averageReplicas) => {
  expect(factsOf('host', nodes)).toEqual([{ replicasHere, averageReplicas }]);
});

test.each(['rack', 'constructor'])('a label that no node has says nothing: %s', (key) => {
  expect(factsOf(key)).toEqual([]);
});

type Share = readonly [cpuRequest: number, cpuLimit?: number];

/** What replicas with these sizes have in the middle. */
function medianOf(shares: readonly Share[], apply: 'requests+ceilings' | 'limits'): number | undefined {
  const pods = shares.map(([cpuRequest, cpuLimit], index) => {
    const containers = [aContainer({ size: { cpuRequest, ...(cpuLimit !== undefined && { cpuLimit }) } })];
    return aSizedPod(replicaSet, `web-${index}`, { containers }, { nodeName: 'n1' });
  });
  const nodes = [aNode('n1', undefined)];
  const view = createSizingSnapshot({ workloads: [workload], replicaSets: [replicaSet], pods, nodes });
  return medianShareOf(view, workload, { apply });
}

test('integration 7: the middle is of what is bargained for: of limits, where they are the share', () => {
  const replicas: readonly Share[] = [
    [100, 1000],
    [100, 1200],
    [100, 800],
  ];
  expect(medianOf(replicas, 'requests+ceilings')).toBe(100);
  expect(medianOf(replicas, 'limits')).toBe(1000);
  expect(medianOf([[100], [300], [200]], 'limits')).toBe(200);
});

test('integration 7: to two digits, of an even number half way; of two replicas there is none', () => {
  expect(medianOf([[101], [149], [300], [10]], 'requests+ceilings')).toBe(130);
  expect(medianOf([[100], [900]], 'requests+ceilings')).toBeUndefined();
});
