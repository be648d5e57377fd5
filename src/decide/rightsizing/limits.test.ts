import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyLimitRule } from './limits.ts';
import type { LimitRule } from './policy.ts';

const current = { request: 500, limit: 1000, leastLimit: 0 };

describe('limits', () => {
  test.each<[string, number, LimitRule, number, number | undefined]>([
    ['kept, when the request is below it', 800, { policy: 'Keep' }, 800, undefined],
    ['kept, capping the request', 1200, { policy: 'Keep' }, 1000, undefined],
    ['in the same ratio', 600, { policy: 'Ratio' }, 600, 1200],
    ['with absolute headroom', 600, { policy: 'Headroom', headroom: 100 }, 600, 700],
    ['optipod: CPU times 1.0', 600, { policy: 'Multiplier', factor: 1 }, 600, 600],
    ['optipod: memory times 1.1, cut', 605, { policy: 'Multiplier', factor: 1.1 }, 605, 665],
  ])('%s', (_name, request, rule, expectedRequest, expectedLimit) => {
    expect(applyLimitRule(request, rule, current)).toMatchObject({ request: expectedRequest, limit: expectedLimit });
  });

  test('rightsizing bug 7: the ratio 4:3 of 548861636 bytes is whole bytes, up', () => {
    const ratio = { request: 300, limit: 400, leastLimit: 0 };
    expect(applyLimitRule(548_861_636, { policy: 'Ratio' }, ratio).limit).toBe(731_815_515);
  });

  test('a container without a limit gets none', () => {
    const none = { request: 500, limit: undefined, leastLimit: 900 };
    expect(applyLimitRule(600, { policy: 'Ratio' }, none)).toEqual({ request: 600, limit: undefined, text: undefined });
  });

  test('a limit without a request keeps them equal', () => {
    expect(applyLimitRule(600, { policy: 'Ratio' }, { request: undefined, limit: 1000, leastLimit: 0 }).limit).toBe(
      600,
    );
  });

  test('rightsizing bug 29: is never below the highest use seen, and says so', () => {
    const result = applyLimitRule(300, { policy: 'Ratio' }, { ...current, leastLimit: 900.5 });
    expect(result.limit).toBe(901);
    expect(result.text).toContain('highest use');
  });

  test.each<[string, number, number]>([
    ['which would fall, stays where it is', 300, 1000],
    ['which rises, is not kept from that', 1200, 1320],
  ])('one that may not be lowered, and %s', (_, request, expected) => {
    const multiplier: LimitRule = { policy: 'Multiplier', factor: 1.1 };
    const { limit, text } = applyLimitRule(request, multiplier, { ...current, keptFor: 'it is too soon' });
    expect(limit).toBe(expected);
    expect(text?.endsWith(': it is too soon')).toBe(expected === 1000);
  });

  const rules = fc.oneof(
    fc.constant<LimitRule>({ policy: 'Keep' }),
    fc.constant<LimitRule>({ policy: 'Ratio' }),
    fc.nat(1000).map((headroom): LimitRule => ({ policy: 'Headroom', headroom })),
    fc.double({ min: 1, max: 10, noNaN: true }).map((factor): LimitRule => ({ policy: 'Multiplier', factor })),
  );
  const amounts = fc.integer({ min: 1, max: 1e12 });

  test('for any rule, the request is never above its limit, and both are whole', () => {
    fc.assert(
      fc.property(amounts, rules, amounts, amounts, fc.nat(1e12), (request, rule, was, limit, leastLimit) => {
        const result = applyLimitRule(request, rule, { request: was, limit, leastLimit });
        expect(result.request).toBeLessThanOrEqual(result.limit ?? limit);
        expect(Number.isInteger(result.request) && Number.isInteger(result.limit ?? 0)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 3: for any update, limits stay as they are unless the policy says otherwise.
  test('Property 3: for any request, Keep leaves the limit alone', () => {
    fc.assert(
      fc.property(
        amounts,
        fc.option(amounts, { nil: undefined }),
        fc.option(amounts, { nil: undefined }),
        (request, was, limit) => {
          expect(
            applyLimitRule(request, { policy: 'Keep' }, { request: was, limit, leastLimit: 0 }).limit,
          ).toBeUndefined();
        },
      ),
      { numRuns: 200 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 5: for any memory decrease, nothing is set that usage would break.
  test('Property 5: for any rule, a limit that is set is at least the highest use seen', () => {
    fc.assert(
      fc.property(amounts, rules, amounts, amounts, amounts, (request, rule, was, limit, leastLimit) => {
        const set = applyLimitRule(request, rule, { request: was, limit, leastLimit }).limit;
        if (set !== undefined) expect(set).toBeGreaterThanOrEqual(leastLimit);
      }),
      { numRuns: 200 },
    );
  });
});
