import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SavedUsage } from './saved-usage.ts';
import { profileOptions } from './testing/usage.ts';
import { decodeShard, identityOf, layOut, mergeSaved, STORE_VERSION, shardText } from './usage-store.ts';

function item(name: string, container = 'app', seenAt = 0): SavedUsage {
  return {
    workload: { kind: 'Deployment', namespace: 'shop', name },
    container,
    profile: '{"v":1}',
    options: profileOptions,
    readTo: {},
    seenAt,
    kills: [],
  };
}

const many = Array.from({ length: 1000 }, (_, index) => item(`web-${index}`));
const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,12}$/), { maxLength: 60 });

const encodeShard = (items: readonly SavedUsage[], of: number): Buffer => gzipSync(shardText(items, of));

describe('layout of shards', () => {
  test.each([
    [0, 1, 1],
    [1, 1, 1],
    [200, 1, 1],
    [201, 1, 2],
    [1000, 1, 8],
    [10, 16, 16],
    [10, 9, 16],
  ])('%i containers, at least %i: %i shards', (items, atLeast, count) => {
    const layout = layOut(many.slice(0, items), atLeast);
    expect([layout.count, layout.shards.length]).toEqual([count, count]);
  });

  test('a number of shards that nobody ever wrote is not believed: it would be made', () => {
    for (const of of [2 ** 40, 4096, 1.5, -1, 0]) {
      const shard = decodeShard(encodeShard([item('web')], of));
      expect(shard).toMatchObject({ ok: true, of: of === 4096 ? 4096 : 1 });
    }
  });

  test('shards are about equally full', () => {
    for (const shard of layOut(many).shards) expect(shard.length).toBeGreaterThan(80);
  });

  test('for any items each is in exactly one shard, and always in the same one', () => {
    fc.assert(
      fc.property(names, fc.constantFrom(1, 2, 8), (list, atLeast) => {
        const items = list.map((name) => item(name));
        const { shards } = layOut(items, atLeast);
        const reversed = layOut(items.toReversed(), atLeast);
        expect(shards.flat().map(identityOf).sort()).toEqual(items.map(identityOf).sort());
        expect(reversed.shards).toEqual(shards);
      }),
      { numRuns: 150 },
    );
  });

  test('all containers of a workload are in one shard: they are written together or not at all', () => {
    const containers = Array.from({ length: 50 }, (_, index) => item('web', `c${index}`));
    expect(layOut(containers, 64).shards.filter(({ length }) => length > 0)).toHaveLength(1);
  });

  test('an item of another kind or container has another identity', () => {
    const other = { ...item('web'), workload: { kind: 'DaemonSet', namespace: 'shop', name: 'web' } };
    expect(new Set([item('web'), item('web', 'proxy'), other].map(identityOf)).size).toBe(3);
  });
});

describe('text of a shard', () => {
  test('for any items, what is read is what was written, and writing again gives the same bytes', () => {
    fc.assert(
      fc.property(names, (list) => {
        const items = list.map((name) => item(name, 'app', 5));
        const bytes = encodeShard(items, 4);
        expect(decodeShard(bytes)).toEqual({ ok: true, items, unreadable: 0, newer: 0, of: 4 });
        expect(encodeShard(items, 4).equals(bytes)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test('for any byte that is damaged, nothing false is read: the shard is refused, or reads the same', () => {
    const items = many.slice(0, 3);
    const bytes = encodeShard(items, 1);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const damaged = Buffer.from(bytes);
        damaged[place] = (damaged[place] ?? 0) ^ change;
        const answer = decodeShard(damaged);
        if (answer.ok) expect(answer.items).toEqual(items);
        else expect(answer.message).not.toBe('');
      }),
      { numRuns: 400 },
    );
  });

  test('for any bytes at all, it says so and does not throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decodeShard(bytes).ok).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['a newer version', { v: STORE_VERSION + 1, items: [] }, 'version 2'],
    ['no version', { items: [] }, 'something else'],
    ['no items', { v: STORE_VERSION }, 'something else'],
    ['items that are no list', { v: STORE_VERSION, items: 5 }, 'no list'],
    ['no object', 'usage', 'something else'],
    ['nothing', null, 'something else'],
  ])('%s is refused with its reason', (_name, value, text) => {
    const answer = decodeShard(gzipSync(JSON.stringify(value)));
    expect(answer.ok ? '' : answer.message).toContain(text);
  });

  test.each<[unknown, boolean]>([
    [STORE_VERSION + 1, true],
    [STORE_VERSION + 70, true],
    [STORE_VERSION - 1, false],
    ['later', false],
    [null, false],
  ])('a shard of version %j is a later one: %s', (v, isNewer) => {
    expect(decodeShard(gzipSync(JSON.stringify({ v, items: [] })))).toMatchObject({ ok: false, isNewer });
  });

  test('an entry that a later version wrote is left out, and told apart from a damaged one', () => {
    const later = { ...item('b'), profile: '{"v":99,"cpu":"?"}' };
    const items = [item('a'), { ...item('c'), seenAt: 'never' }, later];
    const bytes = gzipSync(JSON.stringify({ v: STORE_VERSION, of: 2, items }));
    expect(decodeShard(bytes)).toEqual({ ok: true, items: [item('a')], unreadable: 1, newer: 1, of: 2 });
  });

  test('a damaged entry is left out and counted, the others are read', () => {
    const bytes = gzipSync(
      JSON.stringify({ v: STORE_VERSION, of: 2, items: [item('a'), { nonsense: true }, item('b')] }),
    );
    expect(decodeShard(bytes)).toEqual({ ok: true, items: [item('a'), item('b')], unreadable: 1, newer: 0, of: 2 });
  });

  test.each([undefined, 0, -3, 1.5, 'many'])('a number of shards of %s counts as one', (of) => {
    const answer = decodeShard(gzipSync(JSON.stringify({ v: STORE_VERSION, of, items: [] })));
    expect(answer.ok && answer.of).toBe(1);
  });

  test('what unpacks to more than a shard can be is refused', () => {
    expect(decodeShard(gzipSync(Buffer.alloc(65 << 20, 32))).ok).toBe(false);
  });
});

describe('several items of one container', () => {
  test('the one read up to the latest stays, wherever it is', () => {
    const old = item('web', 'app', 1);
    const recent = { ...item('web', 'app', 1), readTo: { memory: 9 } };
    expect(mergeSaved([old, recent])).toEqual([recent]);
    expect(mergeSaved([recent, old, item('api')])).toEqual([recent, item('api')]);
  });
});
