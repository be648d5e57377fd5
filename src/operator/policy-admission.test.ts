import { describe, expect, test } from 'vitest';
import { createSilentLogger } from '../lib/log.ts';
import { policyObject, policyRecord, type TestPolicy } from '../model/testing/policies.ts';
import { aNamespace } from '../model/testing/records.ts';
import { aSizedWorkload } from '../model/testing/sizing-records.ts';
import { policyAdmission } from './policy-admission.ts';

const workload = aSizedWorkload({ kind: 'Deployment', namespace: 'shop', name: 'web' });

async function ask(policy: TestPolicy, knownNamespaces: readonly string[] = ['shop']) {
  const handlers = policyAdmission({
    policies: { policies: () => [policyRecord({ name: 'known' })] },
    view: {
      workloads: () => [workload],
      namespace: (name) => (knownNamespaces.includes(name) ? aNamespace({ name }) : undefined),
    },
    limits: { maxSafetyFactor: 1.5 },
    tenancy: { operatorNamespace: 'stowage-system', allowedPolicyNamespaces: new Set() },
    log: createSilentLogger(),
  });
  expect(Object.keys(handlers)).toEqual(['/validate-optimizationpolicy']);
  const kind = { group: 'optipod.io', version: 'v1alpha1', kind: 'OptimizationPolicy' };
  const request = { uid: 'r', operation: 'CREATE', kind, object: policyObject(policy) };
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
  const answer = await handlers['/validate-optimizationpolicy']?.(JSON.stringify(review), false);
  return JSON.parse(answer?.body ?? '{}').response;
}

describe('admission of policies', () => {
  test('knows the limits of the operator', async () => {
    const response = await ask({ spec: { metricsConfig: { provider: 'prometheus', safetyFactor: 2 } } });
    expect(response).toMatchObject({
      allowed: false,
      status: { message: expect.stringContaining('accepted: 1 to 1.5') },
    });
  });

  test('knows policies and workloads', async () => {
    const response = await ask({ name: 'new' });
    expect(response).toMatchObject({ allowed: true, warnings: [expect.stringContaining('Deployment shop/web')] });
  });

  test('leaves out workloads whose namespace is not known', async () => {
    expect(await ask({ name: 'new' }, [])).toEqual({ uid: 'r', allowed: true });
  });
});
