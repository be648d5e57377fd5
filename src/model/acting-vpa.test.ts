import { expect, test } from 'vitest';
import { actingVpa } from './acting-vpa.ts';
import type { VpaRecord } from './sizing-records.ts';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

function aVpa(updateMode: string, target: Partial<VpaRecord['target']> = {}): VpaRecord {
  return { namespace: 'shop', name: `vpa-${updateMode}`, target: { ...web, ...target }, updateMode };
}

test.each(['Auto', 'Recreate', 'InPlaceOrRecreate', 'Initial'])('a VPA in mode %s acts on its target', (mode) => {
  expect(actingVpa([aVpa('Off'), aVpa(mode)], web)?.name).toBe(`vpa-${mode}`);
});

test('a VPA that only recommends is no writer', () => {
  expect(actingVpa([aVpa('Off')], web)).toBeUndefined();
});

test.each<[string, Partial<VpaRecord['target']>]>([
  ['of another name', { name: 'api' }],
  ['of another kind', { kind: 'StatefulSet' }],
  ['of another group', { apiVersion: 'example.com/v1' }],
])('a workload %s is not the target', (_, target) => {
  expect(actingVpa([aVpa('Auto', target)], web)).toBeUndefined();
});

test('another version of the same group is', () => {
  expect(actingVpa([aVpa('Auto', { apiVersion: 'apps/v1beta2' })], web)).toBeDefined();
});
