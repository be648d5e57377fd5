/**
 * Exactness after bursts. First 1,000 admissions at once against a view that shows none of the pods yet; then Deployments of
 * 1,000 and 250 replicas on the embedded cluster with its ReplicaSet controller's slow start, in virtual time.
 * The baseline of the same run steers each pod by the number of pods it can see, as the public operator does.
 */
import type { JsonPatchOperation } from '../../src/api/kube-api.ts';
import { resources } from '../../src/api/resources.ts';
import { createEmbeddedWorld, deploymentObject, namespaceObject } from '../../src/operator/testing/embedded-world.ts';
import type { BenchResult } from '../bench-result.ts';
import { deploymentObject as benchDeployment, replicaSetObject } from '../bench-world.ts';
import { createWebhookBench, reviewBody } from '../webhook-bench-setup.ts';

const BURST = 1000;
const TARGET_SPOT = 700;

/** Pods on the wrong side after `BURST` simultaneous admissions of one workload nobody has seen a pod of. */
async function burstAtHandler(): Promise<{ wrong: number; tookMillis: number }> {
  const bench = createWebhookBench(0);
  bench.stores.deployments.put(benchDeployment(0, BURST));
  bench.stores.replicaSets.put(replicaSetObject(0, BURST));
  const bodies = Array.from({ length: BURST }, (_, index) => reviewBody(`burst-${index}`, 0));
  const startedAt = performance.now();
  const answers = await Promise.all(bodies.map((body) => bench.handle(body)));
  const tookMillis = performance.now() - startedAt;
  const spot = answers.filter(({ body }) => sideOf(body) === 'spot').length;
  return { wrong: Math.abs(spot - TARGET_SPOT), tookMillis };
}

function sideOf(body: string): unknown {
  const { response } = JSON.parse(body) as { response: { patch: string } };
  const patch = JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8')) as JsonPatchOperation[];
  for (const operation of patch) {
    if (operation.op !== 'add' || !operation.path.startsWith('/spec/nodeSelector')) continue;
    const { value } = operation;
    return typeof value === 'object' && value !== null ? Object.values(value)[0] : value;
  }
  throw new Error('the pod was not steered');
}

/** The public operator's rule on the pods it can see: the floor first, then the rounded share of one pod more. */
function burstByCounting(visible: number): number {
  let spot = 0;
  for (let admitted = 0; admitted < BURST; admitted++) {
    const seen = Math.min(admitted, visible);
    const seenSpot = Math.floor((seen * TARGET_SPOT) / BURST);
    const total = seen + 1;
    const wantsOnDemand = seen - seenSpot < 1 || seen - seenSpot < total - Math.floor(total * 0.7);
    if (!wantsOnDemand) spot++;
  }
  return Math.abs(spot - TARGET_SPOT);
}

async function burstOnCluster(replicas: number) {
  const world = await createEmbeddedWorld({ spotNodes: 10, onDemandNodes: 10 });
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.startOperator();
  const annotations = { 'spotalis.io/spot-percentage': '70', 'spotalis.io/min-on-demand': '1' };
  const started = world.clock.now();
  await world.api.create(resources.deployments, deploymentObject({ name: 'web', replicas, annotations }), {
    namespace: 'shop',
  });
  await world.until('all pods are ready', async () => {
    const { spot, 'on-demand': onDemand, pending } = await world.sides('shop', 'web');
    return spot + onDemand === replicas && pending === 0;
  });
  const readyMillis = world.clock.now() - started;
  await world.clock.advance(10 * 60_000);
  const { spot } = await world.sides('shop', 'web');
  const { length: evictions } = world.evictions;
  await world.stop();
  return { wrong: Math.abs(spot - replicas * 0.7), evictions, readyMillis };
}

const atHandler = await burstAtHandler();
const thousand = await burstOnCluster(1000);
const quarter = await burstOnCluster(250);

const result: BenchResult = {
  name: 'burst',
  figures: {
    handler_1000_wrong_side: atHandler.wrong,
    handler_1000_took_ms: atHandler.tookMillis,
    counting_none_visible_wrong_side: burstByCounting(0),
    counting_ten_visible_wrong_side: burstByCounting(10),
    cluster_1000_wrong_side: thousand.wrong,
    cluster_1000_evictions: thousand.evictions,
    cluster_1000_virtual_ms_to_ready: thousand.readyMillis,
    cluster_250_wrong_side: quarter.wrong,
    cluster_250_evictions: quarter.evictions,
  },
  bars: [
    { key: 'handler_1000_wrong_side', op: '==', value: 0 },
    { key: 'cluster_1000_wrong_side', op: '==', value: 0 },
    { key: 'cluster_1000_evictions', op: '==', value: 0 },
    { key: 'cluster_250_wrong_side', op: '==', value: 0 },
    { key: 'cluster_250_evictions', op: '==', value: 0 },
  ],
};
console.log(JSON.stringify(result));
