import { expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import type { MissingReplacement } from '../context.ts';
import { inspectAll } from '../guard.ts';
import { evict, restamp, scene } from '../testing/scene.ts';
import { decision } from '../testing/size-eviction.ts';

const missing = (namespace: string, since: number): MissingReplacement => ({
  workload: { kind: 'StatefulSet', namespace, name: 'db' },
  pod: 'db-0',
  since,
});
const blocks = (...all: readonly MissingReplacement[]) => inspectAll(evict(), scene({ missing: all }));

test('nothing more goes in a namespace where what was evicted is not made anew', () => {
  expect(blocks()).toEqual([]);
  expect(blocks(missing('shop', NOON - 10_000))).toEqual([
    expect.objectContaining({
      rule: 'replacements-made',
      message:
        'No pod is disrupted, as none has been made in the place of db-0 of StatefulSet shop/db, which was evicted',
      retryAfterMillis: 60_000,
    }),
  ]);
});

test('for the first ten seconds that is nothing to speak of', () => {
  expect(blocks(missing('shop', NOON - 9_999))).toMatchObject([{ retryAfterMillis: 5_000, isBrief: true }]);
  expect(blocks(missing('shop', NOON - 10_000))).toEqual([expect.not.objectContaining({ isBrief: true })]);
});

test('in another namespace only where it lasts in two, and for ten minutes only', () => {
  expect(blocks(missing('bank', NOON - 60_000))).toEqual([]);
  expect(blocks(missing('bank', NOON - 60_000), missing('bank', NOON - 60_000))).toEqual([]);
  expect(blocks(missing('bank', NOON - 60_000), missing('zoo', NOON - 9_999))).toEqual([]);
  expect(blocks(missing('bank', NOON - 60_000), missing('zoo', NOON - 10_000))).toMatchObject([
    { reason: 'ReplacementMissing', message: expect.stringContaining('StatefulSet bank/db') },
  ]);
  expect(blocks(missing('bank', NOON - 599_999), missing('zoo', NOON - 10_000))).toHaveLength(1);
  expect(blocks(missing('bank', NOON - 600_000), missing('zoo', NOON - 10_000))).toEqual([]);
  expect(blocks(missing('shop', NOON - 3_000_000))).toHaveLength(1);
});

test('evictions for a size wait as well; stamps do not', () => {
  const context = scene({ missing: [missing('shop', NOON - 60_000)] });
  expect(inspectAll(decision(), context).map(({ reason }) => reason)).toEqual(['ReplacementMissing']);
  expect(inspectAll(restamp(), context)).toEqual([]);
});
