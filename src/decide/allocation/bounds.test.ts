import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bound, combineBounds, holdAt, type Layer, layers } from './bounds.ts';

const hard = (min?: number, max?: number): Bound => ({
  layer: 'hard',
  reason: 'LimitRange',
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
});

describe('claim and want within bounds', () => {
  test.each<[string, number, number, readonly Bound[], { claim: number; min: number; max: number }]>([
    ['no bounds', 200, 800, [], { claim: 200, min: 200, max: 800 }],
    ['a want below the claim', 200, 100, [], { claim: 200, min: 200, max: 200 }],
    ['a hard minimum raises the claim', 200, 800, [hard(300)], { claim: 300, min: 300, max: 800 }],
    ['and the want', 200, 250, [hard(300)], { claim: 300, min: 300, max: 300 }],
    ['a hard maximum cuts both', 200, 800, [hard(undefined, 150)], { claim: 150, min: 150, max: 150 }],
    [
      'a guard raises the lower bound, not the claim',
      200,
      800,
      [{ layer: 'pdb', reason: 'PodDisruptionBudget', min: 500 }],
      { claim: 200, min: 500, max: 800 },
    ],
    [
      'and the want where that is lower',
      200,
      300,
      [{ layer: 'pdb', reason: 'PodDisruptionBudget', min: 500 }],
      { claim: 200, min: 500, max: 500 },
    ],
    ['a hold keeps all three together', 200, 800, [holdAt(450, 'DataUnknown')], { claim: 450, min: 450, max: 450 }],
    ['a hold below the claim', 200, 800, [holdAt(150, 'DataUnknown')], { claim: 150, min: 150, max: 150 }],
  ])('%s', (_name, claim, want, bounds, wanted) => {
    expect(combineBounds(claim, want, bounds)).toMatchObject(wanted);
  });
});

describe('contradictions', () => {
  test('the annotation yields to what admission enforces', () => {
    const box = combineBounds(200, 800, [{ layer: 'annotation', reason: 'MaxCpu', max: 100 }, hard(300)]);
    expect(box).toMatchObject({ min: 300, max: 300 });
  });

  test('a guard yields to a hard maximum', () => {
    const box = combineBounds(200, 800, [{ layer: 'readiness', reason: 'Readiness', min: 500 }, hard(undefined, 400)]);
    expect(box).toMatchObject({ claim: 200, min: 400, max: 400 });
  });

  test('the order in which bounds are given does not matter', () => {
    const bounds: Bound[] = [
      { layer: 'step', reason: 'StepLimit', min: 450, max: 700 },
      { layer: 'annotation', reason: 'MaxCpu', max: 600 },
      hard(100),
    ];
    expect(combineBounds(200, 800, bounds)).toEqual(combineBounds(200, 800, [...bounds].reverse()));
  });
});

test('every clamp says which rule moved what from where to where', () => {
  const { clamps } = combineBounds(200, 800, [
    hard(300, 700),
    { layer: 'pdb', reason: 'PodDisruptionBudget', min: 500 },
  ]);
  expect(clamps).toEqual([
    { reason: 'LimitRange', what: 'min', before: 200, after: 300 },
    { reason: 'LimitRange', what: 'max', before: 800, after: 700 },
    { reason: 'PodDisruptionBudget', what: 'min', before: 300, after: 500 },
  ]);
});

test('floors above the claim are listed, softest last, so that they can be dropped', () => {
  const { floors } = combineBounds(200, 800, [
    { layer: 'step', reason: 'StepLimit', min: 600 },
    { layer: 'grace', reason: 'StartupGrace', min: 500 },
    { layer: 'pdb', reason: 'PodDisruptionBudget', min: 400 },
  ]);
  expect(floors.map(({ layer, min }) => [layer, min])).toEqual([
    ['grace', 500],
    ['step', 600],
  ]);
});

test('for any bounds: claim <= min <= max, all within the hard bounds, and floors between', () => {
  const amount = fc.integer({ min: 0, max: 1000 });
  const bound = fc.record({
    layer: fc.constantFrom<Layer>(...layers),
    reason: fc.constant('LimitRange' as const),
    min: amount,
    max: fc.oneof(amount, fc.constant(Number.POSITIVE_INFINITY)),
  });
  fc.assert(
    fc.property(amount, amount, fc.array(bound, { maxLength: 6 }), (claim, want, bounds) => {
      const box = combineBounds(claim, want, bounds);
      expect(box.claim).toBeLessThanOrEqual(box.min);
      expect(box.min).toBeLessThanOrEqual(box.max);
      const hardest = bounds.find(({ layer }) => layer === 'hard');
      if (hardest !== undefined) expect(box.max).toBeLessThanOrEqual(Math.max(hardest.min, hardest.max));
      for (const floor of box.floors) {
        expect(floor.min).toBeGreaterThan(box.claim);
        expect(floor.min).toBeLessThanOrEqual(box.min);
      }
    }),
    { numRuns: 2000 },
  );
});
