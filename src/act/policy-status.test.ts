import { describe, expect, test } from 'vitest';
import type { Namespace } from '../api/core.ts';
import { customResourceDefinition } from '../api/crd/crd.ts';
import { crdDescriptions } from '../api/crd/crds.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { type OptimizationPolicy, type PolicyGroup, policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import { createApiServer } from '../cluster/apiserver/api-server.ts';
import { applyObjects } from '../cluster/apply.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { leastPolicySpec } from '../model/testing/policies.ts';
import { createWritePolicyStatus } from './policy-status.ts';

const signal = new AbortController().signal;

async function setUp() {
  const server = createApiServer({ clock: createVirtualClock(0), random: createSeededRandom(1) });
  const api = server.client();
  await applyObjects(api, server.core.registry.all(), crdDescriptions.map(customResourceDefinition));
  const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  await api.create(resources.namespaces, namespace);
  return { api };
}

const objectOf = (group: PolicyGroup): OptimizationPolicy => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'OptimizationPolicy',
  metadata: { namespace: 'shop', name: 'sizes' },
  spec: leastPolicySpec,
});
const failing = (error: Error): KubeApi => ({ ...({} as KubeApi), patch: () => Promise.reject(error) });
const policy = { group: 'optipod.io', namespace: 'shop', name: 'sizes', uid: 'u' } as const;

describe('the status of a policy', () => {
  test.each(['optipod.io', 'optipod.optipod.io'] as const)('is written to the object of %s', async (group) => {
    const { api } = await setUp();
    const object = objectOf(group);
    const created = await api.create(policyType(group), object, { namespace: 'shop' });
    const record = { group, namespace: 'shop', name: 'sizes', uid: created.metadata?.uid ?? '' };
    const write = createWritePolicyStatus(api);
    expect(await write(record, { workloadsDiscovered: 3, workloadsOmitted: 1 }, signal)).toEqual({ result: 'written' });
    expect(await write(record, { workloadsDiscovered: 2 }, signal)).toEqual({ result: 'written' });
    const stored = await api.get(policyType(group), 'sizes', { namespace: 'shop' });
    expect(stored.status).toEqual({ workloadsDiscovered: 2 });
    expect(stored.metadata?.generation).toBe(created.metadata?.generation);
  });

  test('of a policy created anew under the same name is not overwritten', async () => {
    const { api } = await setUp();
    await api.create(policyType('optipod.io'), objectOf('optipod.io'), {
      namespace: 'shop',
    });
    expect((await createWritePolicyStatus(api)(policy, { workloadsDiscovered: 3 }, signal)).result).not.toBe('written');
  });

  test.each([
    [404, 'no', 'gone'],
    [
      403,
      'User "stowage" cannot patch resource "optimizationpolicies/status" in API group "optipod.io" in the namespace "shop"',
      'forbidden',
    ],
    [403, 'admission webhook "sizes.example.com" denied the request: no', 'failed'],
    [500, 'no', 'failed'],
  ])('an answer of %d, %s: %s', async (code, message, result) => {
    const write = createWritePolicyStatus(failing(new KubeError(code, undefined, message)));
    expect((await write(policy, {}, signal)).result).toBe(result);
  });

  test('a broken connection is a failure, not an exception', async () => {
    const write = createWritePolicyStatus(failing(new Error('socket hang up')));
    expect(await write(policy, {}, signal)).toMatchObject({
      result: 'failed',
      message: expect.stringContaining('hang up'),
    });
  });
});
