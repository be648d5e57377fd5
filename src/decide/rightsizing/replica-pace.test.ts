import { describe, expect, test } from 'vitest';
import { type PaceRules, paceOf, type ReplicaInPace } from './replica-pace.ts';

const rules: PaceRules = { canaryMillis: 100, pauseMillis: 1000 };
const NOW = 1_000_000;
const replica = (name: string, changes: Partial<ReplicaInPace> = {}): ReplicaInPace => ({
  replica: name,
  watchedSince: undefined,
  harmedAt: undefined,
  ...changes,
});
const pace = (...replicas: readonly ReplicaInPace[]) => paceOf(replicas, rules, NOW);

describe('replicas are lowered', () => {
  test('one first', () => {
    expect(pace()).toEqual({ kind: 'begin', atMost: 1 });
    expect(pace(replica('0'), replica('1'))).toEqual({ kind: 'begin', atMost: 1 });
  });

  test('no other while it is being tried', () => {
    expect(pace(replica('0'), replica('1', { watchedSince: NOW - 99 }))).toEqual({
      kind: 'wait',
      for: 'watched',
      replica: '1',
      millis: 1,
    });
  });

  test('all others once it has done well for the whole time', () => {
    expect(pace(replica('1', { watchedSince: NOW - 100 }))).toEqual({
      kind: 'begin',
      atMost: Number.POSITIVE_INFINITY,
    });
  });

  test('one again when nobody is watched any more', () => {
    expect(pace(replica('1'), replica('2'))).toMatchObject({ atMost: 1 });
  });

  test('whatever somebody writes of harm in the future', () => {
    expect(pace(replica('0', { harmedAt: NOW + 60_001 })).kind).toBe('begin');
    expect(pace(replica('0', { harmedAt: NOW + 60_000 })).kind).toBe('wait');
  });

  test.each([
    [1, 999, 'wait'],
    [1, 1000, 'begin'],
    [2, 1999, 'wait'],
    [2, 2000, 'begin'],
    [9, 31_999, 'wait'],
    [9, 32_000, 'begin'],
  ])('harm to %i of them holds all back for a while: after %i ms %s', (harmed, since, kind) => {
    const all = Array.from({ length: harmed }, (_, index) => replica(`${index}`, { harmedAt: NOW - since }));
    expect(pace(...all, replica('x', { watchedSince: NOW - 500 })).kind).toBe(kind);
  });
});
