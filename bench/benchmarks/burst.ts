/**
 * Exactness after bursts. First 1,000 admissions at once against a view that shows none of the pods yet; then Deployments of
 * 1,000 and 250 replicas on the embedded cluster with its ReplicaSet controller's slow start, in virtual time. Both with one
 * replica of the operator and with three; the handler's three talk over TLS, and the CPU is that of client and replicas together.
 * The baselines of the same run: steering each pod by the number of pods that can be seen, as the public operator does, and
 * three replicas that do not ask each other.
 */
import type { JsonPatchOperation } from '../../src/api/kube-api.ts';
import { resources } from '../../src/api/resources.ts';
import { createEmbeddedWorld, deploymentObject, namespaceObject } from '../../src/operator/testing/embedded-world.ts';
import { WEBHOOK_SERVICE } from '../../src/simulator/world.ts';
import { createCoordinatedHandler } from '../../src/webhook/coordinated-handler.ts';
import type { BenchResult } from '../bench-result.ts';
import { deploymentObject as benchDeployment, replicaSetObject } from '../bench-world.ts';
import { startReplicatedWebhook } from '../replicated-webhook.ts';
import { createWebhookBench, reviewBody, type WebhookBench } from '../webhook-bench-setup.ts';

const BURST = 1000;
const TARGET_SPOT = 700;

/** The handler with one workload of which nobody has seen a pod. */
function createBurstBench(): WebhookBench {
  const bench = createWebhookBench(0);
  bench.stores.deployments.put(benchDeployment(0, BURST));
  bench.stores.replicaSets.put(replicaSetObject(0, BURST));
  return bench;
}

const burstBodies = (): string[] => Array.from({ length: BURST }, (_, index) => reviewBody(`burst-${index}`, 0));
const wrongSide = (answers: readonly string[]): number =>
  Math.abs(answers.filter((body) => sideOf(body) === 'spot').length - TARGET_SPOT);

/** Pods on the wrong side after `BURST` simultaneous admissions. */
async function burstAtHandler(): Promise<{ wrong: number; tookMillis: number }> {
  const { handle } = createBurstBench();
  const bodies = burstBodies();
  const startedAt = performance.now();
  const answers = await Promise.all(bodies.map(async (body) => handle(body)));
  const tookMillis = performance.now() - startedAt;
  return { wrong: wrongSide(answers.map(({ body }) => body)), tookMillis };
}

/** The same over TLS, the reviews dealt out to replicas that each have a ledger of their own. */
async function burstAtReplicas(replicas: number) {
  const webhook = await startReplicatedWebhook(Array.from({ length: replicas }, createBurstBench));
  const bodies = burstBodies();
  const startedAt = performance.now();
  const before = process.threadCpuUsage();
  const answers = await webhook.sendAll(bodies);
  const { user, system } = process.threadCpuUsage(before);
  const tookMillis = performance.now() - startedAt;
  await webhook.close();
  const unconfirmed = answers.filter((body) => patchOf(body).includes('spotalis.io~1unconfirmed')).length;
  return { wrong: wrongSide(answers), unconfirmed, tookMillis, cpuMillis: (user + system) / 1000 / BURST };
}

/** Each replica decides what reaches it, without asking. */
async function burstWithoutAsking(replicas: number): Promise<number> {
  const benches = Array.from({ length: replicas }, createBurstBench);
  const answers = await Promise.all(burstBodies().map(async (body, index) => benches[index % replicas]?.handle(body)));
  return wrongSide(answers.map((answer) => answer?.body ?? ''));
}

function patchOf(body: string): string {
  const { response } = JSON.parse(body) as { response: { patch: string } };
  return Buffer.from(response.patch, 'base64').toString('utf8');
}

function sideOf(body: string): unknown {
  const patch = JSON.parse(patchOf(body)) as JsonPatchOperation[];
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

/** @param operators replicas of the operator; admissions go to each in turn. */
async function burstOnCluster(replicas: number, operators = 1) {
  const world = await createEmbeddedWorld({ spotNodes: 10, onDemandNodes: 10 });
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  const leader = await world.startOperator();
  const handlers = [leader.admit];
  while (handlers.length < operators) {
    const { admit } = await world.startOperator(`test_${handlers.length + 1}`);
    const handle = createCoordinatedHandler({
      decide: admit,
      isLeader: () => false,
      isSynced: () => true,
      forward: async (body) => leader.admit(body),
      onForwarded: () => {},
      clock: world.clock,
    });
    handlers.push((body) => handle(body, false));
  }
  let turn = 0;
  world.server.core.localWebhooks.set(WEBHOOK_SERVICE, async (review) => {
    const handle = handlers[turn++ % handlers.length] ?? leader.admit;
    return JSON.parse((await handle(JSON.stringify(review))).body);
  });
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
const thousandOfThree = await burstOnCluster(1000, 3);
// Compilation and the first handshakes are not what is compared.
await burstAtReplicas(1);
const ofOne = await burstAtReplicas(1);
const ofThree = await burstAtReplicas(3);

const result: BenchResult = {
  name: 'burst',
  figures: {
    handler_1000_wrong_side: atHandler.wrong,
    handler_1000_took_ms: atHandler.tookMillis,
    counting_none_visible_wrong_side: burstByCounting(0),
    counting_ten_visible_wrong_side: burstByCounting(10),
    replicas_1_wrong_side: ofOne.wrong,
    replicas_1_took_ms: ofOne.tookMillis,
    replicas_1_cpu_ms_per_review: ofOne.cpuMillis,
    replicas_3_wrong_side: ofThree.wrong,
    replicas_3_unconfirmed: ofThree.unconfirmed,
    replicas_3_took_ms: ofThree.tookMillis,
    replicas_3_cpu_ms_per_review: ofThree.cpuMillis,
    replicas_3_to_1_cpu_ratio: ofThree.cpuMillis / ofOne.cpuMillis,
    replicas_3_not_asking_wrong_side: await burstWithoutAsking(3),
    cluster_1000_wrong_side: thousand.wrong,
    cluster_1000_evictions: thousand.evictions,
    cluster_1000_virtual_ms_to_ready: thousand.readyMillis,
    cluster_250_wrong_side: quarter.wrong,
    cluster_250_evictions: quarter.evictions,
    cluster_1000_replicas_3_wrong_side: thousandOfThree.wrong,
    cluster_1000_replicas_3_evictions: thousandOfThree.evictions,
    cluster_1000_replicas_3_virtual_ms_to_ready: thousandOfThree.readyMillis,
  },
  bars: [
    { key: 'handler_1000_wrong_side', op: '==', value: 0 },
    { key: 'replicas_1_wrong_side', op: '==', value: 0 },
    { key: 'replicas_3_wrong_side', op: '==', value: 0 },
    { key: 'cluster_1000_wrong_side', op: '==', value: 0 },
    { key: 'cluster_1000_evictions', op: '==', value: 0 },
    { key: 'cluster_250_wrong_side', op: '==', value: 0 },
    { key: 'cluster_250_evictions', op: '==', value: 0 },
    { key: 'cluster_1000_replicas_3_wrong_side', op: '==', value: 0 },
    { key: 'cluster_1000_replicas_3_evictions', op: '==', value: 0 },
  ],
};
console.log(JSON.stringify(result));
