import { expect, test } from 'vitest';
import { memoryStrategies } from './compare-memory.ts';
import { createVpaMemory } from './rivals/vpa-memory.ts';

const MIB = 2 ** 20;

test('VPA by the hottest replica keeps one window: a kill of any replica is one of that', () => {
  const named = memoryStrategies([], true).find(({ name }) => name === 'vpa, hottest');
  const hottest = named?.create({ name: 'x', points: [] });
  const ofOne = createVpaMemory();
  hottest?.observe(2, 2000 * MIB, 0);
  hottest?.noteOom(3, 1000 * MIB, 1);
  ofOne.observe(0, 2000 * MIB, 0);
  ofOne.noteOom(0, 1000 * MIB, 1);
  expect(hottest?.choose(undefined, 1)).toBe(ofOne.choose(undefined, 1));
  expect(ofOne.choose(undefined, 1)).toBeGreaterThan(2400 * MIB);
});

test('it is compared where there may be several replicas, ours first, then policies', () => {
  const mine = { name: 'policy mine', create: () => createVpaMemory() };
  const names = (hasReplicas: boolean) => memoryStrategies([mine], hasReplicas).map(({ name }) => name);
  expect(names(false)).toEqual(['stowage', 'policy mine', 'vpa-like', 'krr-like', 'as is']);
  expect(names(true)).toContain('vpa, hottest');
});
