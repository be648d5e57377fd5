import { describe, expect, test } from 'vitest';
import {
  controllerOf,
  isSameStatus,
  isSameValue,
  keyOf,
  matchesSelector,
  timeOf,
  timestampOf,
  withCondition,
} from './objects.ts';

describe('keys', () => {
  test.each<[{ metadata: { namespace?: string; name: string } }, string]>([
    [{ metadata: { namespace: 'a', name: 'b' } }, 'a/b'],
    [{ metadata: { name: 'b' } }, 'b'],
    [{ metadata: { namespace: '', name: 'b' } }, 'b'],
  ])('%o is %s', (object, key) => {
    expect(keyOf(object)).toBe(key);
  });
});

test('the controller is the owner marked as such', () => {
  const owner = (name: string, controller: boolean) => ({ apiVersion: 'v1', kind: 'X', name, uid: name, controller });
  expect(controllerOf({ metadata: { ownerReferences: [owner('a', false), owner('b', true)] } })?.name).toBe('b');
  expect(controllerOf({ metadata: {} })).toBeUndefined();
});

describe('timestamps', () => {
  test('are whole seconds in UTC and read back', () => {
    expect(timestampOf(1_780_272_000_999)).toBe('2026-06-01T00:00:00Z');
    expect(timeOf('2026-06-01T00:00:00Z')).toBe(1_780_272_000_000);
  });
  test.each([undefined, '', 'yesterday'])('%s is no time', (text) => {
    expect(timeOf(text)).toBeUndefined();
  });
});

test('an absent selector matches nothing, an empty one everything', () => {
  expect(matchesSelector(undefined, { a: '1' })).toBe(false);
  expect(matchesSelector({}, undefined)).toBe(true);
  expect(matchesSelector({ matchLabels: { a: '1' } }, { a: '1', b: '2' })).toBe(true);
  expect(matchesSelector({ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, { a: '1' })).toBe(false);
});

test('values are compared without regard to order of keys and absent members', () => {
  expect(isSameValue({ a: 1, b: { c: undefined } }, { b: {}, a: 1 })).toBe(true);
  expect(isSameValue([1, 2], [2, 1])).toBe(false);
  expect(isSameValue({ a: null }, {})).toBe(false);
  expect([isSameValue({}, { constructor: 'x' }), isSameValue({ constructor: 'x' }, {})]).toEqual([false, false]);
});

describe('withCondition', () => {
  const condition = (status: string, lastTransitionTime: string, message = '') => ({
    type: 'Ready',
    status,
    message,
    lastTransitionTime,
  });
  test('adds a condition of a new type', () => {
    expect(withCondition([{ ...condition('True', 't1'), type: 'Other' }], condition('True', 't1'))).toHaveLength(2);
  });
  test('keeps the transition time while the status stays', () => {
    expect(withCondition([condition('True', 't1')], condition('True', 't2', 'new'))).toEqual([
      condition('True', 't1', 'new'),
    ]);
  });
  test('moves the transition time when the status changes', () => {
    expect(withCondition([condition('True', 't1')], condition('False', 't2'))).toEqual([condition('False', 't2')]);
  });
});

describe('isSameStatus', () => {
  test.each<[unknown, unknown, boolean]>([
    [{ observedGeneration: 1, replicas: 0 }, { observedGeneration: 1 }, true],
    [{ conditions: [{ type: 'A', observedGeneration: 0 }] }, { conditions: [{ type: 'A' }] }, true],
    [{ replicas: 0 }, { replicas: 1 }, false],
    [undefined, { replicas: 1 }, false],
    [{ conditions: [] }, { conditions: [{ type: 'A' }] }, false],
  ])('%j and %j: %s, as a server keeps no zero that may be left out', (left, right, isSame) => {
    expect(isSameStatus(left, right)).toBe(isSame);
  });
});
