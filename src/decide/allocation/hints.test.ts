import { describe, expect, test } from 'vitest';
import { aLimitRange, anHpa } from '../../model/testing/sizing-records.ts';

import { clusterHints, type PodFacts } from './hints.ts';
import { unhindered } from './node-input.ts';
import type { AllocationRules } from './rules.ts';
import { T0, testPod, testRules } from './testing/pods.ts';

const none: PodFacts = { limitRanges: [], hpas: [], pdbs: [] };
const hint = (facts: Partial<PodFacts>, rules: Partial<AllocationRules> = {}) =>
  clusterHints(testPod('a', { request: 400, limit: 800 }), { ...none, ...facts }, { ...testRules, ...rules }, T0);
const hpa = anHpa({
  target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
  maxReplicas: 9,
  utilization: { cpu: 80 },
});
const range = aLimitRange({ min: { cpu: 100 }, max: { cpu: 1000 } });
const switchedOn = { ...testRules.weight, topologySpread: true, nodeAffinity: true };
const spread = { spread: [{ replicasHere: 1, averageReplicas: 2 }], median: 300 };
const affinity = { affinity: { required: [], preferred: [] }, node: { name: 'n', labels: {} } };

describe('what the cluster says about a pod', () => {
  test('nothing', () => {
    expect(hint({})).toEqual(unhindered);
  });

  test('it survives JSON, so that the operator can tell the agent', () => {
    const hints = hint({ hpas: [hpa], limitRanges: [range] });
    expect(JSON.parse(JSON.stringify(hints))).toEqual(hints);
  });

  test('an autoscaler by CPU holds the request', () => {
    expect(hint({ hpas: [hpa] })).toMatchObject({
      isRequestFrozen: true,
      limitMin: 400,
      step: 0.1,
      bandFactor: 2,
      bounds: [{ layer: 'hard', reason: 'HorizontalPodAutoscaler', min: 400, max: 400 }],
    });
  });

  describe('and what the pod gave up before there was one it gets back', () => {
    const marks = { 'mbcas.io/original-resources': '{"main":{"requests":{"cpu":"400m"}}}' };
    const resizedByUs = { sizeManagers: ['mbcas-controller'] };
    test.each([
      ['as it came', 150, 400, resizedByUs, 400],
      ['up to what its template asks for by now', 150, 300, resizedByUs, 300],
      ['of a workload that is not read: nothing', 150, undefined, resizedByUs, 150],
      ['not where nobody of ours resized it, whatever the annotation says', 150, 400, {}, 150],
      ['nothing is taken from one that has more', 700, 400, resizedByUs, 700],
    ])('%s', (_, request, template, by, held) => {
      const pod = testPod('a', { request, limit: 800, marks }, by);
      const facts = { ...none, hpas: [hpa], ...(template !== undefined && { template }) };
      const bound = { layer: 'hard', reason: 'HorizontalPodAutoscaler' };
      expect(clusterHints(pod, facts, testRules, T0).bounds).toEqual([{ ...bound, min: held, max: held }]);
      // Else it is shared out as ever.
      expect(clusterHints(pod, { ...facts, hpas: [] }, testRules, T0).bounds).toEqual([]);
    });

    test('as far as a LimitRange that came since lets it', () => {
      const pod = testPod('a', { request: 150, limit: 280, marks }, resizedByUs);
      const facts = { ...none, hpas: [hpa], template: 400, limitRanges: [aLimitRange({ max: { cpu: 300 } })] };
      expect(clusterHints(pod, facts, testRules, T0).bounds).toContainEqual(
        expect.objectContaining({ reason: 'HorizontalPodAutoscaler', min: 300 }),
      );
    });
  });

  test('with limits it is a lower bound of the limit', () => {
    expect(hint({ hpas: [hpa] }, { apply: 'limits' }).bounds).toEqual([
      { layer: 'hpa', reason: 'HorizontalPodAutoscaler', min: 400 },
    ]);
  });

  test('limits of the namespace; the request must reach the minimum too', () => {
    expect(hint({ limitRanges: [range] }).bounds).toEqual([
      { layer: 'hard', reason: 'LimitRange', min: 100, max: 1000 },
    ]);
    expect(hint({ limitRanges: [range] }, { apply: 'limits' }).bounds[0]?.min).toBe(112);
  });

  test('integration 4: what its ratio asks for beside the limit that it has, unless that is the share', () => {
    const bounded = { limitRanges: [{ ...range, maxLimitRequestRatio: { cpu: 3 } }] };
    expect(hint(bounded).bounds).toContainEqual({ layer: 'hard', reason: 'LimitRatio', min: 267 });
    expect(hint(bounded, { apply: 'limits' }).bounds).toHaveLength(1);
  });

  test('integration 4, integration 5: with limits, no more than its ratio allows beside a request that stays', () => {
    const bounded = { limitRanges: [{ ...range, min: {}, maxLimitRequestRatio: { cpu: 2.2 } }], hpas: [hpa] };
    const [, bound] = hint(bounded, { apply: 'limits' }).bounds;
    expect(bound).toEqual({ layer: 'hard', reason: 'LimitRange', min: 0, max: 880 });
    expect(hint({ ...bounded, hpas: [] }, { apply: 'limits' }).bounds).toMatchObject([{ max: 1000 }]);
  });

  test('allocation bug 21: a pod outside its limits is left where it is', () => {
    const broken = { ...range, max: { cpu: 500 } };
    expect(hint({ limitRanges: [broken] }).bounds).toEqual([
      { layer: 'hard', reason: 'LimitRangeConflict', min: 400, max: 400 },
    ]);
  });

  test.each(['limitRanges', 'hpas', 'pdbs'] as const)('%s not known: nothing moves', (key) => {
    expect(hint({ [key]: 'unknown' })).toMatchObject({
      isRequestFrozen: true,
      bounds: [{ layer: 'hard', reason: 'DataUnknown', min: 400, max: 400 }],
    });
  });

  test('integration 7, integration 8: spread and affinity only where switched on', () => {
    expect(hint({ ...spread, ...affinity })).toEqual(unhindered);
    const on = hint({ ...spread, ...affinity }, { weight: switchedOn });
    expect(on).toMatchObject({ spread: 1.25, bounds: [] });
    expect(hint(spread, { weight: { ...testRules.weight, spreadCeiling: true } })).toMatchObject({
      spread: 1,
      bounds: [{ reason: 'TopologySpread', max: 450 }],
    });
    // An affinity without terms matches nothing: the node is one it may no longer run on.
    expect(on.affinity).toBeCloseTo(0.9, 9);
  });
});
