import { expect, test } from 'vitest';
import { isEviction } from './context.ts';
import { evict, pods, restamp, web } from './testing/scene.ts';

test('isEviction tells what ends a pod from what does not', () => {
  const [pod] = pods;
  if (pod === undefined) throw new Error('the scene has pods');
  const about = { workload: web, pod, pods };
  expect(isEviction({ decision: evict(), ...about })).toBe(true);
  expect(isEviction({ decision: restamp(), ...about })).toBe(false);
});
