import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createTestServer, type TestServer } from '../cluster/apiserver/testing/test-server.ts';
import { createLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { SavedUsage } from '../model/saved-usage.ts';
import { aSizedWorkload } from '../model/testing/sizing-records.ts';
import { aBook, aSeries, HOUR, profileOptions, usageSettings } from '../model/testing/usage.ts';
import { decodeShard, STORE_VERSION } from '../model/usage-store.ts';
import { createProfileStore, encodeAll, importObjects } from './save-profiles.ts';

const { signal } = new AbortController();
const NAMESPACE = 'stowage-system';
const IN = { namespace: NAMESPACE };

function item(name: string, profile = '{"v":1}'): SavedUsage {
  return {
    workload: { kind: 'Deployment', namespace: 'shop', name },
    container: 'app',
    profile,
    options: profileOptions,
    readTo: { cpu: 5, memory: 5 },
    seenAt: 0,
    kills: [],
  };
}

async function setUp() {
  const server = createTestServer();
  await server.api.create(resources.namespaces, { metadata: { name: NAMESPACE } });
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    format: 'text',
    clock: createVirtualClock(0),
    write: (line) => lines.push(line),
  });
  const state = { isLeader: true };
  const open = () => createProfileStore({ api: server.api, namespace: NAMESPACE, isLeader: () => state.isLeader, log });
  return { server, state, lines, open, store: open() };
}

const names = (items: readonly SavedUsage[]) => items.map(({ workload }) => workload.name).sort();
const mapsOf = async ({ api }: TestServer): Promise<readonly ConfigMap[]> =>
  (await api.list(resources.configMaps, IN)).items;
const some = Array.from({ length: 500 }, (_, index) => item(`web-${index}`));

describe('saved profiles', () => {
  test('are found again by the next process, to the last bit', async () => {
    const { store, open, server } = await setUp();
    const book = aBook();
    const readings = Array.from({ length: 200 }, (_, index): [number, number] => [index * HOUR, 100 + index]);
    const taken = {
      series: [aSeries('a', { cpu: readings, memory: readings })],
      readTo: { cpu: 200 * HOUR, memory: 200 * HOUR },
      startedAt: () => undefined,
    };
    book.take(aSizedWorkload(), usageSettings(), taken, 200 * HOUR);
    expect(await store.save([...book.save()].flat(), signal)).toEqual({ written: 1, unchanged: 0, failed: 0 });
    const again = aBook();
    expect(again.restore(await open().load(signal))).toEqual([]);
    expect([...again.save()].flat()).toEqual([...book.save()].flat());
    const [map] = await mapsOf(server);
    expect(map?.metadata?.name).toBe('stowage-usage-0');
    expect(map?.metadata?.managedFields?.[0]).toMatchObject({ manager: 'stowage', operation: 'Apply' });
  });

  test('what did not change is not written, also not by the next process', async () => {
    const { store, open, server } = await setUp();
    expect(await store.save(some, signal)).toEqual({ written: 4, unchanged: 0, failed: 0 });
    const versions = (await mapsOf(server)).map(({ metadata }) => metadata?.resourceVersion);
    expect(await store.save(some, signal)).toEqual({ written: 0, unchanged: 4, failed: 0 });
    const next = open();
    expect(names(await next.load(signal))).toEqual(names(some));
    expect(await next.save(some, signal)).toEqual({ written: 0, unchanged: 4, failed: 0 });
    expect((await mapsOf(server)).map(({ metadata }) => metadata?.resourceVersion)).toEqual(versions);
    expect(await next.save([...some.slice(1), item('web-0', 'changed')], signal)).toEqual({
      written: 1,
      unchanged: 3,
      failed: 0,
    });
  });

  test('only the leader writes', async () => {
    const { store, state, server } = await setUp();
    state.isLeader = false;
    expect(await store.save(some, signal)).toEqual({ written: 0, unchanged: 0, failed: 4 });
    expect(await mapsOf(server)).toEqual([]);
  });

  test('the number of shards grows with the containers, and never shrinks; none is lost on the way', async () => {
    const { store, open } = await setUp();
    await store.save(some.slice(0, 10), signal);
    await store.save(some, signal);
    const next = open();
    expect(names(await next.load(signal))).toEqual(names(some));
    await next.save(some.slice(0, 10), signal);
    expect(names(await open().load(signal))).toEqual(names(some.slice(0, 10)));
  });

  test.each([
    [
      'damaged',
      (map: ConfigMap) => ({ ...map, binaryData: { 'profiles.json.gz': Buffer.from('rubbish').toString('base64') } }),
    ],
    ['emptied', (map: ConfigMap) => ({ ...map, binaryData: {} })],
  ])(
    'a shard that was %s: one clear warning each time, the others are used, and it is left alone',
    async (_name, change) => {
      const { store, open, server, lines } = await setUp();
      await store.save(some, signal);
      const map = await server.api.get(resources.configMaps, 'stowage-usage-2', IN);
      const damaged = await server.api.replace(resources.configMaps, change(map), IN);
      const next = open();
      const loaded = await next.load(signal);
      expect(loaded.length).toBeGreaterThan(300);
      expect(loaded.length).toBeLessThan(500);
      const warnings = () =>
        lines.filter((line) => line.includes('stowage-system/stowage-usage-2') && line.includes('WARN'));
      await next.load(signal);
      expect(warnings()).toHaveLength(1);
      // What is known is saved; of the damaged shard nothing is, so nothing is written over it.
      expect(await next.save(loaded, signal)).toEqual({ written: 0, unchanged: 4, failed: 0 });
      const after = await server.api.get(resources.configMaps, 'stowage-usage-2', IN);
      expect(after.metadata?.resourceVersion).toBe(damaged.metadata?.resourceVersion);
      // There is usage for it again: it is good once more.
      await next.save(some, signal);
      expect(names(await open().load(signal))).toEqual(names(some));
      const good = await server.api.get(resources.configMaps, 'stowage-usage-2', IN);
      await server.api.replace(resources.configMaps, change(good), IN);
      await next.load(signal);
      expect(warnings()).toHaveLength(2);
    },
  );

  const ofLater: readonly [string, (shard: { items: SavedUsage[] }) => object][] = [
    ['the shard', (shard) => ({ ...shard, v: STORE_VERSION + 1, items: { 'not a list': 'any more' } })],
    ['a profile in it', ({ items, ...shard }) => ({ ...shard, items: [{ ...items[0], profile: '{"v":99,"x":1}' }] })],
  ];
  test.each(ofLater)('where a later version wrote %s, it is told once and never written over', async (_, change) => {
    const { store, open, server, lines } = await setUp();
    await store.save(some, signal);
    const map = await server.api.get(resources.configMaps, 'stowage-usage-2', IN);
    const shard = JSON.parse(gunzipSync(Buffer.from(map.binaryData?.['profiles.json.gz'] ?? '', 'base64')).toString());
    const later = gzipSync(JSON.stringify(change(shard))).toString('base64');
    await server.api.replace(resources.configMaps, { ...map, binaryData: { 'profiles.json.gz': later } }, IN);
    const next = open();
    const loaded = await next.load(signal);
    expect(loaded.length).toBeGreaterThan(300);
    expect(loaded.length).toBeLessThan(500);
    // There is usage for it, as of a source that was read meanwhile.
    expect(await next.save([...some, item('one-more')], signal)).toMatchObject({ failed: 0 });
    expect(await next.save(some, signal)).toMatchObject({ failed: 0 });
    const after = await server.api.get(resources.configMaps, 'stowage-usage-2', IN);
    expect(after.binaryData).toEqual({ 'profiles.json.gz': later });
    const told = lines.filter((line) => line.includes('A later version of Stowage saved usage'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('stowage-system/stowage-usage-2');
  });

  test('an import of a later version is kept for it, the others are taken and dropped', async () => {
    const { store, server } = await setUp();
    for (const { name, object } of await importObjects(some, NAMESPACE))
      await server.api.patch(
        resources.configMaps,
        name,
        { type: 'apply', body: object },
        { ...IN, fieldManager: 'cli' },
      );
    const [map] = await mapsOf(server);
    const name = map?.metadata?.name ?? '';
    const later = gzipSync(JSON.stringify({ v: STORE_VERSION + 1, items: [] })).toString('base64');
    await server.api.replace(resources.configMaps, { ...map, binaryData: { 'profiles.json.gz': later } }, IN);
    expect((await store.loadImports(signal)).length).toBeGreaterThan(300);
    await store.dropImports(signal);
    expect((await mapsOf(server)).map(({ metadata }) => metadata?.name)).toEqual([name]);
  });

  test('other ConfigMaps of the namespace are neither read nor touched', async () => {
    const { store, server } = await setUp();
    await server.api.create(resources.configMaps, {
      metadata: { name: 'stowage-usage-mine', namespace: NAMESPACE },
      data: { a: 'b' },
    });
    expect(await store.load(signal)).toEqual([]);
    await store.save(some.slice(0, 1), signal);
    expect((await mapsOf(server)).map(({ metadata }) => metadata?.name ?? '').sort()).toEqual([
      'stowage-usage-0',
      'stowage-usage-mine',
    ]);
  });

  test('a write that fails is told, and made good at the next save', async () => {
    const { store, server, lines } = await setUp();
    const patch = server.api.patch;
    let failures = 1;
    const api = {
      ...server.api,
      patch: (...args: Parameters<typeof patch>) =>
        failures-- > 0 ? Promise.reject(new Error('connection reset')) : patch(...args),
    };
    const flaky = createProfileStore({
      api: api as never,
      namespace: NAMESPACE,
      isLeader: () => true,
      log: createLogger({
        level: 'info',
        format: 'text',
        clock: createVirtualClock(0),
        write: (line) => lines.push(line),
      }),
    });
    expect(await flaky.save(some, signal)).toEqual({ written: 3, unchanged: 0, failed: 1 });
    expect(lines.some((line) => line.includes('connection reset'))).toBe(true);
    expect(await flaky.save(some, signal)).toEqual({ written: 1, unchanged: 3, failed: 0 });
    expect(names(await store.load(signal))).toEqual(names(some));
  });

  test('what was imported is found until it is dropped', async () => {
    const { store, server } = await setUp();
    for (const { name, object } of await importObjects(some, NAMESPACE)) {
      await server.api.patch(
        resources.configMaps,
        name,
        { type: 'apply', body: object },
        { ...IN, fieldManager: 'cli' },
      );
    }
    expect(await store.load(signal)).toEqual([]);
    expect(names(await store.loadImports(signal))).toEqual(names(some));
    await store.dropImports(signal);
    expect([await store.loadImports(signal), await mapsOf(server)]).toEqual([[], []]);
  });
});

describe('size of shards', () => {
  test('for any sizes of profiles, no shard is larger than allowed, unless one workload alone is', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(sizes, async (list) => {
        const items = list.map((size, index) => item(`w${index}`, noise(size, index)));
        const { layout, encoded } = await encodeAll(items, 1, 4000);
        expect(layout.shards.flat()).toHaveLength(items.length);
        for (const [index, bytes] of encoded.entries()) {
          expect(bytes.length <= 4000 || layout.shards[index]?.length === 1).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('a large shard is compressed in slices, others have their turn in between, and it is read back whole', async () => {
    const items = Array.from({ length: 40 }, (_, index) => item(`w${index}`, noise(10_000, index)));
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { layout, encoded } = await encodeAll(items, 1);
    isDone = true;
    const [shard] = encoded;
    expect(turns).toBeGreaterThanOrEqual(6);
    const answer = decodeShard(shard ?? Buffer.alloc(0));
    expect(answer.ok && answer.items).toEqual(layout.shards[0]);
    // A slice that was damaged on the way is no shard.
    const damaged = Buffer.from(shard ?? '');
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 6) ^ 1, damaged.length - 6);
    expect(decodeShard(damaged).ok).toBe(false);
  });

  /** Text that does not compress. */
  function noise(length: number, seed: number): string {
    let state = seed + 1;
    return Array.from({ length }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return (state % 36).toString(36);
    }).join('');
  }
});
