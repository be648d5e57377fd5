import { describe, expect, test } from 'vitest';
import type { AllocationPod } from './allocation-pod.ts';
import { resized, T0, testPod } from './testing/pods.ts';
import { withdrawalOf } from './withdraw.ts';

const before = testPod('a', { request: 400 });

function asked(reason: 'Deferred' | 'Infeasible', age: number | undefined, limit?: number): AllocationPod {
  const since = age === undefined ? undefined : T0 - age;
  const resize = { pending: { reason, message: 'node is full', since }, inProgress: undefined };
  return { ...resized(before, { request: 900, limit }), statuses: before.statuses, resize };
}

describe('taking back', () => {
  test.each<[string, AllocationPod, boolean]>([
    ['nothing pending', before, false],
    ['deferred for ten seconds', asked('Deferred', 10_000), false],
    ['allocation bug 11: deferred for sixteen', asked('Deferred', 16_000), true],
    ['deferred, nobody knows since when', asked('Deferred', undefined), false],
    ['allocation bug 10: infeasible', asked('Infeasible', 0), true],
    ['infeasible by an older spec', { ...asked('Infeasible', 0), generation: 3, observedGeneration: 2 }, false],
    [
      'infeasible, by what it saw nobody says',
      { ...asked('Infeasible', 0), generation: 3, observedGeneration: undefined },
      true,
    ],
    ['infeasible, and taken back already', { ...before, resize: asked('Infeasible', 0).resize }, false],
  ])('%s', (_name, pod, isDue) => {
    const found = withdrawalOf(pod, T0);
    expect(found !== undefined).toBe(isDue);
    if (found !== undefined) expect(found.changes).toEqual([{ container: 'main', to: { cpuRequest: 400 } }]);
  });

  test('it says why', () => {
    expect(withdrawalOf(asked('Infeasible', 0), T0)?.why).toBe('Infeasible: node is full');
  });

  test('a limit that was being added stays: the API lets none be removed', () => {
    expect(withdrawalOf(asked('Deferred', 16_000, 950), T0)?.changes).toEqual([
      { container: 'main', to: { cpuRequest: 400 } },
    ]);
  });

  test('a limit that was being moved goes back', () => {
    const limited = testPod('a', { request: 400, limit: 500 });
    const pod = { ...asked('Deferred', 16_000, 950), statuses: limited.statuses };
    expect(withdrawalOf(pod, T0)?.changes).toEqual([{ container: 'main', to: { cpuRequest: 400, cpuLimit: 500 } }]);
  });
});
