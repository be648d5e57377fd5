import { expect, test } from 'vitest';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { aDeployment, aNode, aReplicaSet, aTemplate } from '../../model/testing/records.ts';
import { aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { spreadFactsOf } from './spread.ts';

const workload = aSizedWorkload();
const replicaSet = aReplicaSet(aDeployment({ uid: workload.uid }));

/** Three replicas, two of them on `n1`, to be spread over the domains of one label. */
function factsOf(key: string) {
  const template = aTemplate({ preferences: { nodeTerms: [], spreadKeys: [key] } });
  const pods = ['n1', 'n1', 'n2'].map((nodeName, index) =>
    aSizedPod(replicaSet, `web-${index}`, {}, { nodeName, template }),
  );
  const nodes = ['n1', 'n2'].map((name) => aNode(name, undefined, { labels: { zone: `zone-of-${name}` } }));
  const view = createSizingSnapshot({ workloads: [workload], replicaSets: [replicaSet], pods, nodes });
  const [pod] = view.podsOf(workload);
  return pod === undefined ? undefined : spreadFactsOf(view, pod, workload);
}

test('a replica is told how many are beside it, and how many there would be on average', () => {
  expect(factsOf('zone')).toEqual([{ replicasHere: 2, averageReplicas: 1.5 }]);
});

test.each(['rack', 'constructor'])('a label that no node has says nothing: %s', (key) => {
  expect(factsOf(key)).toEqual([]);
});
