import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultAllocationRules } from './rules.ts';
import { steadySum } from './steady-sum.ts';
import { runLoop } from './testing/cpu-model.ts';
import { testPod, testRules } from './testing/pods.ts';

const seat = (request: number, claim = 100) => ({ original: { request, limit: undefined }, box: { claim } });
const requests = { apply: 'requests+ceilings', surplusShare: 0 } as const;

describe('what requests add up to', () => {
  test.each([
    ['what users asked for', [seat(100), seat(600)], 1800, requests, 700],
    ['a claim above it counts', [seat(100, 800), seat(600)], 1800, requests, 1400],
    ['never more than there is', [seat(1500), seat(600)], 1800, requests, 1800],
    ['half of what is free', [seat(100), seat(600)], 1700, { ...requests, surplusShare: 0.5 }, 1200],
    ['all of it', [seat(100)], 1700, { ...requests, surplusShare: 1 }, 1700],
    ['limits are no requests', [seat(100)], 1700, { apply: 'limits', surplusShare: 0 } as const, 1700],
    ['nobody', [], 1700, requests, 0],
  ])('%s', (_name, seats, capacity, rules, sum) => {
    expect(steadySum(seats, { capacity, nominal: capacity }, rules).sum).toBe(sum);
  });

  test('what is not given away is told with its figures', () => {
    expect(steadySum([seat(700)], { capacity: 1800, nominal: 1800 }, requests).clamps).toEqual([
      { reason: 'SteadySum', what: 'capacity', before: 1800, after: 700 },
    ]);
    expect(steadySum([seat(1800)], { capacity: 1800, nominal: 1800 }, requests).clamps).toEqual([]);
  });

  test('something outside of pods is busy: requests stay, or pods had even less against it; limits never fall below claims', () => {
    const seats = [seat(600, 200), seat(600, 200)];
    const busy = { capacity: 150, nominal: 1700 };
    expect(steadySum(seats, busy, requests).sum).toBe(1200);
    expect(steadySum(seats, busy, { ...requests, surplusShare: 1 }).sum).toBe(1200);
    expect(steadySum(seats, busy, { apply: 'limits', surplusShare: 0 }).sum).toBe(400);
  });

  test('for any pods it is within capacity, and enough for every claim that fits', () => {
    const anySeat = fc.tuple(fc.nat(2000), fc.nat(2000)).map(([request, claim]) => seat(request, claim));
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(anySeat, { maxLength: 20 }), fc.nat(20_000), share, (seats, capacity, surplusShare) => {
        const { sum } = steadySum(seats, { capacity, nominal: capacity }, { ...requests, surplusShare });
        const claims = seats.reduce((total, each) => total + each.box.claim, 0);
        expect(sum).toBeLessThanOrEqual(capacity);
        expect(sum).toBeGreaterThanOrEqual(Math.min(capacity, claims));
      }),
      { numRuns: 300 },
    );
  });
});

test('by default a node never looks fuller than its users made it, and the starved pod recovers all the same', () => {
  const weight = (value: number) => ({ 'mbcas.io/weight': `${value}` });
  const pods = [
    { pod: testPod('a', { request: 100, marks: weight(4) }), load: () => 800 },
    { pod: testPod('b', { request: 400, marks: weight(2) }), load: () => 300 },
    { pod: testPod('hog', { request: 400, marks: weight(1) }), load: () => 3000 },
  ];
  const { surplusShare } = defaultAllocationRules;
  const moments = runLoop(pods, { seconds: 240, cores: 1670, input: { rules: { ...testRules, surplusShare } } });
  expect(surplusShare).toBe(0);
  for (const { requests: found } of moments)
    expect(Object.values(found).reduce((sum, request) => sum + request, 0)).toBeLessThanOrEqual(900);
  expect(moments[3]?.served['a']).toBeGreaterThan(790);
  expect(moments.at(-1)?.served['b']).toBeGreaterThan(299);
  expect(moments.at(-1)?.served['hog']).toBeGreaterThan(300);
  expect(moments.slice(-60).every(({ writes }) => writes === 0)).toBe(true);
});
