import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sizeKeys } from './pod-size.ts';
import { type KeptChange, type KeptWatch, nothingKept, readWatch, writeWatch } from './watched-changes.ts';

const change = (changes: Partial<KeptChange> = {}): KeptChange => ({
  method: 'InPlace',
  phase: 'canary',
  startedAt: 1_000,
  canary: { uid: 'u1', name: 'web-1', at: 1_500 },
  sizes: [{ container: 'app', amounts: { cpuRequest: [500, 240], memoryLimit: [null, 2 ** 30] } }],
  ...changes,
});
const watch = (changes: readonly KeptChange[]): KeptWatch => ({ changes, takenBack: [] });

describe('watched changes', () => {
  test('nothing to watch is no annotation', () => {
    expect(writeWatch(nothingKept)).toBeUndefined();
    expect(readWatch(undefined)).toEqual(nothingKept);
  });

  test('what did harm is kept though nothing is watched any more', () => {
    const kept: KeptWatch = { changes: [], takenBack: [{ container: 'app', resource: 'memory' }] };
    expect(readWatch(writeWatch(kept))).toEqual(kept);
  });

  const amount = fc.nat(2 ** 40);
  const amounts = fc.dictionary(
    fc.constantFrom(...sizeKeys),
    fc.tuple(fc.option(amount), amount).map(([from, to]) => [from, to] as const),
    { minKeys: 1, noNullPrototype: true },
  );
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
  const anyChange: fc.Arbitrary<KeptChange> = fc.record({
    method: fc.constantFrom('InPlace', 'Recreate', 'Evict'),
    phase: fc.constantFrom('canary', 'spread'),
    startedAt: amount,
    canary: fc.option(fc.record({ uid: name, name, at: amount }), { nil: undefined }),
    sizes: fc.uniqueArray(fc.record({ container: name, amounts }), {
      selector: ({ container }) => container,
      minLength: 1,
      maxLength: 4,
    }),
    pods: fc.option(
      fc.record({
        restarts: fc.dictionary(name, fc.nat(1000)).map((counts) => new Map(Object.entries(counts))),
        unready: fc.array(name, { maxLength: 3 }).map((uids) => new Set(uids)),
      }),
      { nil: undefined },
    ),
  });

  test('for any changes, what is read is what was written', () => {
    const part = fc.record({ container: name, resource: fc.constantFrom('cpu' as const, 'memory' as const) });
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 5 }), fc.array(part, { maxLength: 4 }), (changes, takenBack) => {
        expect(readWatch(writeWatch({ changes, takenBack }))).toEqual({ changes, takenBack });
      }),
    );
  });

  test('for any number of changes the text is bounded, and the newest are kept', () => {
    fc.assert(
      fc.property(anyChange, fc.integer({ min: 1, max: 300 }), (one, count) => {
        const changes = Array.from({ length: count }, (_, index) => ({ ...one, pods: one.pods, startedAt: index }));
        const text = writeWatch(watch(changes)) ?? '';
        expect(text.length).toBeLessThanOrEqual(16_384);
        const kept = readWatch(text).changes;
        const told = kept.map((each) => ({ ...each, pods: one.pods }));
        expect(told).toEqual(changes.slice(changes.length - kept.length));
      }),
      { numRuns: 100 },
    );
  });

  test('where there is no room for all, how pods were is left out before a change is', () => {
    const uid = (index: number): string => `0a1b2c3d-0000-4000-8000-${String(index).padStart(12, '0')}`;
    const pods = {
      restarts: new Map(Array.from({ length: 50 }, (_, index) => [`${uid(index)}/a-container-of-some-name`, 3])),
      unready: new Set<string>(),
    };
    const changes = Array.from({ length: 10 }, (_, index) => change({ startedAt: index, pods }));
    const text = writeWatch(watch(changes)) ?? '';
    const kept = readWatch(text).changes;
    expect(text.length).toBeLessThanOrEqual(16_384);
    expect(kept.map(({ startedAt }) => startedAt)).toEqual(changes.map(({ startedAt }) => startedAt));
    expect(kept.at(-1)?.pods).toEqual(pods);
  });
});

describe('what cannot be read', () => {
  test.each([
    ['no JSON', '{'],
    ['another value', '[1]'],
    ['another shape', '{"changes":{"a":1},"takenBack":7}'],
  ])('%s counts as not there', (_, text) => {
    expect(readWatch(text)).toEqual(nothingKept);
  });

  test('an entry that is wrong is left out, and the others are read', () => {
    const good = JSON.parse(writeWatch(watch([change()])) ?? '{}').changes[0];
    const wrong = [
      7,
      { ...good, method: 'Other' },
      { ...good, phase: 'done' },
      { ...good, at: 'noon' },
      { ...good, at: -1 },
      { ...good, at: 8_640_000_000_000_001 },
      { ...good, sizes: [] },
      { ...good, sizes: { app: { cpuRequest: [500] } } },
      { ...good, sizes: { app: { cpuRequest: [1.5, 2] } } },
      { ...good, sizes: { app: null } },
    ];
    const parts = [['app', 'memory'], ['app', 'disk'], ['app'], 'app'];
    expect(readWatch(JSON.stringify({ changes: [...wrong, good], takenBack: parts }))).toEqual({
      changes: [change()],
      takenBack: [{ container: 'app', resource: 'memory' }],
    });
  });

  test.each([
    ['no counts', { restarts: 7, unready: [] }],
    ['a count below zero', { restarts: { 'u1/app': 2, 'u2/app': -1 }, unready: [] }],
    ['a text', { restarts: { 'u1/app': '2' }, unready: [] }],
    ['no list', { restarts: {}, unready: 'u1' }],
    ['no uid', { restarts: {}, unready: ['u1', 7] }],
    ['nothing', null],
  ])('pods that are told wrong are not known: %s', (_, pods) => {
    const given = JSON.parse(writeWatch(watch([change()])) ?? '{}');
    given.changes[0].pods = pods;
    expect(readWatch(JSON.stringify(given)).changes).toEqual([change()]);
  });

  test('a first pod that is told wrong is none', () => {
    const given = JSON.parse(writeWatch(watch([change()])) ?? '{}');
    given.changes[0].first = ['u1', 7, 1_500];
    expect(readWatch(JSON.stringify(given)).changes).toEqual([change({ canary: undefined })]);
  });
});
