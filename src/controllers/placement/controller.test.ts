import { expect, test } from 'vitest';
import { createEvents } from '../../act/events.ts';
import { planWorkload } from '../../decide/placement/converge.ts';
import { createSpotMemory } from '../../decide/placement/spot-memory.ts';
import type { Block } from '../../guard/context.ts';
import { createDisruptionLog } from '../../guard/history.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { reason } from '../../lib/reasons.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { createLiveView } from '../../observe/live-view.ts';
import { createManualStores } from '../../observe/testing/manual-stores.ts';
import { testSettings } from '../../observe/testing/placement-settings.ts';
import { createDisruptionTurns, type DisruptionTurns } from '../disruption-turns.ts';
import { createEvictionsInFlight } from '../evictions-in-flight.ts';
import { createPlacementController } from './controller.ts';
import { createPlanGauges } from './plan-gauges.ts';
import type { PlacementReconciler } from './reconciler.ts';
import { compilePlacementRules } from './rules.ts';

const NOON = Date.UTC(2026, 0, 31, 12);

function statefulSet(name: string, labels: Readonly<Record<string, string>> = { 'spotalis.io/enabled': 'true' }) {
  return {
    metadata: { name, namespace: 'shop', uid: name, labels },
    spec: { selector: {}, serviceName: name, template: {} },
  };
}

/** One place in the budget. What a look does about the turns is up to the test. */
function setUp(
  look: (name: string, turns: DisruptionTurns, free: number) => void | Promise<void>,
  unmanaged: readonly string[] = [],
) {
  const clock = createVirtualClock(NOON);
  const random = createSeededRandom(1);
  const metrics = createMetrics();
  const stores = createManualStores();
  const view = createLiveView(stores);
  const rules = compilePlacementRules({ ...testSettings(), maxConcurrentEvictions: 1 });
  const inFlight = createEvictionsInFlight(() => 600_000);
  const free = (): number => 1 - inFlight.list(clock.now()).length;
  const history = createDisruptionLog({ initial: 1, max: 1 });
  const turns = createDisruptionTurns({ history, free, clock });
  inFlight.onFreed(turns.offer);
  const spot = createSpotMemory({
    random,
    backoff: () => ({ initialMillis: 1, factor: 2, maxMillis: 2, jitter: 0 }),
    probeLimitMillis: () => 1,
  });
  const [looked, forgotten, told]: [string[], string[], string[]] = [[], [], []];
  const adopted: string[] = [];
  const reconciler: PlacementReconciler = {
    async reconcile(workload) {
      looked.push(workload.name);
      await look(workload.name, turns, free());
      const { settings, sides, readPolicy } = rules;
      const policy = readPolicy(view, workload);
      const plan = planWorkload({ view, sides, workload, settings, policy, spot, now: clock.now() });
      return { plan, againAfterMillis: undefined };
    },
    forget(key, workloadUid) {
      forgotten.push(workloadUid);
      turns.leave('placement', key);
    },
  };
  stores.namespaces.put({ metadata: { name: 'shop', labels: { 'spotalis.io/enabled': 'true' } } });
  for (const name of ['a', 'b']) stores.statefulSets.put(statefulSet(name));
  for (const name of unmanaged) stores.statefulSets.put(statefulSet(name, {}));
  const controller = createPlacementController({
    view,
    rules: () => rules,
    steersNewPods: () => true,
    reconciler,
    moves: { adopt: (_, { name }) => void adopted.push(name) },
    disruptions: { history, inFlight, adoptReplacements: () => {}, turns },
    events: createEvents({ record: ({ reason: why }) => void told.push(why) }, clock, 'Place'),
    metrics,
    gauges: createPlanGauges(metrics),
    clock,
    random,
    log: createSilentLogger(),
    workers: 1,
    reconcileIntervalMillis: () => 300_000,
    windowPollMillis: () => 300_000,
  });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { clock, stores, inFlight, metrics, looked, forgotten, told, adopted, end };
}

const full = { rule: 'within-budget', ...reason('ConcurrencyLimit', { inFlight: 1, limit: 1 }) };
const block: Block = { ...full, reason: full.name, retryAfterMillis: undefined };
const candidate = (name: string) => ({
  engine: 'placement' as const,
  key: workloadKey({ kind: 'StatefulSet', namespace: 'shop', name }),
  workloadUid: name,
  drift: name === 'a' ? 2 : 1,
  replicas: 4,
});

test('whose turn it is may want nothing any more: the place goes to the next in line at once', async () => {
  let isFree = false;
  const scene = setUp((name, turns, free) => {
    if (free === 0) turns.noteBlocked(candidate(name), block);
    else if (name === 'a') turns.leave('placement', candidate(name).key);
    else isFree = turns.take(candidate(name)) === undefined;
  });
  scene.inFlight.add({ workloadUid: 'x', podUid: 'x-0', since: NOON });
  await scene.clock.advance(1_000);
  expect(scene.looked).toEqual(['a', 'b']);
  scene.inFlight.remove('x-0');
  await scene.clock.advance(1_000);
  expect(scene.looked).toEqual(['a', 'b', 'a', 'b']);
  expect(isFree).toBe(true);
  await scene.end();
});

test('so it does where the workload whose turn it is has just been deleted', async () => {
  const scene = setUp((name, turns, free) => {
    if (free === 0) turns.noteBlocked(candidate(name), block);
    else turns.take(candidate(name));
  });
  scene.inFlight.add({ workloadUid: 'x', podUid: 'x-0', since: NOON });
  await scene.clock.advance(1_000);
  expect(scene.looked).toEqual(['a', 'b']);
  scene.inFlight.remove('x-0');
  scene.stores.statefulSets.remove(statefulSet('a'));
  await scene.clock.advance(1_000);
  expect(scene.looked).toEqual(['a', 'b', 'b']);
  await scene.end();
});

test('a workload that goes while it is looked at leaves nothing behind', async () => {
  let answer = (): void => {};
  const scene = setUp((name) => {
    if (name !== 'a' || scene.looked.length <= 2) return undefined;
    return new Promise<void>((resolve) => {
      answer = resolve;
    });
  });
  await scene.clock.advance(1_000);
  const before = scene.told.length;
  scene.stores.statefulSets.put({ ...statefulSet('a'), status: { replicas: 1 } });
  await scene.clock.advance(1_000);
  expect(scene.looked).toEqual(['a', 'b', 'a']);
  scene.stores.statefulSets.remove(statefulSet('a'));
  await scene.clock.advance(1_000);
  answer();
  await scene.clock.advance(1_000);
  // Once more than the deletion itself: for what was noted since.
  expect(scene.forgotten).toEqual(['a', 'a']);
  expect(scene.told.slice(before)).toEqual([]);
  expect(await scene.metrics.render()).not.toContain('workload="a"');
  await scene.end();
});

test('what the last leader moved in vain is taken over before anything is looked at, of what is managed', async () => {
  const before: string[][] = [];
  const scene = setUp(() => void before.push([...scene.adopted]), ['c']);
  await scene.clock.advance(1_000);
  expect(scene.looked).toEqual(['a', 'b', 'c']);
  expect(before).toEqual([
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'b'],
  ]);
  await scene.end();
});

test('of a workload that goes, what is told of its sizes is left to rightsizing', async () => {
  const scene = setUp(() => undefined);
  await scene.clock.advance(1_000);
  const labels = { namespace: 'shop', workload: 'a' };
  scene.metrics.set('spotalis_window_open', { ...labels, workload_type: 'statefulset' }, 1);
  scene.metrics.set('optipod_recommended_cpu_cores', { ...labels, kind: 'StatefulSet', container: 'app' }, 1);
  scene.stores.statefulSets.remove(statefulSet('a'));
  await scene.clock.advance(1_000);
  const told = (await scene.metrics.render()).split('\n').filter((line) => line.includes('workload="a"'));
  expect(told).toEqual([expect.stringContaining('optipod_recommended_cpu_cores')]);
  await scene.end();
});
