/**
 * A full pass over 2,000 workloads with 10,000 pods on 500 nodes through the real controller (queue, plan, guards), on a
 * cluster at rest, and again when every workload wants to move one pod but is blocked by its window.
 * The baseline of the same run counts each workload's pods by side and nothing more.
 */
import { createJournal } from '../../src/act/journal.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { createPlacementEngine } from '../../src/controllers/placement-engine.ts';
import { compilePlacementRules } from '../../src/controllers/placement-rules.ts';
import { createSpotWatch } from '../../src/controllers/spot-watch.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createMetrics, type Metrics } from '../../src/lib/metrics.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import type { PlacementSettings } from '../../src/model/placement-settings.ts';
import { testSettings } from '../../src/observe/testing/placement-settings.ts';
import type { BenchResult } from '../bench-result.ts';
import { createBenchWorld } from '../bench-world.ts';

const WORKLOADS = 2000;
const world = createBenchWorld({ pods: 10_000, podsPerWorkload: 5, nodes: 500 });
let writes = 0;

const refuse = () => {
  writes++;
  return Promise.reject(new Error('a benchmark writes nothing'));
};
const api = { get: refuse, create: refuse, patch: refuse, createSubresource: refuse } as unknown as KubeApi;

/** Milliseconds from waking every workload until each was looked at `passes` times. */
async function runPasses(settings: PlacementSettings, passes: number): Promise<number[]> {
  const clock = createSystemClock();
  const metrics = createMetrics();
  let looked = 0;
  let onPass = (): void => {};
  const counting: Metrics = {
    ...metrics,
    observe(name, labels, value) {
      metrics.observe(name, labels, value);
      if (name === 'spotalis_reconcile_duration_seconds' && ++looked % WORKLOADS === 0) onPass();
    },
  };
  const rules = compilePlacementRules(settings);
  const random = createSystemRandom();
  const { controller } = createPlacementEngine({
    api,
    view: world.view,
    rules: () => rules,
    spot: createSpotWatch({ view: world.view, rules: () => rules, clock, random }),
    leadership: () => ({ leader: true, sinceMillis: 0 }),
    events: { record: () => {} },
    journal: createJournal({ clock }),
    metrics: counting,
    clock,
    random,
    log: createSilentLogger(),
    workers: 5,
    reconcileIntervalMillis: () => 3_600_000,
    windowPollMillis: () => 3_600_000,
  });
  const stop = new AbortController();
  const took: number[] = [];
  let startedAt = performance.now();
  let done = new Promise<void>((resolve) => {
    onPass = resolve;
  });
  const running = controller.run(stop.signal);
  for (let pass = 0; pass < passes; pass++) {
    await done;
    took.push(performance.now() - startedAt);
    startedAt = performance.now();
    done = new Promise((resolve) => {
      onPass = resolve;
    });
    if (pass + 1 < passes) controller.wakeAll();
  }
  stop.abort();
  await running;
  return took;
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

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const baseline = median([countOnly(), countOnly(), countOnly(), countOnly(), countOnly()]);
const atRest = await runPasses(testSettings(), 5);
const writesAtRest = writes;
// The first of January at midnight, for one minute.
const closed = { window: { schedule: '0 0 1 1 *', duration: '1m' }, rounding: 'floor' as const };
const blocked = await runPasses(testSettings(closed), 5);

const result: BenchResult = {
  name: 'reconcile',
  figures: {
    first_pass_at_rest_ms: atRest[0] ?? Number.NaN,
    pass_at_rest_ms: median(atRest.slice(1)),
    pass_blocked_ms: median(blocked.slice(1)),
    count_only_baseline_ms: baseline,
    pass_to_baseline_ratio: median(atRest.slice(1)) / baseline,
    writes_at_rest: writesAtRest,
    writes_blocked: writes - writesAtRest,
  },
  bars: [
    { key: 'first_pass_at_rest_ms', op: '<=', value: 2000 },
    { key: 'pass_blocked_ms', op: '<=', value: 2000 },
    { key: 'writes_at_rest', op: '==', value: 0 },
    { key: 'writes_blocked', op: '==', value: 0 },
  ],
};
console.log(JSON.stringify(result));
