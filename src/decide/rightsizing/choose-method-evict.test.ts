/** When pods are evicted to be resized rather than given a new template. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseMethod, type MethodQuestion } from './choose-method.ts';

const choose = (changes: Partial<MethodQuestion> = {}) =>
  chooseMethod({
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    mode: 'Auto',
    dryRun: false,
    isPaused: false,
    qos: 'Burstable',
    vpa: undefined,
    inPlaceProblem: 'old kubelet',
    allowInPlaceResize: true,
    allowRecreate: true,
    evictToResize: true,
    sizesNewPods: true,
    ...changes,
  });

describe('evictions instead of a new template', () => {
  test.each<[string, Partial<MethodQuestion>, string]>([
    ['where pods cannot be resized in place', {}, 'Evict'],
    ['where they may not be', { inPlaceProblem: undefined, allowInPlaceResize: false }, 'Evict'],
    ['not where they can be', { inPlaceProblem: undefined }, 'InPlace'],
    ['not where the policy does not ask for it', { evictToResize: false }, 'Recreate'],
    ['not where new pods are not allowed', { allowRecreate: false }, 'InPlaceResizeUnavailable'],
    ['not without admission', { sizesNewPods: false }, 'EvictToResizeUnavailable'],
    [
      'not of a DaemonSet',
      { workload: { kind: 'DaemonSet', namespace: 'shop', name: 'agent' } },
      'EvictToResizeUnavailable',
    ],
    ['of a StatefulSet, too', { workload: { kind: 'StatefulSet', namespace: 'shop', name: 'db' } }, 'Evict'],
  ])('%s', (_, changes, expected) => {
    const choice = choose(changes);
    expect(choice.method === 'Skip' ? choice.reason?.name : choice.method).toBe(expected);
  });

  test('for any circumstances, who asks for evictions never has the template changed', () => {
    const changes = fc.record({
      inPlaceProblem: fc.constantFrom(undefined, 'old kubelet'),
      allowInPlaceResize: fc.boolean(),
      allowRecreate: fc.boolean(),
      sizesNewPods: fc.boolean(),
      dryRun: fc.boolean(),
    });
    fc.assert(
      fc.property(changes, (given) => {
        const { method } = choose(given);
        expect(method).not.toBe('Recreate');
        if (method === 'Evict') expect(given).toMatchObject({ allowRecreate: true, sizesNewPods: true, dryRun: false });
      }),
    );
  });
});
