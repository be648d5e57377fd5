import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEventHistory, type StoreEvent } from './event-history.ts';

const event = (revision: number): StoreEvent => ({
  type: 'MODIFIED',
  revision,
  atMillis: 0,
  key: 'shop/web',
  object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } },
  previous: undefined,
});
const revisionsAfter = (history: ReturnType<typeof createEventHistory>, revision: number): number[] | undefined =>
  history.after(revision)?.map((each) => each.revision);

test('before anything was written, the revision it begins at has no events after it, and older ones are gone', () => {
  const history = createEventHistory(10, 100);
  expect(history.compactedRevision()).toBe(100);
  expect(history.after(100)).toEqual([]);
  expect(history.after(99)).toBeUndefined();
});

test('to compact once more what is gone changes nothing', () => {
  const history = createEventHistory(3, 0);
  for (const revision of [1, 2, 3]) history.push(event(revision));
  history.compact(3);
  history.compact(0);
  history.push(event(4));
  expect(history.compactedRevision()).toBe(3);
  expect(revisionsAfter(history, 3)).toEqual([4]);
  expect(history.after(2)).toBeUndefined();
});

test('for any writes and compactions: all after a revision, or none where one of them is gone', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), by: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact' as const), by: fc.integer({ min: -3, max: 8 }) }) },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 40 }), (limit, steps) => {
      const start = 10;
      const history = createEventHistory(limit, start);
      let [newest, gone] = [start, start];
      let kept: number[] = [];
      for (const { kind, by } of steps) {
        if (kind === 'write') {
          newest += by;
          history.push(event(newest));
          kept.push(newest);
          while (kept.length > limit) gone = kept.shift() ?? gone;
        } else {
          // Also one that was done before.
          const revision = Math.min(newest, gone + by);
          history.compact(revision);
          gone = Math.max(gone, revision);
          kept = kept.filter((each) => each > gone);
        }
        expect(history.compactedRevision()).toBe(gone);
        for (let revision = start - 1; revision <= newest + 1; revision++)
          expect(revisionsAfter(history, revision), `after ${revision}`).toEqual(
            revision < gone ? undefined : kept.filter((each) => each > revision),
          );
      }
    }),
  );
});

test('thousands of writes later it holds the newest ones, and no more', () => {
  const history = createEventHistory(5, 0);
  const revisions: number[] = [];
  for (let revision = 1; revision <= 10_000; revision++) {
    revisions.push(revision);
    history.push(event(revision));
    expect(revisionsAfter(history, history.compactedRevision())).toEqual(revisions.slice(-5));
    expect(revisionsAfter(history, revision - 1)).toEqual([revision]);
    if (revisions.length > 5) revisions.shift();
  }
  history.compact(9_998);
  expect(revisionsAfter(history, 9_998)).toEqual([9_999, 10_000]);
  expect(history.after(9_997)).toBeUndefined();
});
