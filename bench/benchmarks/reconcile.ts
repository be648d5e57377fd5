/**
 * A full pass over 2,000 workloads with 10,000 pods on 500 nodes through the real controller (queue, plan, guards), on a
 * cluster at rest, and again when every workload wants to move one pod but is blocked by its window. Then, in the cluster at rest,
 * how long it takes from an event (a pod is lost, an annotation is changed, a node is lost with all its pods) to the decision.
 * Baselines of the same run: counting each workload's pods by side and nothing more, and a timer as long as changes are gathered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { PlacementSettings } from '../../src/model/placement-settings.ts';
import { testSettings } from '../../src/observe/testing/placement-settings.ts';
import type { BenchResult } from '../bench-result.ts';
import { benchNamespace, createBenchWorld, deploymentObject, nodeObject, runningPodObject } from '../bench-world.ts';
import { startBenchEngine } from '../placement-bench-engine.ts';

const WORKLOADS = 2000;
const PODS_PER_WORKLOAD = 5;
const EVENTS = 40;
/** As the controller gathers changes of a workload. */
const COALESCE_MILLIS = 100;
const world = createBenchWorld({
  pods: WORKLOADS * PODS_PER_WORKLOAD,
  podsPerWorkload: PODS_PER_WORKLOAD,
  nodes: 500,
});

interface Took {
  readonly wallMillis: number;
  readonly cpuMillis: number;
}

async function timed(work: () => Promise<unknown>): Promise<Took> {
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wallMillis: performance.now() - startedAt, cpuMillis: (user + system) / 1000 };
}

/** Milliseconds from waking every workload until each was looked at, `passes` times; and the writes tried. */
async function runPasses(settings: PlacementSettings, passes: number): Promise<{ took: number[]; writes: number }> {
  const engine = startBenchEngine(world.view, settings);
  const took: number[] = [];
  for (let pass = 0; pass < passes; pass++) {
    if (pass > 0) engine.wakeAll();
    took.push((await timed(() => engine.looks(WORKLOADS))).wallMillis);
  }
  await engine.stop();
  return { took, writes: engine.writes() };
}

function countOnly(): number {
  const startedAt = performance.now();
  let spot = 0;
  for (const workload of world.view.workloads()) {
    for (const replicaSet of world.view.replicaSetsOf(workload.uid)) {
      for (const pod of world.view.podsOwnedBy(replicaSet.uid)) {
        const node = world.view.node(pod.nodeName ?? '');
        if (node?.labels['karpenter.sh/capacity-type'] === 'spot') spot++;
      }
    }
  }
  if (spot === 0) throw new Error('the benchmark world has no spot pods');
  return performance.now() - startedAt;
}

/** One event after another, each told as the watch would tell it; a decision about every workload it concerns is awaited. */
async function fromEvent(events: number, tell: (index: number) => Iterable<string>): Promise<Took[]> {
  const took: Took[] = [];
  for (let index = 0; index < events; index++) took.push(await timed(() => engine.lookedAt(tell(index))));
  return took;
}

const keyOf = (workload: number): string => `Deployment/${benchNamespace}/app-${workload}`;

/** @param pod its name says which it is. */
function losePod(pod: string, node: string): string {
  const [, workload = '', slot = ''] = /^app-(\d+)-.*-(\d+)$/.exec(pod) ?? [];
  world.stores.pods.remove(runningPodObject(Number(workload), Number(slot), Number(node.replace('node-', ''))));
  return keyOf(Number(workload));
}

/** A pod of another workload each time. */
function loseOnePod(index: number): string[] {
  const pod = world.view.pod(benchNamespace, `app-${index}-5d59d67564-2`);
  return [losePod(pod?.name ?? '', pod?.nodeName ?? '')];
}

/** A percentage that asks for as many pods as the one before: a decision, but no move. */
function changeAnnotation(index: number): string[] {
  const object = deploymentObject(100 + index, PODS_PER_WORKLOAD);
  const annotations = { ...object.metadata?.annotations, 'spotalis.io/spot-percentage': '75' };
  world.stores.deployments.put({ ...object, metadata: { ...object.metadata, annotations } });
  return [keyOf(100 + index)];
}

/** A node goes, and its pods with it. */
function loseNode(index: number): string[] {
  const node = nodeObject(2 * index + 100);
  const name = node.metadata?.name ?? '';
  const lost = [...world.view.podsOnNode(name)];
  world.stores.nodes.remove(node);
  return lost.map((pod) => losePod(pod.name, name));
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const wall = (took: readonly Took[]): number[] => took.map(({ wallMillis }) => wallMillis);
const cpu = (took: readonly Took[]): number[] => took.map(({ cpuMillis }) => cpuMillis);

const baseline = median([countOnly(), countOnly(), countOnly(), countOnly(), countOnly()]);
const atRest = await runPasses(testSettings(), 5);
// The first of January at midnight, for one minute.
const closed = { window: { schedule: '0 0 1 1 *', duration: '1m' }, rounding: 'floor' as const };
const blocked = await runPasses(testSettings(closed), 5);

const engine = startBenchEngine(world.view, testSettings());
await engine.looks(WORKLOADS);
const podLost = await fromEvent(EVENTS, loseOnePod);
const annotationChanged = await fromEvent(EVENTS, changeAnnotation);
const nodeLost = await fromEvent(EVENTS / 4, loseNode);
await engine.stop();
const timer: number[] = [];
for (let index = 0; index < EVENTS / 4; index++) timer.push((await timed(() => delay(COALESCE_MILLIS))).wallMillis);

const result: BenchResult = {
  name: 'reconcile',
  figures: {
    first_pass_at_rest_ms: atRest.took[0] ?? Number.NaN,
    pass_at_rest_ms: median(atRest.took.slice(1)),
    pass_blocked_ms: median(blocked.took.slice(1)),
    count_only_baseline_ms: baseline,
    pass_to_baseline_ratio: median(atRest.took.slice(1)) / baseline,
    writes_at_rest: atRest.writes,
    writes_blocked: blocked.writes,
    pod_lost_to_decision_ms: median(wall(podLost)),
    pod_lost_to_decision_max_ms: Math.max(...wall(podLost)),
    pod_lost_to_decision_cpu_ms: median(cpu(podLost)),
    annotation_to_decision_ms: median(wall(annotationChanged)),
    annotation_to_decision_max_ms: Math.max(...wall(annotationChanged)),
    annotation_to_decision_cpu_ms: median(cpu(annotationChanged)),
    node_lost_to_last_decision_ms: median(wall(nodeLost)),
    node_lost_to_last_decision_max_ms: Math.max(...wall(nodeLost)),
    gathering_baseline_ms: median(timer),
    event_to_baseline_ratio: median(wall(podLost)) / median(timer),
  },
  bars: [
    { key: 'first_pass_at_rest_ms', op: '<=', value: 2000 },
    { key: 'pass_blocked_ms', op: '<=', value: 2000 },
    { key: 'writes_at_rest', op: '==', value: 0 },
    { key: 'writes_blocked', op: '==', value: 0 },
    { key: 'pod_lost_to_decision_max_ms', op: '<=', value: 1000 },
    { key: 'annotation_to_decision_max_ms', op: '<=', value: 1000 },
    { key: 'node_lost_to_last_decision_max_ms', op: '<=', value: 1000 },
  ],
};
console.log(JSON.stringify(result));
