import { describe, expect, test } from 'vitest';
import type { PolicyCondition } from '../../api/optimization-policy-status.ts';
import { reason } from '../../lib/reasons.ts';
import { policyCondition } from './policy-condition.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = Date.parse('2026-01-01T01:00:00Z');
const why = reason('DiscoveryFailed', { namespace: 'shop', name: 'sizes', cause: 'pods: no answer' });

const degraded = (isTrue: boolean, previous: readonly PolicyCondition[] = [], isWell = false): PolicyCondition =>
  policyCondition({ type: 'Degraded', isTrue, why, isWell }, { generation: 3, previous, now: NOW });

test('it is of a generation, with the name of its reason', () => {
  expect(degraded(true)).toMatchObject({
    type: 'Degraded',
    status: 'True',
    observedGeneration: 3,
    reason: 'DiscoveryFailed',
  });
});

describe('its time', () => {
  const known = { ...degraded(true), lastTransitionTime: EARLIER, reason: 'WorkloadsFailing' };

  test('stays while its status does, also where the reason is another', () => {
    expect(degraded(true, [known]).lastTransitionTime).toBe(EARLIER);
  });

  test.each<[string, readonly PolicyCondition[]]>([
    ['its status was another', [{ ...known, status: 'False' }]],
    ['nothing was known but another condition', [{ ...known, type: 'Ready' }]],
    ['there was none', []],
  ])('is now where %s', (_, previous) => {
    expect(degraded(true, previous).lastTransitionTime).toBe('2026-01-01T01:00:00Z');
  });
});

test('what can be done is told, but where nobody has to', () => {
  expect(degraded(true).message).toBe(`${why.message}. Suggestion: ${why.advice}`);
  expect(degraded(false, [], true).message).toBe(why.message);
});
