import { describe, expect, test } from 'vitest';
import { anHpa } from '../../model/testing/sizing-records.ts';
import type { AllocationPod } from './allocation-pod.ts';
import { admit, desired, pending, pod, range } from './testing/admitting.ts';
import { resized, testNode, testPod, testPodOf, testRules } from './testing/pods.ts';

const pdb = {
  namespace: 'shop',
  name: 'p',
  uid: 'p',
  selector: undefined,
  disruptionsAllowed: 0,
  observed: true,
  currentHealthy: 1,
  desiredHealthy: 2,
  alwaysAllowUnhealthy: false,
};

const hpa = anHpa({
  target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
  maxReplicas: 9,
  utilization: { cpu: 80 },
});

describe('what is not granted is taken back', () => {
  const stuck = (reason: 'Deferred' | 'Infeasible', age: number): AllocationPod => {
    const asked = resized(pod, { request: 900, limit: undefined });
    return { ...asked, ...pending(reason, age), statuses: pod.statuses };
  };

  test('allocation bug 11: deferred for over fifteen seconds (k/k#135107)', () => {
    expect(admit(desired(900), {}, stuck('Deferred', 16_000))).toMatchObject({
      kind: 'resize',
      decision: { isWithdrawal: true, changes: [{ container: 'main', to: { cpuRequest: 400 } }] },
    });
  });

  test('allocation bug 10: infeasible: at once, so that no restart brings it to life (k/k#126033)', () => {
    expect(admit(desired(900), {}, stuck('Infeasible', 0))).toMatchObject({ decision: { isWithdrawal: true } });
  });
});

describe('what only the operator knows narrows the wish', () => {
  test('integration 4: LimitRange: up to its maximum', () => {
    const limited = testPod('a', { request: 400, limit: 1000 });
    const admission = admit(
      desired(1200, { limit: 1000 }),
      { facts: { limitRanges: [range(100, 1000)], hpas: [], pdbs: [] } },
      limited,
    );
    expect(admission).toMatchObject({
      decision: { changes: [{ to: { cpuRequest: 999 } }] },
      clamps: [{ reason: 'LimitRange', what: 'max', before: 1200, after: 1000 }],
    });
  });

  test('allocation bug 12, integration 5: the request that an autoscaler divides by stays (k/k#142155)', () => {
    const scaled = { facts: { limitRanges: [], hpas: [hpa], pdbs: [] } };
    expect(admit(desired(200), scaled).kind).toBe('settled');
    expect(admit(desired(200, { limit: 300, limitPolicy: 'Apply' }), scaled)).toMatchObject({
      decision: { changes: [{ to: { cpuLimit: 401 } }] },
    });
    // The reported one: at 1 core the replicas would have counted as four times as busy.
    const large = testPod('a', { request: 4000 });
    expect(admit(desired(1000), scaled, large).kind).toBe('settled');
    expect(admit(desired(1000), {}, large)).toMatchObject({ decision: { changes: [{ to: { cpuRequest: 1000 } }] } });
  });

  test('integration 5: a request that was lowered before the autoscaler came is put back, where there is room', () => {
    const marks = { 'mbcas.io/original-resources': '{"main":{"requests":{"cpu":"400m"}}}' };
    const lowered = testPod('a', { request: 150, marks }, { sizeManagers: ['mbcas-controller'] });
    const scaled = { facts: { limitRanges: [], hpas: [hpa], pdbs: [], template: 400 } };
    expect(admit(desired(150), scaled, lowered)).toMatchObject({
      decision: { changes: [{ to: { cpuRequest: 400 } }] },
    });
    const full = { allocatable: 1800, conditions: testNode().conditions, charged: 1700 };
    expect(admit(desired(150), { ...scaled, node: full }, lowered)).toMatchObject({ reason: 'CapacityInFlight' });
  });

  test('integration 6: no decrease while the budget is short, raises as ever', () => {
    const short = { facts: { limitRanges: [], hpas: [], pdbs: [pdb] } };
    expect(admit(desired(200), short).kind).toBe('settled');
    expect(admit(desired(600), short).kind).toBe('resize');
  });

  test('integration 4: the ratio of limit to request is kept by the limit', () => {
    const admission = admit(
      desired(300, { limit: 1200, limitPolicy: 'Apply' }),
      { facts: { limitRanges: [range(1, 5000, 3)], hpas: [], pdbs: [] } },
      testPod('a', { request: 400, limit: 1200 }),
    );
    expect(admission).toMatchObject({ decision: { changes: [{ to: { cpuRequest: 300, cpuLimit: 900 } }] } });
  });

  test('integration 4: beside a limit that stays by the request, and that is told', () => {
    const admission = admit(
      desired(300),
      { facts: { limitRanges: [range(1, 5000, 3)], hpas: [], pdbs: [] } },
      testPod('a', { request: 600, limit: 1200 }),
    );
    expect(admission).toMatchObject({
      decision: { changes: [{ to: { cpuRequest: 400 } }] },
      clamps: [{ reason: 'LimitRatio', before: 300, after: 400 }],
    });
  });
});

describe('limits, as MBCAS', () => {
  const rules = { ...testRules, apply: 'limits' as const };
  const limited = testPod('a', { request: 450, limit: 500 });
  const wish = (limit: number) => desired(Math.floor(0.9 * limit), { limit, limitPolicy: 'Apply' });

  test('limit and request move together', () => {
    expect(admit(wish(800), { rules }, limited)).toMatchObject({
      decision: { changes: [{ to: { cpuRequest: 720, cpuLimit: 800 } }] },
    });
  });

  test('a cut limit takes the request along', () => {
    const ranges = { limitRanges: [range(10, 600)], hpas: [], pdbs: [] };
    expect(admit(wish(800), { rules, facts: ranges }, limited)).toMatchObject({
      decision: { changes: [{ to: { cpuRequest: 540, cpuLimit: 600 } }] },
    });
  });

  test('integration 6: a limit that must not fall raises no request', () => {
    const short = { limitRanges: [], hpas: [], pdbs: [pdb] };
    const loose = testPod('a', { request: 300, limit: 1000 });
    expect(admit(wish(400), { rules, facts: short }, loose)).toMatchObject({
      decision: { changes: [{ to: { cpuRequest: 360 } }] },
    });
    const tight = testPod('a', { request: 900, limit: 1000 });
    expect(admit(wish(400), { rules, facts: short }, tight).kind).toBe('settled');
  });

  test('beside a limit that stays, or is not there, what that could be at most says nothing of the request', () => {
    const spread = { ...rules, weight: { ...rules.weight, spreadCeiling: true } };
    const alike = { limitRanges: [], hpas: [], pdbs: [], median: 200 };
    expect(admit(desired(400), { rules: spread, facts: alike }).kind).toBe('settled');
    const bounded = { limitRanges: [{ ...range(10, 600), type: 'Pod' as const }], hpas: [], pdbs: [] };
    const partly = testPodOf([[200, 300], [200]]);
    expect(admit(desired(400), { rules, facts: bounded }, partly).kind).toBe('settled');
    expect(admit(desired(350), { rules, facts: bounded }, partly)).toMatchObject({
      kind: 'resize',
      decision: { why: { numbers: { requestAfter: 350 } } },
    });
  });

  test('an autoscaled pod: the limit only, above its threshold', () => {
    const scaled = { limitRanges: [], hpas: [hpa], pdbs: [] };
    expect(admit(wish(300), { rules, facts: scaled }, limited)).toMatchObject({
      decision: { changes: [{ to: { cpuLimit: 451 } }] },
    });
    expect(admit(wish(800), { rules, facts: scaled }, limited)).toMatchObject({
      decision: { changes: [{ to: { cpuLimit: 800 } }] },
    });
  });
});

test('Guaranteed: request and limit are one', () => {
  const guaranteed = testPod(
    'a',
    { request: 450, limit: 450, marks: { 'mbcas.io/skip-guaranteed': 'false' } },
    { qos: 'Guaranteed' },
  );
  expect(admit(desired(600, { limit: 900, limitPolicy: 'Apply' }), {}, guaranteed)).toMatchObject({
    decision: { changes: [{ to: { cpuRequest: 600, cpuLimit: 600 } }] },
  });
});
