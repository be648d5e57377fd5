import { expect, test } from 'vitest';
import { web, withPod } from '../guard/size/testing/size-scene.ts';
import { createSizingSnapshot } from '../model/sizing-snapshot.ts';
import { aContainer } from '../model/testing/sizing-records.ts';
import { cpuAdviceOf } from './allocation-advice.ts';
import type { WorkloadResult } from './rightsizing-result.ts';

const advice = (container: string, target: number | undefined): WorkloadResult['advice'][number] => {
  const none = { target: undefined, request: undefined, limit: undefined, isDue: false, held: undefined, notes: [] };
  return { container, current: {}, cpu: { ...none, target }, memory: none };
};

function pod() {
  const containers = [aContainer(), aContainer({ name: 'log' })];
  const { records } = withPod({ containers });
  const [found] = createSizingSnapshot(records ?? {}).podsOnNode('n1');
  if (found === undefined) throw new Error('no pod');
  return found;
}

test('the advice of all containers of a pod is its claim; of some of them it would be too low a one', () => {
  expect(web.name).toBe('web');
  expect(cpuAdviceOf(pod(), { advice: [advice('app', 300), advice('log', 50)] })).toBe(350);
  expect(cpuAdviceOf(pod(), { advice: [advice('app', 300)] })).toBeUndefined();
  expect(cpuAdviceOf(pod(), { advice: [advice('app', 300), advice('log', undefined)] })).toBeUndefined();
  expect(cpuAdviceOf(pod(), undefined)).toBeUndefined();
});
