import { describe, expect, test } from 'vitest';
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
  return { replica, isOwn: true, isKnown: true, inForce, advice, ...changes };
};

describe('sizes per replica in words', () => {
  test('of those that have one', () => {
    const replicas = [told('0', 120, 100), told('1', 500, 100), told('2', 900, 512, { isOwn: false })];
    expect(replicasText(replicas, false)).toBe(
      '2 of 3 replicas have sizes of their own: app cpu 120m to 500m, memory 100Mi',
    );
  });

  test('where nothing is applied, what is advised for those that are known', () => {
    const replicas = [told('0', 120, 100, { isOwn: false }), told('1', 500, 100, { isOwn: false, isKnown: false })];
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
    expect(replicaText(told('0', 120, 100, { isOwn: false }))).toMatch(/, the size of all$/);
    expect(replicaText(told('0', 120, 100, { isOwn: false, isKnown: false }))).toMatch(/its own history is too short$/);
  });
});
