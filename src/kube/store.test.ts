import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { parseResourceVersion } from './resource-version.ts';
import { createStore, keyOf } from './store.ts';

const pod = (name: string, rv: number | string, value = '', uid = 'u'): KubeObject => ({
  metadata: { namespace: 'ns', name, uid, resourceVersion: String(rv), labels: { value } },
});
const project = ({ metadata }: KubeObject): string | undefined =>
  metadata?.labels?.['value'] === 'skip' ? undefined : `${metadata?.name}:${metadata?.labels?.['value']}`;

describe('keyOf', () => {
  test.each([
    [{ metadata: { name: 'n', namespace: 'ns' } }, 'ns/n'],
    [{ metadata: { name: 'n' } }, 'n'],
    [{ metadata: { name: 'n', namespace: '' } }, 'n'],
    [{}, ''],
  ])('of %j is %j', (object, key) => {
    expect(keyOf(object)).toBe(key);
  });
});

describe('single changes', () => {
  test('added, changed, removed: each is told with the record before and after', () => {
    const { store, upsert, remove } = createStore(project);
    expect(upsert(pod('a', 1, 'x'))).toEqual({ key: 'ns/a', before: undefined, after: 'a:x' });
    expect(upsert(pod('a', 2, 'y'))).toEqual({ key: 'ns/a', before: 'a:x', after: 'a:y' });
    expect([store.get('ns/a'), store.has('ns/a'), store.size]).toEqual(['a:y', true, 1]);
    expect(remove(pod('a', 3))).toEqual({ key: 'ns/a', before: 'a:y', after: undefined });
    expect([store.get('ns/a'), store.has('ns/a'), store.size]).toEqual([undefined, false, 0]);
  });

  test('the same version again and an older one change nothing, not even by projecting', () => {
    const projector = vi.fn(project);
    const { upsert, remove, store } = createStore(projector);
    upsert(pod('a', 5, 'new'));
    expect(upsert(pod('a', 5, 'new'))).toBeUndefined();
    expect(upsert(pod('a', 4, 'old'))).toBeUndefined();
    expect(remove(pod('a', 4))).toBeUndefined();
    expect(store.get('ns/a')).toBe('a:new');
    expect(projector).toHaveBeenCalledTimes(1);
  });

  test('versions are compared as numbers: 10 is newer than 9', () => {
    const { upsert } = createStore(project);
    upsert(pod('a', 9, 'x'));
    expect(upsert(pod('a', 10, 'y'))).toBeDefined();
  });

  test('versions without an order are always applied', () => {
    const { upsert } = createStore(project);
    upsert(pod('a', 'f3', 'x'));
    expect(upsert(pod('a', 'e1', 'y'))).toMatchObject({ after: 'a:y' });
  });

  test('an object that is no longer kept is told as removed; one never kept is not told at all', () => {
    const { upsert, store } = createStore(project);
    upsert(pod('a', 1, 'x'));
    expect(upsert(pod('a', 2, 'skip'))).toEqual({ key: 'ns/a', before: 'a:x', after: undefined });
    expect(upsert(pod('b', 3, 'skip'))).toBeUndefined();
    expect(store.size).toBe(0);
  });

  test('equal records are not told, unless the object was replaced by another of the same name', () => {
    const { upsert } = createStore(project, (before, after) => before === after);
    upsert(pod('a', 1, 'x', 'first'));
    expect(upsert(pod('a', 2, 'x', 'first'))).toBeUndefined();
    expect(upsert(pod('a', 3, 'x', 'second'))).toEqual({ key: 'ns/a', before: 'a:x', after: 'a:x' });
  });
});

describe('records that know their origin', () => {
  interface Named {
    readonly uid: string | undefined;
    readonly version: number | undefined;
    readonly value: string;
  }
  const projectNamed = ({ metadata }: KubeObject): Named | undefined => {
    const { uid, resourceVersion, labels } = metadata ?? {};
    const value = labels?.['value'] ?? '';
    return value === 'skip' ? undefined : { uid, version: parseResourceVersion(resourceVersion), value };
  };
  const isSameValue = (before: Named, after: Named): boolean => before.value === after.value;
  const lean = () => createStore(projectNamed, isSameValue, ({ uid, version }) => ({ uid, version }));

  test('are handed out as they were projected', () => {
    const record: Named = { uid: 'u', version: 1, value: 'x' };
    const { upsert, store } = createStore(
      () => record,
      undefined,
      (kept) => kept,
    );
    expect(upsert(pod('a', 1))?.after).toBe(record);
    expect(store.get('ns/a')).toBe(record);
    expect([...store.values()]).toEqual([record]);
  });

  test('for any sequence of events and listings, the same is told and kept as of records with a wrapper', () => {
    const object = fc
      .record({
        name: fc.constantFrom('a', 'b', 'c'),
        rv: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant('unordered')),
        value: fc.constantFrom('x', 'y', 'skip'),
        uid: fc.constantFrom('first', 'second'),
      })
      .map(({ name, rv, value, uid }) => pod(name, rv, value, uid));
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('upsert' as const, 'remove' as const), object }),
      fc.record({ kind: fc.constant('list' as const), objects: fc.array(object, { maxLength: 3 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const [one, other] = [lean(), createStore(projectNamed, isSameValue)];
        const apply = (local: typeof one, done: (typeof steps)[number]): unknown => {
          if (done.kind !== 'list') return local[done.kind](done.object);
          const replacement = local.beginReplacement();
          for (const each of done.objects) replacement.add(each);
          return replacement.commit();
        };
        for (const done of steps) {
          expect(apply(one, done)).toEqual(apply(other, done));
          expect([...one.store.keys()]).toEqual([...other.store.keys()]);
          expect([...one.store.values()]).toEqual([...other.store.values()]);
        }
      }),
    );
  });
});

describe('replacement', () => {
  test('readers see the old state until commit', () => {
    const { upsert, beginReplacement, store } = createStore(project);
    upsert(pod('a', 1, 'x'));
    const replacement = beginReplacement();
    replacement.add(pod('b', 2, 'y'));
    expect([...store.keys()]).toEqual(['ns/a']);
    replacement.commit();
    expect([...store.keys()]).toEqual(['ns/b']);
  });

  test('unchanged objects keep the very record they had', () => {
    const local = createStore(({ metadata }: KubeObject) => ({ name: metadata?.name }));
    local.upsert(pod('a', 1));
    const before = local.store.get('ns/a');
    const replacement = local.beginReplacement();
    replacement.add(pod('a', 1));
    expect(replacement.commit()).toEqual([]);
    expect(local.store.get('ns/a')).toBe(before);
  });

  test('a listing may take versions back: after a restore the older state is the true one', () => {
    const { upsert, beginReplacement, store } = createStore(project);
    upsert(pod('a', 500, 'new'));
    const replacement = beginReplacement();
    replacement.add(pod('a', 3, 'restored'));
    expect(replacement.commit()).toEqual([{ key: 'ns/a', before: 'a:new', after: 'a:restored' }]);
    expect(store.get('ns/a')).toBe('a:restored');
  });

  test('for any two states, the differences turn the one into the other, which is what was listed', () => {
    /** An object of one version has one content. */
    const at = (name: string, rv: number): KubeObject => pod(name, rv, rv % 3 === 0 ? 'skip' : `v${rv}`);
    const state = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 9 }));
    fc.assert(
      fc.property(state, state, (first, second) => {
        const local = createStore(project);
        for (const [name, rv] of Object.entries(first)) local.upsert(at(name, rv));
        const content = () => new Map([...local.store.keys()].map((key) => [key, local.store.get(key)]));
        const mirror = content();
        const replacement = local.beginReplacement();
        for (const [name, rv] of Object.entries(second)) replacement.add(at(name, rv));
        for (const { key, before, after } of replacement.commit()) {
          expect(mirror.get(key)).toBe(before);
          if (after === undefined) mirror.delete(key);
          else mirror.set(key, after);
        }
        const listed = new Map(
          Object.entries(second).flatMap(([name, rv]) =>
            rv % 3 === 0 ? [] : [[`ns/${name}`, `${name}:v${rv}`] as const],
          ),
        );
        expect(mirror).toEqual(listed);
        expect(content()).toEqual(listed);
        expect(new Set(local.store.values())).toEqual(new Set(listed.values()));
        expect(local.store.size).toBe(listed.size);
      }),
    );
  });
});
