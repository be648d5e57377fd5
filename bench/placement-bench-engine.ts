/** The real placement controller (queue, plan, guards) on a benchmark's world, telling when it has looked at a workload. */
import { createJournal } from '../src/act/journal.ts';
import type { KubeApi } from '../src/api/kube-api.ts';
import { createDisruptions } from '../src/controllers/disruptions.ts';
import { createPlacementEngine } from '../src/controllers/placement/engine.ts';
import { compilePlacementRules } from '../src/controllers/placement/rules.ts';
import { createSpotWatch } from '../src/controllers/spot-watch.ts';
import { createSystemClock } from '../src/lib/clock.ts';
import { createSilentLogger } from '../src/lib/log.ts';
import { createMetrics, type Metrics } from '../src/lib/metrics.ts';
import { createSystemRandom } from '../src/lib/random.ts';
import { workloadKey } from '../src/model/cluster-view.ts';
import type { PlacementSettings } from '../src/model/placement-settings.ts';
import type { LiveView } from '../src/observe/live-view.ts';

export interface BenchEngine {
  /** Resolves when so many more workloads have been looked at. */
  looks(count: number): Promise<void>;
  /** Resolves when each of these workloads, given by key, has been looked at once more. */
  lookedAt(keys: Iterable<string>): Promise<void>;
  wakeAll(): void;
  /** What it tried to write; every write is refused. */
  writes(): number;
  stop(): Promise<void>;
}

/** Starts it; every workload of the view is looked at at once. */
export function startBenchEngine(view: LiveView, settings: PlacementSettings): BenchEngine {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const metrics = createMetrics();
  let writes = 0;
  let looks = 0;
  let waiting: { readonly isDone: () => boolean; readonly resolve: () => void } | undefined;
  const awaited = new Set<string>();
  const refuse = () => {
    writes++;
    return Promise.reject(new Error('a benchmark writes nothing'));
  };
  const counting: Metrics = {
    ...metrics,
    observe(name, labels, value) {
      metrics.observe(name, labels, value);
      if (name !== 'spotalis_reconcile_duration_seconds') return;
      looks++;
      if (waiting?.isDone() !== true) return;
      waiting.resolve();
      waiting = undefined;
    },
  };
  const watched: LiveView = {
    ...view,
    workload(ref) {
      awaited.delete(workloadKey(ref));
      return view.workload(ref);
    },
  };
  const rules = compilePlacementRules(settings);
  const watching = {
    api: { get: refuse, create: refuse, patch: refuse, createSubresource: refuse } as unknown as KubeApi,
    view: watched,
    rules: () => rules,
    spot: createSpotWatch({ view, rules: () => rules, clock, random }),
    clock,
  };
  const { controller } = createPlacementEngine({
    ...watching,
    disruptions: createDisruptions({ ...watching, leadership: () => ({ leader: true, sinceMillis: 0 }) }),
    steersNewPods: () => true,
    events: { record: () => {} },
    journal: createJournal({ clock }),
    metrics: counting,
    random,
    log: createSilentLogger(),
    workers: 5,
    reconcileIntervalMillis: () => 3_600_000,
    windowPollMillis: () => 3_600_000,
  });
  const stopping = new AbortController();
  const running = controller.run(stopping.signal);
  return {
    looks(count) {
      const until = looks + count;
      return new Promise((resolve) => {
        waiting = { isDone: () => looks >= until, resolve };
      });
    },
    lookedAt(keys) {
      for (const key of keys) awaited.add(key);
      return new Promise((resolve) => {
        waiting = { isDone: () => awaited.size === 0, resolve };
      });
    },
    wakeAll: () => controller.wakeAll(),
    writes: () => writes,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
