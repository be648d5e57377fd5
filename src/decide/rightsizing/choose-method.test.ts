import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseMethod, type MethodQuestion } from './choose-method.ts';

const question = (changes: Partial<MethodQuestion> = {}): MethodQuestion => ({
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  mode: 'Auto',
  dryRun: false,
  isPaused: false,
  qos: 'Burstable',
  vpa: undefined,
  inPlaceProblem: undefined,
  allowInPlaceResize: true,
  allowRecreate: false,
  ...changes,
});
const reasonFor = (changes: Partial<MethodQuestion>) => {
  const choice = chooseMethod(question(changes));
  return choice.method === 'Skip' ? choice.reason?.name : choice.method;
};

describe('the method', () => {
  test.each<[string, Partial<MethodQuestion>, string | undefined]>([
    ['in place where it can be', {}, 'InPlace'],
    ['in place is preferred to new pods', { allowRecreate: true }, 'InPlace'],
    ['new pods where in place cannot be', { inPlaceProblem: 'old kubelet', allowRecreate: true }, 'Recreate'],
    ['new pods where in place may not be', { allowInPlaceResize: false, allowRecreate: true }, 'Recreate'],
    ['neither', { inPlaceProblem: 'old kubelet' }, 'InPlaceResizeUnavailable'],
    ['neither allowed', { allowInPlaceResize: false }, 'InPlaceResizeUnavailable'],
    ['advice only', { mode: 'Recommend' }, undefined],
    ['disabled', { mode: 'Disabled' }, 'PolicyDisabled'],
    ['dry-run', { dryRun: true }, 'DryRunActive'],
    ['the mode is told before dry-run', { mode: 'Disabled', dryRun: true }, 'PolicyDisabled'],
    ['opted out', { isPaused: true }, 'OptedOut'],
    ['kept for a later version', { newerFormat: 'optipod.io/applied-sizes' }, 'NewerFormat'],
    ['a kind that is advised', { workload: { kind: 'CronJob', namespace: 'a', name: 'b' } }, 'KindAdvisedOnly'],
    ['a VPA is at it', { vpa: 'web-vpa' }, 'VpaSizesWorkload'],
    ['OptiPod applies the same policy', { optipod: 'optipod-system/manager' }, 'PredecessorRuns'],
    ['OptiPod, but only advice is asked for', { optipod: 'optipod-system/manager', mode: 'Recommend' }, undefined],
    ['optipod defect B22: BestEffort would become something else', { qos: 'BestEffort' }, 'BestEffortWorkload'],
  ])('%s', (_, changes, expected) => {
    expect(reasonFor(changes)).toBe(expected);
  });

  const questions = fc.record({
    dryRun: fc.boolean(),
    isPaused: fc.boolean(),
    inPlaceProblem: fc.option(fc.constantFrom('not served', 'old kubelet'), { nil: undefined }),
    allowInPlaceResize: fc.boolean(),
    allowRecreate: fc.boolean(),
    qos: fc.constantFrom('Guaranteed', 'Burstable', 'BestEffort'),
  });

  // Feature: k8s-workload-rightsizing, Property 22: without in-place resize recreation is an option of the policy, and off by default.
  test('Property 22: for any circumstances, pods are only recreated where the policy says so', () => {
    fc.assert(
      fc.property(questions, (changes) => {
        const { method } = chooseMethod(question({ ...changes, inPlaceProblem: 'not served' }));
        expect(method === 'Recreate').toBe(
          changes.allowRecreate && !changes.dryRun && !changes.isPaused && changes.qos !== 'BestEffort',
        );
        expect(method).not.toBe('InPlace');
      }),
      { numRuns: 200 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 6: a change that needs new pods is only made where the policy allows it, else skipped with a warning.
  test('Property 6: for any circumstances without recreation, what cannot be done in place is skipped and says why', () => {
    fc.assert(
      fc.property(questions, (changes) => {
        const choice = chooseMethod(question({ ...changes, allowRecreate: false, allowInPlaceResize: false }));
        expect(choice.method).toBe('Skip');
        if (choice.method !== 'Skip') return;
        expect(choice.reason?.message).toBeDefined();
        expect(choice.reason?.advice).not.toBe('');
      }),
      { numRuns: 200 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 21: where pods can be resized in place and the policy allows it, that is preferred to new pods.
  test('Property 21: for any circumstances, what can be done in place is, whether or not new pods are allowed', () => {
    fc.assert(
      fc.property(questions, (changes) => {
        const able = { ...changes, inPlaceProblem: undefined, allowInPlaceResize: true };
        const { method } = chooseMethod(question(able));
        const isHeld = changes.dryRun || changes.isPaused || changes.qos === 'BestEffort';
        expect(method).toBe(isHeld ? 'Skip' : 'InPlace');
      }),
      { numRuns: 200 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 8: in Recommend mode nothing is ever applied.
  test('Property 8: for any circumstances, Recommend never has a method', () => {
    fc.assert(
      fc.property(questions, (changes) => {
        expect(chooseMethod(question({ ...changes, mode: 'Recommend' }))).toEqual({
          method: 'Skip',
          reason: undefined,
        });
      }),
      { numRuns: 200 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 29: with dry-run nothing is ever applied.
  test('Property 29: for any circumstances, dry-run never has a method, and says so', () => {
    fc.assert(
      fc.property(questions, (changes) => {
        const choice = chooseMethod(question({ ...changes, dryRun: true }));
        expect(choice).toMatchObject({ method: 'Skip', reason: { name: 'DryRunActive' } });
      }),
      { numRuns: 200 },
    );
  });
});
