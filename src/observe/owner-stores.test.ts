import { describe, expect, onTestFinished, test } from 'vitest';
import type { DiscoveredResource, KubeApi } from '../api/kube-api.ts';
import { createScriptedApi, kubeError } from '../kube/testing/scripted-api.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createOwnerStores } from './owner-stores.ts';

const kind = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' } as const;
const served: DiscoveredResource = { plural: 'rollouts', kind: 'Rollout', namespaced: true };
const rollout = (name: string) => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '5' },
  spec: { replicas: 3 },
});

/** `resources` is what discovery answers; replace it. */
function setUp(options: { readonly discovers?: boolean } = {}) {
  const clock = createVirtualClock(0);
  const scripted = createScriptedApi();
  const world = { resources: [served] as readonly DiscoveredResource[] | Error };
  const discover: KubeApi['discover'] = async () => {
    if (world.resources instanceof Error) throw world.resources;
    return world.resources;
  };
  scripted.onList = () => ({ items: [rollout('web')], resourceVersion: '5' });
  const stores = createOwnerStores({
    api: { ...scripted.api, ...(options.discovers !== false && { discover }) },
    kinds: [kind],
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
  });
  const stopper = new AbortController();
  const changes: string[] = [];
  stores.subscribe({
    onChange: (key, before, after) =>
      changes.push(`${before === undefined ? '+' : after === undefined ? '-' : '~'} ${key}`),
  });
  let isSettled = false;
  void stores.onSettled.then(() => {
    isSettled = true;
  });
  let running = Promise.resolve();
  /** Runs it from now on, for so long first. */
  const runFor = async (millis: number): Promise<void> => {
    running = stores.run(stopper.signal);
    await clock.advance(millis);
  };
  onTestFinished(async () => {
    stopper.abort();
    await clock.advance(0);
    await running;
  });
  return { clock, runFor, scripted, world, stores, changes, settled: () => isSettled, names: () => names(stores) };
}

const names = (stores: ReturnType<typeof createOwnerStores>) =>
  stores.active().flatMap(({ informer }) => [...informer.store.keys()]);
/** The way without streamed lists is as good here. */
const noWatchList = (scripted: ReturnType<typeof createScriptedApi>): void => {
  scripted.onWatch = ({ sendInitialEvents }) => {
    if (sendInitialEvents === true) throw kubeError(422, 'Invalid', 'sendInitialEvents is forbidden');
  };
};

describe('a kind that is served', () => {
  test('is followed; its records are told, also to who comes late', async () => {
    const { runFor, scripted, stores, changes, settled } = setUp();
    noWatchList(scripted);
    expect(settled()).toBe(false);
    await runFor(1_000);
    expect(settled()).toBe(true);
    expect(changes).toEqual(['+ shop/web']);
    expect(stores.typeOf(kind)).toMatchObject({ group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts' });
    expect(stores.typeOf({ ...kind, apiVersion: 'example.com/v1' })).toBeUndefined();
    const late: string[] = [];
    stores.subscribe({ onChange: (key) => late.push(key) });
    expect(late).toEqual(['shop/web']);
    const [first] = stores.active();
    expect(first?.informer.store.get('shop/web')).toMatchObject({ replicas: 3, ...kind });
  });

  test('is let go of when it is served no more: its records are told as removed, and it is looked for again', async () => {
    const { clock, runFor, scripted, world, changes, stores, names: known } = setUp();
    noWatchList(scripted);
    await runFor(1_000);
    world.resources = [];
    const gone = kubeError(404, 'NotFound', 'not found');
    scripted.onList = () => {
      throw gone;
    };
    scripted.watch().fail(gone);
    await clock.advance(130_000);
    expect(changes).toEqual(['+ shop/web', '- shop/web']);
    expect(stores.active()).toEqual([]);
    world.resources = [served];
    scripted.onList = () => ({ items: [rollout('api')], resourceVersion: '9' });
    await clock.advance(70_000);
    expect(known()).toEqual(['shop/api']);
  });

  test('stays stale, and is not let go of, while the API server cannot be asked', async () => {
    const { clock, runFor, scripted, world, stores, changes } = setUp();
    noWatchList(scripted);
    await runFor(1_000);
    const broken = new Error('connection refused');
    world.resources = broken;
    scripted.onList = () => {
      throw broken;
    };
    scripted.onWatch = () => {
      throw broken;
    };
    scripted.watch().fail(broken);
    await clock.advance(200_000);
    expect(stores.active().map(({ informer }) => informer.freshness())).toEqual(['stale']);
    expect(changes).toEqual(['+ shop/web']);
  });
});

describe('a kind that cannot be followed', () => {
  test.each<[string, readonly DiscoveredResource[]]>([
    ['is not served', []],
    ['is served for the whole cluster only', [{ ...served, namespaced: false }]],
    ['is another kind of the same group', [{ ...served, kind: 'Experiment' }]],
  ])('because it %s: settled at once, nothing is listed', async (_, resources) => {
    const { runFor, scripted, world, settled } = setUp();
    world.resources = resources;
    await runFor(10_000);
    expect(settled()).toBe(true);
    expect(scripted.lists).toEqual([]);
  });

  test('because the API tells of no types at all', async () => {
    const { runFor, scripted, settled } = setUp({ discovers: false });
    await runFor(10_000);
    expect(settled()).toBe(true);
    expect(scripted.lists).toEqual([]);
  });

  test('because it may not be read: tried once a minute, and followed once it may', async () => {
    const { clock, runFor, scripted, settled, names: known } = setUp();
    noWatchList(scripted);
    scripted.onList = () => {
      throw kubeError(403, 'Forbidden', 'forbidden');
    };
    await runFor(10_000);
    expect(settled()).toBe(true);
    expect(scripted.lists).toHaveLength(1);
    expect(scripted.watches).toEqual([]);
    scripted.onList = () => ({ items: [rollout('web')], resourceVersion: '5' });
    await clock.advance(60_000);
    expect(known()).toEqual(['shop/web']);
  });

  test('because nobody answers: not settled before somebody does', async () => {
    const { clock, runFor, scripted, world, settled } = setUp();
    noWatchList(scripted);
    world.resources = new Error('connection refused');
    await runFor(30_000);
    expect(settled()).toBe(false);
    world.resources = [served];
    await clock.advance(3_000);
    expect(settled()).toBe(true);
  });

  test('because its first list never comes: the process does not wait for it for ever', async () => {
    const { clock, runFor, scripted, settled, stores } = setUp();
    scripted.onList = ({ limit }) => {
      if (limit === 1) return { items: [], resourceVersion: '5' };
      throw new Error('timeout');
    };
    scripted.onWatch = () => {
      throw new Error('timeout');
    };
    await runFor(59_000);
    expect(settled()).toBe(false);
    await clock.advance(2_000);
    expect(settled()).toBe(true);
    expect(stores.active()).toEqual([]);
  });
});
