import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reasonTable } from './reason-table.ts';
import { describeReason, isReasonName, type ReasonNameOf, reason, renderReason } from './reasons.ts';

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

  test('reason gives the name with the sentence', () => {
    expect(reason('OutsideWindow', { opensAt: '02:00' })).toEqual({
      name: 'OutsideWindow',
      message: 'Outside the disruption window; it opens at 02:00',
    });
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
    // Advice is shown without values.
    expect(advice).toMatch(/^[A-Z][^{}]*\.$/);
    expect(message.replace(/\{\w+\}/g, '')).not.toMatch(/[{}]/);
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
