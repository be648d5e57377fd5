import { expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { compilePlacementRules } from '../controllers/placement/rules.ts';
import { createSpotWatch } from '../controllers/spot-watch.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLiveView } from '../observe/live-view.ts';
import { createManualStores } from '../observe/testing/manual-stores.ts';
import { testSettings } from '../observe/testing/placement-settings.ts';
import { deploymentOf, enabled, podOf, replicaSet, reviewOf } from '../webhook/testing/admission-world.ts';
import { createAdmission } from './admission.ts';

const MINUTE = 60_000;

/** Answers with the place that a new pod is given. */
function setUp() {
  const clock = createVirtualClock(Date.UTC(2026, 0, 31));
  const stores = createManualStores();
  const view = createLiveView(stores);
  const rules = compilePlacementRules(testSettings());
  stores.namespaces.put({ metadata: { name: 'shop', uid: 'ns', labels: enabled } });
  stores.deployments.put(deploymentOf({}));
  stores.replicaSets.put(replicaSet);
  const metrics = createMetrics();
  const spot = createSpotWatch({ view, rules: () => rules, clock, random: createSeededRandom(1) });
  const admission = createAdmission({
    api: {} as KubeApi,
    view,
    rules: () => rules,
    ownerTypeOf: () => undefined,
    spot,
    sizes: undefined,
    metrics,
    clock,
    log: createSilentLogger(),
  });
  const placeOf = async (uid: string): Promise<unknown> => {
    const { body } = await admission.handle(reviewOf(uid, podOf()));
    const patch: { path: string; value: Record<string, unknown> }[] = JSON.parse(
      Buffer.from(JSON.parse(body).response.patch, 'base64').toString('utf8'),
    );
    return patch.find(({ path }) => path === '/metadata/annotations')?.value['spotalis.io/slot'];
  };
  return { admission, clock, stores, metrics, placeOf };
}

test('a pod that never appears gives its place back; while pods cannot be followed it may be there', async () => {
  const { clock, stores, placeOf } = setUp();
  expect(await placeOf('a')).toBe('1');
  await clock.advance(10 * MINUTE);
  expect(await placeOf('b')).toBe('1');
  stores.pods.setFreshness('stale');
  await clock.advance(10 * MINUTE);
  expect(await placeOf('c')).toBe('2');
  stores.pods.setFreshness('fresh');
  expect(await placeOf('d')).toBe('3');
  await clock.advance(10 * MINUTE);
  expect(await placeOf('e')).toBe('1');
});

test('that pods could not be followed counts also where nobody asked for a place meanwhile', async () => {
  const { admission, clock, stores, placeOf } = setUp();
  const ending = new AbortController();
  const ended = admission.run(ending.signal);
  expect(await placeOf('a')).toBe('1');
  stores.pods.setFreshness('stale');
  await clock.advance(10 * MINUTE);
  stores.pods.setFreshness('fresh');
  expect(await placeOf('b')).toBe('2');
  await clock.advance(10 * MINUTE);
  expect(await placeOf('c')).toBe('1');
  ending.abort();
  await ended;
});

test('of a dry run only that it was asked is counted: no pod was changed, nor admitted as it was', async () => {
  const { admission, metrics } = setUp();
  const sumOf = async (name: string): Promise<number> => {
    const lines = (await metrics.render()).split('\n').filter((line) => line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  };
  const counts = async () => ({
    requests: await sumOf('spotalis_webhook_requests_total'),
    mutations: await sumOf('spotalis_webhook_mutations_total'),
    unsteered: await sumOf('spotalis_admissions_unsteered_total'),
  });
  const strangers = podOf({ metadata: { ownerReferences: [] } });
  for (const [index, pod] of [podOf(), strangers].entries())
    await admission.handle(reviewOf(`dry-${index}`, pod, { dryRun: true }));
  expect(await counts()).toEqual({ requests: 2, mutations: 0, unsteered: 0 });
  for (const [index, pod] of [podOf(), strangers].entries()) await admission.handle(reviewOf(`real-${index}`, pod));
  expect(await counts()).toMatchObject({ requests: 4, unsteered: 1 });
  expect((await counts()).mutations).toBeGreaterThan(0);
});
