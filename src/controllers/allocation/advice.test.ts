import { expect, test } from 'vitest';
import type { ReplicaTold } from '../../decide/rightsizing/replica-text.ts';
import { web, withPod } from '../../guard/size/testing/size-scene.ts';
import { freshState } from '../../model/replica-sizes.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { aContainer } from '../../model/testing/sizing-records.ts';
import type { WorkloadResult } from '../rightsizing/result.ts';
import { cpuAdviceOf } from './advice.ts';

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
  expect(cpuAdviceOf(pod(), web, { advice: [advice('app', 300), advice('log', 50)] })).toBe(350);
  expect(cpuAdviceOf(pod(), web, { advice: [advice('app', 300)] })).toBeUndefined();
  expect(cpuAdviceOf(pod(), web, { advice: [advice('app', 300), advice('log', undefined)] })).toBeUndefined();
  expect(cpuAdviceOf(pod(), web, undefined)).toBeUndefined();
});

test('of a replica that goes its own way its own advice is the claim, where there is one of all containers', () => {
  const set = { kind: 'DaemonSet', name: 'agent' };
  const both = (cpu: number) => [advice('app', cpu), advice('log', 50)];
  const replica = (changes: Partial<ReplicaTold>): ReplicaTold => ({
    replica: 'n1',
    pod: 'web-1',
    state: undefined,
    isKnown: true,
    inForce: [],
    advice: both(100),
    ...changes,
  });
  const claimOf = (...replicas: readonly ReplicaTold[]) => cpuAdviceOf(pod(), set, { advice: both(300), replicas });
  expect(claimOf(replica({}))).toBe(150);
  expect(claimOf(replica({ replica: 'n2' }), replica({}))).toBe(150);
  expect(claimOf(replica({ isKnown: false, state: freshState([]) }))).toBe(150);
  expect(claimOf(replica({ isKnown: false }))).toBe(350);
  expect(claimOf(replica({ replica: 'n2' }))).toBe(350);
  expect(claimOf(replica({ advice: [advice('app', 100)] }))).toBe(350);
});
