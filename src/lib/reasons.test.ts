import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reasonTable } from './reason-table.ts';
import {
  describeReason,
  isReasonName,
  type ReasonNameOf,
  reason,
  renderAdvice,
  renderReason,
  withPlurals,
} from './reasons.ts';

/** Keys, also of those that choose a word by a count. */
const placeholdersOf = (text: string): string[] => [...text.matchAll(/\{(\w+)/g)].map(([, key = '']) => key);
const names = Object.keys(reasonTable).filter(isReasonName);

describe('renderReason', () => {
  test('fills every placeholder', () => {
    expect(renderReason('BlockedByPdb', { pdb: 'web' })).toBe('PodDisruptionBudget web allows no disruption now');
    expect(renderReason('PodNotReady', { ready: 2, desired: 3 })).toMatch(/^2 of 3 pods are ready/);
    expect(renderReason('Paused', {})).toBe('The rollout is paused');
  });

  test('a value that looks like a placeholder or a pattern is taken as it is', () => {
    expect(renderReason('BlockedByPdb', { pdb: '{pdb} $& $1' })).toContain('PodDisruptionBudget {pdb} $& $1 allows');
  });

  test('a value of any length makes a sentence that can be kept by the thousand', () => {
    const message = renderReason('BlockedByPdb', { pdb: 'x'.repeat(250_000) });
    expect(message).toMatch(/^PodDisruptionBudget x{1000}\.\.\. \(250000 characters\) allows no disruption now$/);
  });

  test('reason gives the name with the sentence', () => {
    expect(reason('OutsideWindow', { opensAt: '02:00' })).toEqual({
      name: 'OutsideWindow',
      message: 'Outside the disruption window; it opens at 02:00',
      advice: 'Wait, or change spotalis.io/disruption-schedule and spotalis.io/disruption-duration.',
    });
  });

  test.each([
    [{ count: 1 }, 'Corrected the slot of 1 pod; no pod was moved'],
    [{ count: '1' }, 'Corrected the slot of 1 pod; no pod was moved'],
    [{ count: 0 }, 'Corrected the slot of 0 pods; no pod was moved'],
    [{ count: 11 }, 'Corrected the slot of 11 pods; no pod was moved'],
  ])('%j has the word that goes with it', (values, expected) => {
    expect(renderReason('Restamped', values)).toBe(expected);
  });

  test('a sentence may count two things', () => {
    expect(renderReason('PodNotReady', { ready: 0, desired: 1 })).toMatch(/^0 of 1 pod are ready;/);
    expect(renderReason('PodNotReady', { ready: 1, desired: 2 })).toMatch(/^1 of 2 pods is ready;/);
  });

  test('a value that looks like a choice of words is taken as it is', () => {
    expect(renderReason('BlockedByPdb', { pdb: '{count|a|b}' })).toContain('{count|a|b} allows');
  });

  test('the documentation shows the plural and the names of values', () => {
    expect(withPlurals('{count} {count|pod was|pods were} {done}')).toBe('{count} pods were {done}');
  });

  test('advice has the values of its sentence', () => {
    expect(renderAdvice('SideInBackoff', { side: 'spot', remaining: '3m' })).toBe(
      'Add spot capacity, or wait; where pods miss the webhook (MissedAdmission), mend that.',
    );
    expect(renderAdvice('Paused', {})).toBe('Resume the rollout.');
  });

  test('an unknown reason, a missing value and a reason of another kind do not compile', () => {
    // @ts-expect-error there is no such reason
    expect(() => renderReason('NoSuchReason', {})).toThrow();
    // @ts-expect-error the value of pdb is missing
    renderReason('BlockedByPdb', {});
    // @ts-expect-error an event is no verdict of a guard
    const verdict: ReasonNameOf<'block'> = 'EvictedForRebalance';
    expect(isReasonName(verdict)).toBe(true);
  });
});

describe('the table', () => {
  test.each(names)('%s can be an event reason and is a sentence with advice', (name) => {
    const { kinds, message, advice } = describeReason(name);
    // The API server takes event reasons of at most 128 characters; the convention is UpperCamelCase.
    expect(name).toMatch(/^[A-Z][A-Za-z]{1,127}$/);
    expect(kinds.length).toBeGreaterThan(0);
    expect(message).toMatch(/^[A-Z{]/);
    expect(message).not.toMatch(/\.$/);
    expect(advice).toMatch(/^[A-Z].*\.$/);
    const known = placeholdersOf(message);
    expect(known).toEqual(expect.arrayContaining(placeholdersOf(advice)));
    expect(withPlurals(message).replace(/\{\w+\}/g, '')).not.toMatch(/[{}|]/);
    // An event may be told without the values; only a block's advice is always filled in where the block is made.
    if (kinds.some((kind) => kind === 'event')) expect(advice).not.toMatch(/[{}]/);
  });

  test('isReasonName knows the table and nothing else', () => {
    expect(isReasonName('Paused')).toBe(true);
    expect(isReasonName('paused')).toBe(false);
    expect(isReasonName('toString')).toBe(false);
  });
});

test('for any values the sentence holds each of them and no placeholder is left', () => {
  const value = fc.oneof(fc.stringMatching(/^[a-z0-9-]{1,12}$/), fc.integer());
  fc.assert(
    fc.property(value, value, value, value, (where, key, given, accepted) => {
      const sentence = renderReason('InvalidConfiguration', { where, key, value: given, accepted });
      for (const part of [where, key, given, accepted]) expect(sentence).toContain(String(part));
      expect(sentence).not.toMatch(/\{\w+\}|undefined/);
    }),
  );
});
