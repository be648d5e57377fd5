import { describe, expect, test } from 'vitest';
import { parseWorkloadKey, workloadKey, workloadOfKey } from './cluster-view.ts';

describe('workloadKey', () => {
  test('names kind, namespace and name', () => {
    expect(workloadKey({ kind: 'Deployment', namespace: 'shop', name: 'web' })).toBe('Deployment/shop/web');
  });

  test('keeps workloads of different kinds with one name apart', () => {
    const place = { namespace: 'shop', name: 'web' };
    expect(workloadKey({ kind: 'StatefulSet', ...place })).not.toBe(workloadKey({ kind: 'Deployment', ...place }));
  });

  test('is read back', () => {
    const workload = { kind: 'StatefulSet', namespace: 'shop', name: 'db-0.main' };
    expect(workloadOfKey(workloadKey(workload))).toEqual(workload);
    expect(parseWorkloadKey(workloadKey(workload))).toEqual(workload);
  });
});

test.each(['', 'web', 'shop/web', '/shop/web', 'Deployment//web', 'Deployment/shop/', 'Deployment/shop/web/more'])(
  '%j is the key of no workload',
  (text) => {
    expect(parseWorkloadKey(text)).toBeUndefined();
  },
);
