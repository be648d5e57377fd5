import { describe, expect, test } from 'vitest';
import { evictRule, inWords, object } from './objection.ts';
import { evict, pods, restamp, scene, web } from './testing/scene.ts';

describe('object', () => {
  test('takes the sentence from the table of reasons', () => {
    expect(object('BlockedByPdb', { pdb: 'web-pdb' })).toEqual({
      reason: 'BlockedByPdb',
      message: 'PodDisruptionBudget web-pdb allows no disruption now',
      advice: 'Wait for its pods to become healthy, or loosen minAvailable / maxUnavailable.',
      retryAfterMillis: undefined,
    });
    expect(object('SideInBackoff', { side: 'spot', remaining: '3m' })?.advice).toBe(
      'Add spot capacity, or wait; where pods miss the webhook (MissedAdmission), mend that.',
    );
    expect(object('ReadOnly', {}, 5)?.retryAfterMillis).toBe(5);
  });
});

describe('evictRule', () => {
  const [pod] = pods;
  const rule = evictRule('never', 'For the test.', () => object('Paused', {}));

  test('asks about evictions only', () => {
    if (pod === undefined) throw new Error('the scene has pods');
    const about = { workload: web, pod, pods };
    expect(rule.appliesTo).toBe('evict');
    expect(rule.check({ decision: evict(), ...about }, scene())?.reason).toBe('Paused');
    expect(rule.check({ decision: restamp(), ...about }, scene())).toBeUndefined();
  });
});

describe('inWords', () => {
  test.each([
    [0, '1s'],
    [1, '1s'],
    [1001, '2s'],
    [90_000, '1m30s'],
    [3_600_000, '1h'],
  ])('%i ms is %s', (millis, expected) => {
    expect(inWords(millis)).toBe(expected);
  });
});
