import { describe, expect, test } from 'vitest';
import type { AllocationPod } from './allocation-pod.ts';
import type { AllocationRules } from './rules.ts';
import { testPodOf, testRules } from './testing/pods.ts';
import { fixedContainers, userLimitsOf } from './user-limits.ts';

const partly = testPodOf([[100, 500], [100]]);
const wholly = testPodOf([
  [100, 500],
  [100, 300],
]);
const marked = (text: string) => ({ marks: { 'mbcas.io/original-resources': text } });
/** `partly` under a ceiling of ours. */
const ceiled = testPodOf(
  [
    [400, 500],
    [100, 490],
  ],
  marked('{"c0":{"limits":{"cpu":"500m"}},"c1":{}}'),
);

describe('limits of users on some containers', () => {
  test.each<[string, AllocationPod, 'requests+ceilings' | 'limits', number]>([
    ['those of before the first resize', ceiled, 'requests+ceilings', 1],
    ['none where all containers have one: the whole pod is bounded', wholly, 'requests+ceilings', 0],
    ['none where limits are the shares', partly, 'limits', 0],
    ['none of Guaranteed pods', { ...partly, qos: 'Guaranteed' }, 'requests+ceilings', 0],
    ['of a text that somebody spoilt, what is there', { ...partly, ...marked('{') }, 'requests+ceilings', 1],
  ])('%s', (_name, pod, apply, count) => {
    expect(userLimitsOf(pod, { apply }).size).toBe(count);
  });
});

describe('containers that get no more, whatever the pod gets', () => {
  test.each<[string, AllocationPod, Partial<AllocationRules>, readonly string[]]>([
    ['one with a limit beside one without', partly, {}, ['c0']],
    ['with a ceiling of ours on the other', ceiled, {}, ['c0']],
    ['all that have limits', wholly, {}, ['c0', 'c1']],
    ['but those whose limit we have lowered', { ...wholly, ...marked('{"c0":{"limits":{"cpu":"900m"}}}') }, {}, []],
    ['none where limits may give way', wholly, { userLimits: 'lift' }, []],
    ['those of some containers never do', partly, { userLimits: 'lift' }, ['c0']],
    ['none where limits are the shares', partly, { apply: 'limits' }, []],
    ['none of Guaranteed pods', { ...wholly, qos: 'Guaranteed' }, {}, []],
    ['none that is alone: it is its pod', testPodOf([[100, 500]]), {}, []],
    ['none without limits', testPodOf([[100], [100]]), {}, []],
  ])('%s', (_name, pod, change, names) => {
    expect([...fixedContainers(pod, { ...testRules, ...change })]).toEqual(names);
  });
});
