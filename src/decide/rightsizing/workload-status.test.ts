import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseQuantity, toBytes, toMillicores } from '../../lib/quantity.ts';
import { NOON } from '../../model/testing/records.ts';
import { MIB, smallSize } from '../../model/testing/sizing-records.ts';
import { noAdvice, type ResourceAdvice } from './advice.ts';
import type { SizedAdvice } from './recommend-workload.ts';
import { dueAdvice } from './testing/advice.ts';
import { containerRecommendation, explain, workloadStatus } from './workload-status.ts';

const to = (target: number): ResourceAdvice => ({
  ...dueAdvice(target),
  notes: [
    { stage: 'target', value: target, text: 'usage' },
    { stage: 'change', value: target, text: 'worth it' },
  ],
});
const advice = (changes: Partial<SizedAdvice> = {}): SizedAdvice => ({
  container: 'app',
  current: smallSize,
  cpu: to(250),
  memory: to(64 * MIB),
  ...changes,
});
const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const input = {
  workload: web,
  advice: [advice()],
  outcome: { status: 'Recommended' },
  lastRecommendation: NOON,
  lastApplied: undefined,
  lastApplyMethod: undefined,
  fieldOwnership: undefined,
} as const;

describe('the entry of a workload', () => {
  test('has the format of the design', () => {
    expect(workloadStatus(input)).toEqual({
      name: 'web',
      namespace: 'shop',
      kind: 'Deployment',
      lastRecommendation: '2026-03-02T12:00:00Z',
      recommendations: [
        {
          container: 'app',
          cpu: '250m',
          memory: '64Mi',
          explanation: 'cpu: target: usage, change: worth it; memory: target: usage, change: worth it',
        },
      ],
      status: 'Recommended',
    });
  });

  test('tells when and how it was applied, and why not', () => {
    const applied = workloadStatus({ ...input, lastApplied: NOON + 1000, lastApplyMethod: 'InPlace' });
    expect(applied).toMatchObject({ lastApplied: '2026-03-02T12:00:01Z', lastApplyMethod: 'InPlace' });
    const outcome = { status: 'Skipped', reason: 'NoData', message: 'x'.repeat(900) } as const;
    const skipped = workloadStatus({ ...input, outcome });
    expect(skipped).toMatchObject({ status: 'Skipped', reason: 'NoData' });
    expect(skipped.message).toHaveLength(400);
  });

  test('a resource that nothing is known of has no value, never 0', () => {
    const entry = containerRecommendation(advice({ cpu: noAdvice('NoData', 'no CPU usage is known') }));
    expect(entry).not.toHaveProperty('cpu');
    expect(entry.explanation).toContain('no CPU usage is known');
  });

  test('without advice there is no list', () => {
    expect(workloadStatus({ ...input, advice: [] })).not.toHaveProperty('recommendations');
  });

  // Feature: k8s-workload-rightsizing, Property 23: the status tells when the last recommendation and the last change were.
  // Feature: k8s-workload-rightsizing, Property 24: the status tells why a change was skipped.
  test('Property 23, Property 24: for any times and outcome, the entry tells them', () => {
    const time = fc.option(fc.integer({ min: 0, max: 4e12 }), { nil: undefined });
    fc.assert(
      fc.property(time, time, fc.constantFrom('NoData', 'HpaTarget', 'Cooldown'), (recommended, applied, reason) => {
        const outcome = { status: 'Skipped', reason, message: `because of ${reason}` } as const;
        const entry = workloadStatus({ ...input, outcome, lastRecommendation: recommended, lastApplied: applied });
        const seconds = (at: number | undefined) => (at === undefined ? undefined : Math.floor(at / 1000) * 1000);
        const read = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
        expect(read(entry.lastRecommendation)).toBe(seconds(recommended));
        expect(read(entry.lastApplied)).toBe(seconds(applied));
        expect(entry).toMatchObject({ status: 'Skipped', reason, message: `because of ${reason}` });
      }),
      { numRuns: 150 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 10: a recommendation has CPU and memory of each container in a structured form.
  test('Property 10: for any containers and amounts, each has its canonical quantities in order', () => {
    const container = fc.tuple(fc.integer({ min: 1, max: 64_000 }), fc.integer({ min: 1, max: 2 ** 40 }));
    fc.assert(
      fc.property(fc.array(container, { minLength: 1, maxLength: 5 }), (all) => {
        const list = all.map(([cpu, memory], index) =>
          advice({ container: `c${index}`, cpu: to(cpu), memory: to(memory) }),
        );
        const { recommendations = [] } = workloadStatus({ ...input, advice: list });
        expect(recommendations.map(({ container: name }) => name)).toEqual(all.map((_, index) => `c${index}`));
        const amounts = recommendations.map(({ cpu = '', memory = '' }) => [
          toMillicores(parseQuantity(cpu)),
          toBytes(parseQuantity(memory)),
        ]);
        expect(amounts).toEqual(all);
        for (const { cpu, memory, explanation } of recommendations) {
          expect(cpu).toMatch(/^\d+m?k?$/);
          expect(memory).toMatch(/^\d+([KMGTPE]i|k)?$/);
          expect(explanation).not.toBe('');
        }
      }),
      { numRuns: 150 },
    );
  });

  test('a long story is cut', () => {
    const notes = Array.from({ length: 60 }, () => ({ stage: 'target', value: 1, text: 'a long text' }) as const);
    const entry = containerRecommendation(advice({ cpu: { ...to(1), notes } }));
    expect(entry.explanation).toHaveLength(700);
    expect(explain({ ...to(1), notes })).toContain('target: a long text, target');
  });
});
