import { describe, expect, test } from 'vitest';
import { freshState, sizesOf } from '../../model/replica-sizes.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import { noAdvice } from './advice.ts';
import { type ReplicaTold, replicasText, replicaText } from './replica-text.ts';

const told = (replica: string, cpu: number, memory: number, changes: Partial<ReplicaTold> = {}): ReplicaTold => {
  const inForce = [aContainer({ size: { cpuRequest: cpu, memoryRequest: memory * MIB } })];
  const advice = [
    {
      container: 'app',
      current: inForce[0]?.size ?? {},
      cpu: { ...noAdvice('NoData', ''), target: 2 * cpu },
      memory: { ...noAdvice('NoData', ''), target: memory * MIB },
    },
  ];
  return { replica, pod: `db-${replica}`, state: freshState(inForce), isKnown: true, inForce, advice, ...changes };
};

describe('sizes per replica in words', () => {
  test('of those that have one', () => {
    const replicas = [told('0', 120, 100), told('1', 500, 100), told('2', 900, 512, { state: undefined })];
    expect(replicasText(replicas, false)).toBe(
      '2 of 3 replicas have sizes of their own: app cpu 120m to 500m, memory 100Mi',
    );
  });

  test('where nothing is applied, what is advised for those that are known', () => {
    const replicas = [
      told('0', 120, 100, { state: undefined }),
      told('1', 500, 100, { state: undefined, isKnown: false }),
    ];
    expect(replicasText(replicas, true)).toBe(
      '1 of 2 replicas can be told apart by their usage: app cpu 240m, memory 100Mi',
    );
    expect(replicasText(replicas, true, 5)).toMatch(/^1 of 5 replicas/);
    expect(replicasText([], true)).toBe('0 of 0 replicas can be told apart by their usage');
  });

  test('of very many containers only what fits', () => {
    const inForce = Array.from({ length: 60 }, (_, index) => aContainer({ name: `container-${index}` }));
    expect(replicasText([told('0', 1, 1, { inForce })], false)).toHaveLength(400);
  });

  test('of one replica: what it has, what it should, and why it has none of its own', () => {
    expect(replicaText(told('0', 120, 100))).toBe('app cpu 120m (advised 240m), memory 100Mi');
    expect(replicaText(told('0', 120, 100, { state: undefined }))).toMatch(/; the size of all$/);
    expect(replicaText(told('0', 120, 100, { state: undefined, isKnown: false }))).toMatch(
      /its own history is too short$/,
    );
  });

  test('of one that was changed: since when, what it had before, and what did it harm', () => {
    const inForce = [aContainer({ size: { cpuRequest: 120, memoryRequest: 100 * MIB } })];
    const before = sizesOf([aContainer({ size: { cpuRequest: 500, memoryRequest: 100 * MIB } })]);
    const floors = [{ container: 'app', resource: 'memory' as const, atLeast: 90 * MIB, until: NOON + 86_400_000 }];
    const state = { ...freshState(inForce), changedAt: NOON, before, lessons: { floors, reverts: 1 } };
    expect(replicaText(told('0', 120, 100, { state, inForce, advice: [] }))).toBe(
      'app cpu 120m, memory 100Mi; since 2026-03-02T12:00:00Z; watched: it had app cpu 500m, memory 100Mi; app memory not below 90Mi until 2026-03-03T12:00:00Z: less did harm',
    );
  });
});
