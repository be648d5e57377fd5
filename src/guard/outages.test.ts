/**
 * Spot comes, goes and is taken away at random: plan, guards, admission and the memory of spot together, in model time.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planWorkload } from '../decide/placement/converge.ts';
import { mix, viewOf, type World } from '../decide/placement/testing/world.ts';
import { createSeededRandom } from '../lib/random.ts';
import { isLive } from '../model/owners.ts';

import { anyEvents, aWorld, live, MINUTE, type SpotEvent } from './testing/spot-life.ts';

describe('a life with spot that comes and goes', () => {
  const anyLife = fc.record({
    kind: fc.constantFrom('Deployment' as const, 'StatefulSet' as const),
    percentage: fc.integer({ min: 0, max: 100 }),
    floor: fc.nat({ max: 3 }),
    returnPerWindow: fc.constantFrom(1, 2, 10),
    events: anyEvents,
    seed: fc.nat(),
  });

  test('hazard H6, bug 8, bug 16: ends exact; never more moves than covers, one pod at a time, the floor is not moved away', () => {
    fc.assert(
      fc.property(anyLife, ({ kind, percentage, floor, returnPerWindow, events, seed }) => {
        const fallback = { afterMillis: 5 * MINUTE, returnPerWindow, maxConcurrent: 50, maxPercent: 100 };
        const world = aWorld(kind, percentage, floor, { fallback });
        const told = live({ world, events, random: createSeededRandom(seed), calmMinutes: 13 * 60 });
        const view = viewOf(world);
        const { sides, settings, workload, now } = world;
        const plan = planWorkload({ view, sides, workload, settings, policy: world.readPolicy(view, workload), now });
        expect(mix(world)).toEqual([plan.target?.spot, plan.target?.onDemand]);
        expect(world.pods.every((pod) => isLive(pod) && pod.ready)).toBe(true);
        expect(told.movesAt.length).toBeLessThanOrEqual(told.covers + told.outOfOrder);
        expect(told.mostUnready).toBeLessThanOrEqual(1);
        expect(told.floorBroken).toBe(0);
        // At rest means at rest: the last hours brought nothing.
        expect(told.movesAt.filter((at) => at > now - 60 * MINUTE)).toEqual([]);
        for (const [index, at] of told.returnsAt.entries()) {
          const before = told.returnsAt[index - returnPerWindow];
          if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(60 * MINUTE);
        }
      }),
      { numRuns: 25 },
    );
  });

  test('in read-only mode nothing is moved and nothing recreated', () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(), (events, seed) => {
        const world = aWorld('Deployment', 60, 1);
        live({ world, events: [], random: createSeededRandom(seed), calmMinutes: 5 });
        const readOnly: World = { ...world, settings: { ...world.settings, readOnly: true } };
        // Admission leaves pods unsteered in read-only mode, so only what is there already is at stake.
        const away = events.filter(({ kind }) => kind === 'spot-away' || kind === 'spot-back');
        readOnly.pods = readOnly.pods.map((pod) =>
          pod.capacity === 'spot'
            ? { ...pod, nodeName: undefined, phase: 'Pending', ready: false, unschedulableSince: readOnly.now }
            : pod,
        );
        const told = live({
          world: readOnly,
          events: [{ kind: 'spot-away', afterMinutes: 0 }, ...away.filter(({ kind }) => kind === 'spot-away')],
          random: createSeededRandom(seed),
          calmMinutes: 30,
        });
        expect(told.fallbacks).toBe(0);
        expect(told.movesAt).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });

  test('hazard H6: spot that flaps for a day moves pods a handful of times', () => {
    const events = Array.from({ length: 72 }, (_, index): SpotEvent[] => [
      { kind: 'spot-away', afterMinutes: 10 },
      { kind: index % 3 === 0 ? 'reclaim' : 'spot-away', afterMinutes: 1 },
      { kind: 'spot-back', afterMinutes: 9 },
    ]).flat();
    const fallback = { afterMillis: 5 * MINUTE, returnPerWindow: 10, maxConcurrent: 50, maxPercent: 100 };
    const world = aWorld('Deployment', 75, 1, { fallback });
    const told = live({ world, events, random: createSeededRandom(3), calmMinutes: 12 * 60 });
    expect(mix(world)).toEqual([3, 1]);
    expect(told.movesAt.length).toBeLessThanOrEqual(told.covers);
    // A day has 72 rounds; three pods there and back in each would be 216 moves.
    expect(told.movesAt.length).toBeLessThanOrEqual(72);
  });

  test('the same life twice is the same life', () => {
    const lives = [5, 5].map((seed) => {
      const world = aWorld('Deployment', 75, 1);
      const events: SpotEvent[] = [
        { kind: 'spot-away', afterMinutes: 5 },
        { kind: 'reclaim', afterMinutes: 1 },
        { kind: 'spot-back', afterMinutes: 20 },
      ];
      return live({ world, events, random: createSeededRandom(seed), calmMinutes: 300 }).movesAt;
    });
    expect(lives[0]).toEqual(lives[1]);
    expect(lives[0]?.length).toBeGreaterThan(0);
  });
});
