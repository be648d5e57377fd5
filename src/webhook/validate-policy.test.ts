import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyTenancy } from '../decide/rightsizing/policy-match.ts';
import type { PlacedSubject } from '../decide/rightsizing/policy-warnings.ts';
import { createSilentLogger } from '../lib/log.ts';
import { leastPolicySpec, policyObject, policyRecord, type TestPolicy } from '../model/testing/policies.ts';
import { createPolicyValidator, type PolicyValidatorOptions } from './validate-policy.ts';

const tenancy: PolicyTenancy = { operatorNamespace: 'stowage-system', allowedPolicyNamespaces: new Set() };
const web: PlacedSubject = {
  workload: { namespace: 'shop', kind: 'Deployment', name: 'web', labels: {} },
  namespace: { name: 'shop', labels: {} },
};

function validator(known: readonly TestPolicy[] = [], more: Partial<PolicyValidatorOptions> = {}) {
  return createPolicyValidator({
    policies: () => known.map(policyRecord),
    subjects: () => [web],
    tenancy,
    log: createSilentLogger(),
    ...more,
  });
}

function reviewOf(object: unknown, request: object = {}): string {
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'r1',
      operation: 'CREATE',
      kind: { group: 'optipod.io', version: 'v1alpha1', kind: 'OptimizationPolicy' },
      namespace: 'stowage-system',
      object,
      ...request,
    },
  });
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly warnings?: readonly string[];
  readonly status?: { readonly code: number; readonly message: string };
}

function ask(
  validate: (body: string) => { status: number; body: string },
  object: unknown,
  request?: object,
): Response {
  const { status, body } = validate(reviewOf(object, request));
  expect(status).toBe(200);
  return JSON.parse(body).response;
}

describe('a policy that is sent', () => {
  test('valid and without oddities is let in without a word', () => {
    expect(ask(validator(), policyObject())).toEqual({ uid: 'r1', allowed: true });
  });

  test.each(['optipod.io', 'optipod.optipod.io'])('invalid is refused with every problem, in group %s', (group) => {
    const object = policyObject({ name: 'p', spec: { mode: 'Observe', selector: {} } });
    const kind = { group, version: 'v1alpha1', kind: 'OptimizationPolicy' };
    expect(ask(validator(), object, { kind })).toEqual({
      uid: 'r1',
      allowed: false,
      status: {
        code: 422,
        reason: 'Invalid',
        message:
          'OptimizationPolicy "p" is invalid: spec.mode: "Observe" is not valid; accepted: Auto, Recommend, Disabled; spec.selector: the selector needs at least one of namespaceSelector, workloadSelector and namespaces',
      },
    });
  });

  test('with a factor above what the organisation allows is refused', () => {
    const { allowed, status } = ask(validator([], { limits: { maxSafetyFactor: 1.1 } }), policyObject());
    expect(allowed).toBe(false);
    expect(status?.message).toContain('accepted: 1 to 1.1 (rightsizing.limits.maxSafetyFactor)');
  });

  // Feature: k8s-workload-rightsizing, Property 15: Policy validation
  test('Property 15: is refused exactly when the operator could not read it', () => {
    const part = fc.constantFrom(...Object.keys(leastPolicySpec));
    fc.assert(
      fc.property(part, fc.jsonValue(), (field, value) => {
        const input = { spec: { [field]: value } };
        const { allowed, status } = ask(validator(), JSON.parse(JSON.stringify(policyObject(input))));
        expect(allowed).toBe(policyRecord(JSON.parse(JSON.stringify(input))).problems.length === 0);
        if (!allowed) expect(status?.message).toContain(`spec.${field}`);
      }),
      { numRuns: 300 },
    );
  });
});

describe('updates', () => {
  const bad = policyObject({ spec: { mode: 'Observe' } });
  const update = (object: object, oldObject: object) => ask(validator(), object, { operation: 'UPDATE', oldObject });

  test('from valid to invalid are refused', () => {
    expect(update(bad, policyObject()).allowed).toBe(false);
  });

  test('of labels and finalizers of a policy that is invalid already go through, with the problems as warnings', () => {
    const { allowed, warnings } = update({ ...bad, metadata: { ...bad.metadata, labels: { a: 'b' } } }, bad);
    expect(allowed).toBe(true);
    expect(warnings).toEqual(['optipod: spec.mode: "Observe" is not valid; accepted: Auto, Recommend, Disabled']);
  });

  test('of a policy that is being deleted go through', () => {
    expect(update(policyObject({ deleting: true, spec: { mode: 'x' } }), policyObject()).allowed).toBe(true);
  });
});

describe('warnings', () => {
  test('of two policies with one weight over the same workloads', () => {
    const { allowed, warnings } = ask(validator([{ name: 'old' }]), policyObject({ name: 'new' }));
    expect(allowed).toBe(true);
    expect(warnings).toEqual([
      'optipod: weight 100 is that of policy stowage-system/old too, and both select Deployment shop/web: the first by name counts',
    ]);
  });

  test('not of the policy with itself, of invalid ones, nor of other weights', () => {
    const known = [
      { name: 'new', uid: 'old' },
      { name: 'bad', spec: { mode: 'x' } },
      { name: 'low', spec: { weight: 1 } },
    ];
    expect(ask(validator(known), policyObject({ name: 'new', uid: 'fresh' })).warnings).toBeUndefined();
  });

  test('are few, however many policies tie', () => {
    const known = Array.from({ length: 10 }, (_, index) => ({ name: `p${index}` }));
    const { warnings = [] } = ask(validator(known), policyObject({ name: 'new' }));
    expect(warnings).toHaveLength(4);
    expect(warnings.at(-1)).toBe('optipod: 7 more policies have weight 100 and select some of the same workloads');
  });

  test('are printable and short enough to arrive', () => {
    const allow = Array.from({ length: 100 }, (_, index) => `namespace-${index}`);
    const object = policyObject({ namespace: 'shop', spec: { selector: { namespaces: { allow } } } });
    const { warnings = [] } = ask(validator(), object);
    expect(warnings).toHaveLength(1);
    for (const warning of warnings) expect(warning).toMatch(/^[\x20-\x7e]{1,250}$/);
  });
});

describe('what is none of its business is allowed', () => {
  const invalid = policyObject({ spec: { mode: 'x' } });
  test.each<[string, object]>([
    ['another kind', { kind: { group: '', version: 'v1', kind: 'Pod' } }],
    ['a group of others', { kind: { group: 'example.com', version: 'v1', kind: 'OptimizationPolicy' } }],
    ['a deletion', { operation: 'DELETE' }],
    ['a connection', { operation: 'CONNECT' }],
    ['a status', { operation: 'UPDATE', subResource: 'status' }],
    ['no object', { object: null }],
  ])('%s', (_, request) => {
    expect(ask(validator(), invalid, request)).toEqual({ uid: 'r1', allowed: true });
  });
});

describe('trouble of its own', () => {
  test('lets the policy through, for it is checked again when it is read', () => {
    const failing = validator([], {
      policies: () => {
        throw new Error('no stores yet');
      },
    });
    expect(ask(failing, policyObject())).toEqual({ uid: 'r1', allowed: true });
  });

  test('a body that is no review is a bad request', () => {
    expect(validator()('{')).toMatchObject({ status: 400 });
  });

  test('whatever the object, there is an answer', () => {
    const validate = validator();
    fc.assert(
      fc.property(fc.jsonValue(), (object) => {
        expect(typeof ask(validate, object).allowed).toBe('boolean');
      }),
    );
  });
});
