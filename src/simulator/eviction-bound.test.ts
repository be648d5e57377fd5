import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createEvictionBound } from './eviction-bound.ts';
import { aFleet, aPodOf } from './testing/facts.ts';

const clock = createVirtualClock(0);

describe('evictions are due', () => {
  test('for a pod that was being made while its workload shrank, and no longer', async () => {
    const bound = createEvictionBound(clock);
    const [ten, four] = [10, 4].map((replicas) => aFleet({ replicas, spotPercentage: 100 }));
    if (ten === undefined || four === undefined) throw new Error('two fleets');
    bound.onWorkload(four, ten);
    bound.onPodAdded(four, aPodOf('late', { slot: 7 }));
    expect(bound.describe('web')).toBe('1 places out of order');
    await clock.advance(10_000);
    bound.onPodAdded(four, aPodOf('later', { slot: 8 }));
    bound.onPodAdded(four, aPodOf('fourth', { slot: 4 }));
    expect(bound.total()).toBe(1);
    bound.onPodAdded(four, aPodOf('refused', { slot: 9 }), true);
    expect(bound.total()).toBe(2);
  });

  test('for nothing while a workload grows and shrinks in order', () => {
    const bound = createEvictionBound(clock);
    const ten = aFleet({ replicas: 10, spotPercentage: 70 });
    for (const pod of ten.pods.values()) bound.onPodAdded(ten, pod);
    bound.onWorkload(aFleet({ replicas: 4, spotPercentage: 70 }), ten);
    expect(bound.total()).toBe(0);
  });

  test('for the pods that change sides with the policy', () => {
    const bound = createEvictionBound(clock);
    bound.onWorkload(aFleet({ replicas: 10, spotPercentage: 30 }), aFleet({ replicas: 10, spotPercentage: 70 }));
    expect([bound.of('web'), bound.describe('web')]).toEqual([4, '4 policy changed']);
  });

  test('for what is on the wrong side when management begins', () => {
    const bound = createEvictionBound(clock);
    const managed = aFleet({ replicas: 10, spotPercentage: 70 });
    const counts = { ...managed.counts, spot: 2 };
    bound.onWorkload({ ...managed, counts }, { ...managed, rule: undefined });
    expect(bound.describe('web')).toBe('5 management began');
  });

  test.each<[string, Parameters<typeof aPodOf>[1], string]>([
    ['a pod that was not steered', { slot: undefined }, '1 not steered'],
    ['temporary cover for a place on spot', { slot: 2, capacity: 'on-demand', isCover: true }, '1 cover'],
    ['a pod steered without the leader', { slot: 2, capacity: 'spot', isUnconfirmed: true }, '1 unconfirmed'],
    ['a pod in its place', { slot: 2, capacity: 'spot' }, ''],
  ])('%s', (_, pod, due) => {
    const bound = createEvictionBound(clock);
    // Slots 1, 3, 5 ... are on-demand at 50 % rounded down; 2 is spot.
    const facts = aFleet({ replicas: 4, spotPercentage: 50, rounding: 'floor' });
    bound.onPodAdded(facts, aPodOf('p', pod));
    expect(bound.describe('web')).toBe(due);
  });

  test('for places that a scale-down takes out of order, no more than it takes', () => {
    const bound = createEvictionBound(clock);
    const before = aFleet({ replicas: 10, spotPercentage: 70, notReady: 3 });
    bound.onWorkload({ ...before, replicas: 8 }, before);
    expect(bound.describe('web')).toBe('2 places out of order');
  });
});
