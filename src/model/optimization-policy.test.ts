import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isValidPolicy, parsePolicy, policyKey } from './optimization-policy.ts';
import { policyObject, policyRecord, validPolicy } from './testing/policies.ts';

describe('a policy object', () => {
  test('is identified by group, namespace and name, and told apart by uid', () => {
    const policy = validPolicy({ name: 'p', namespace: 'shop', uid: 'u1', group: 'optipod.optipod.io' });
    expect(policy).toMatchObject({
      group: 'optipod.optipod.io',
      namespace: 'shop',
      name: 'p',
      uid: 'u1',
      resourceVersion: '1',
      generation: 1,
      createdAt: Date.UTC(2026, 0, 31),
      deleting: false,
      problems: [],
    });
    expect(policyKey(policy)).toBe('optipod.optipod.io/shop/p');
  });

  test('keeps its status, the history of its workloads', () => {
    const status = {
      workloads: [{ name: 'web', namespace: 'shop', kind: 'Deployment', lastApplied: '2026-01-01T00:00:00Z' }],
    };
    expect(policyRecord({ status }).status).toEqual(status);
    expect(policyRecord().status).toEqual({});
  });

  test('is kept as invalid with its problems, status included', () => {
    const policy = policyRecord({ spec: { mode: 'x' }, status: { workloadsDiscovered: 3 } });
    expect(isValidPolicy(policy)).toBe(false);
    expect(policy).toMatchObject({ spec: undefined, status: { workloadsDiscovered: 3 } });
    expect(policy.problems).toEqual(['spec.mode: "x" is not valid; accepted: Auto, Recommend, Disabled']);
  });

  test('that is being deleted says so', () => {
    expect(policyRecord({ deleting: true }).deleting).toBe(true);
  });

  test('may not exceed the organisation’s factor', () => {
    const parse = (maxSafetyFactor?: number) => parsePolicy('optipod.io', policyObject(), { maxSafetyFactor });
    expect(isValidPolicy(parse(1.2))).toBe(true);
    expect(isValidPolicy(parse(1.1))).toBe(false);
    expect(isValidPolicy(parse())).toBe(true);
  });

  test('optipod defect B9a: a malformed object is one bad record, whatever it holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (spec, status) => {
        const object = JSON.parse(JSON.stringify({ metadata: { name: 'x', namespace: 'y' }, spec, status }));
        const policy = parsePolicy('optipod.io', object);
        expect(policy.name).toBe('x');
        expect(policy.problems.length > 0).toBe(!isValidPolicy(policy));
      }),
      { numRuns: 300 },
    );
  });

  test('an object without metadata does no harm', () => {
    expect(parsePolicy('optipod.io', {})).toMatchObject({ name: '', uid: '', createdAt: 0, deleting: false });
  });
});
