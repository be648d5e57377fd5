import { describe, expect, test } from 'vitest';
import { defaultPolicy } from './policy.ts';

describe('defaults', () => {
  test.each(['cpu', 'memory'] as const)('of %s are in order', (resource) => {
    const { bounds, change } = defaultPolicy[resource];
    expect(bounds.min).toBeGreaterThan(0);
    expect(bounds.max).toBeGreaterThan(bounds.min);
    expect(change.minChange).toBeGreaterThan(0);
    expect(change.maxStepDown).toBeGreaterThan(0);
    expect(change.maxStepDown).toBeLessThanOrEqual(1);
    expect(change.cooldownDownMillis).toBeGreaterThanOrEqual(change.cooldownUpMillis);
    expect(Number.isInteger(bounds.min) && Number.isInteger(bounds.max)).toBe(true);
  });

  test('leave limits alone', () => {
    expect([defaultPolicy.cpu.limit, defaultPolicy.memory.limit]).toEqual([{ policy: 'Keep' }, { policy: 'Keep' }]);
  });
});
