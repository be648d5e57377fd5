import { describe, expect, test } from 'vitest';
import type { PlacementPolicy } from '../../decide/placement/policy.ts';
import { reason } from '../../lib/reasons.ts';
import { inspect } from '../guard.ts';
import { evict, restamp, type SceneChanges, scene } from '../testing/scene.ts';

const blockOf = (changes: SceneChanges) => {
  const verdict = inspect(evict(), scene(changes));
  return verdict.kind === 'blocked' ? verdict.block : undefined;
};
const invalid: PlacementPolicy = {
  state: 'invalid',
  problems: [],
  reason: reason('InvalidConfiguration', { where: 'workload annotation', key: 'k', value: 'v', accepted: 'a' }),
};
const unmanaged: PlacementPolicy = { state: 'unmanaged', reason: reason('NotEnabled', { where: 'namespace' }) };

describe('switched on', () => {
  test('an engine that is off', () => {
    expect(blockOf({ settings: { enabled: false } })).toMatchObject({ rule: 'engine-on', reason: 'EngineDisabled' });
  });

  test('case 57: case 45: bug 25: a namespace or workload without the label', () => {
    expect(blockOf({ policy: unmanaged })).toMatchObject({
      rule: 'managed',
      reason: 'NotEnabled',
      retryAfterMillis: undefined,
    });
  });

  test('case 48: an invalid value, asked again after the retry interval', () => {
    expect(blockOf({ policy: invalid })).toMatchObject({
      rule: 'managed',
      reason: 'InvalidConfiguration',
      retryAfterMillis: 60_000,
    });
  });

  test('case 58: read-only', () => {
    expect(blockOf({ settings: { readOnly: true } })).toMatchObject({ rule: 'read-only', reason: 'ReadOnly' });
  });

  test('a webhook that is off: what is moved would come back anywhere; stamps move nothing', () => {
    const settings = { steersNewPods: false };
    expect(blockOf({ settings })).toMatchObject({ rule: 'webhook-on', reason: 'WebhookOff' });
    expect(blockOf({ settings: { steersNewPods: true } })).toBeUndefined();
    expect(inspect(restamp(), scene({ settings })).kind).toBe('approved');
  });

  test.each<SceneChanges>([
    { settings: { enabled: false } },
    { policy: unmanaged },
    { policy: invalid },
    { settings: { readOnly: true } },
  ])('binds re-stamps too', (changes) => {
    expect(inspect(restamp(), scene(changes)).kind).toBe('blocked');
  });
});
