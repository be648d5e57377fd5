import { expect, test } from 'vitest';
import { podRef, workloadRef } from './refs.ts';

test('a reference is no more than that, whatever the record has', () => {
  const workload = { kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u', replicas: 3 };
  expect(workloadRef(workload)).toEqual({ kind: 'Deployment', namespace: 'shop', name: 'web' });
  expect(podRef({ ...workload, uid: 'pod' })).toEqual({ namespace: 'shop', name: 'web', uid: 'pod' });
});
