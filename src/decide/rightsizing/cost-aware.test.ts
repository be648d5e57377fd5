import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cheapestRequest, costOf } from './cost-aware.ts';
import type { UsageDistribution, UsagePiece } from './usage-distribution.ts';

const weights = { exceeded: 20, base: 0, missing: 2 };

const distributions = fc
  .array(
    fc.record({
      width: fc.double({ min: 1, max: 500, noNaN: true }),
      gap: fc.nat(2000),
      weight: fc.integer({ min: 1, max: 50 }),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((list): UsageDistribution => {
    const total = list.reduce((sum, { weight }) => sum + weight, 0);
    let at = 0;
    const pieces = list.map(({ width, gap, weight }): UsagePiece => {
      const low = at + gap;
      at = low + width;
      return { low, high: at, share: weight / total };
    });
    return { pieces, mean: pieces.reduce((sum, { low, high, share }) => sum + (share * (low + high)) / 2, 0) };
  });

describe('cheapest request', () => {
  test('for any usage, no other request costs noticeably less', () => {
    fc.assert(
      fc.property(distributions, fc.double({ min: 0, max: 1.2, noNaN: true }), (usage, fraction) => {
        const highest = usage.pieces.at(-1)?.high ?? 0;
        const best = cheapestRequest(usage, weights);
        const other = costOf(usage, fraction * highest, weights);
        // Between two places that are tried the cost is lower by a small part of the piece's width at most.
        const widest = Math.max(...usage.pieces.map(({ low, high }) => high - low));
        const slope = 1 + (weights.exceeded * usage.mean) / widest + weights.missing;
        expect(best.cost).toBeLessThanOrEqual(other.cost + (widest * slope) / 4 + 1e-6);
      }),
      { numRuns: 300 },
    );
  });

  test('for any usage, its figures are those of pricing that request alone', () => {
    fc.assert(
      fc.property(distributions, (usage) => {
        const best = cheapestRequest(usage, weights);
        const alone = costOf(usage, best.request, weights);
        expect(best.exceeded).toBeCloseTo(alone.exceeded, 6);
        expect(best.missing).toBeCloseTo(alone.missing, 4);
        expect(best.cost / alone.cost).toBeCloseTo(1, 6);
      }),
      { numRuns: 200 },
    );
  });

  test('for any usage, it never reserves more than was ever used', () => {
    fc.assert(
      fc.property(distributions, (usage) => {
        expect(cheapestRequest(usage, weights).request).toBeLessThanOrEqual(usage.pieces.at(-1)?.high ?? 0);
      }),
    );
  });

  test('covers all of a steady use', () => {
    const steady: UsageDistribution = { pieces: [{ low: 95, high: 105, share: 1 }], mean: 100 };
    expect(cheapestRequest(steady, weights).request).toBe(105);
  });

  test('leaves a rare burst of fifty times the usual to free capacity', () => {
    const bursty: UsageDistribution = {
      pieces: [
        { low: 90, high: 100, share: 0.99 },
        { low: 4900, high: 5000, share: 0.01 },
      ],
      mean: 144,
    };
    expect(cheapestRequest(bursty, weights).request).toBe(100);
  });

  test('reserves for bursts that are there half of the time', () => {
    const busy: UsageDistribution = {
      pieces: [
        { low: 90, high: 100, share: 0.5 },
        { low: 900, high: 1000, share: 0.5 },
      ],
      mean: 522,
    };
    expect(cheapestRequest(busy, weights).request).toBeGreaterThan(900);
  });

  test('the dearer the shortfall, the larger the request', () => {
    fc.assert(
      fc.property(
        distributions,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        (usage, price, more) => {
          const cheap = cheapestRequest(usage, { exceeded: price, base: 0, missing: 0 }).request;
          const dear = cheapestRequest(usage, { exceeded: price + more, base: 0, missing: 0 }).request;
          expect(dear).toBeGreaterThanOrEqual(cheap - 1e-9);
        },
      ),
      { numRuns: 200 },
    );
  });
});
