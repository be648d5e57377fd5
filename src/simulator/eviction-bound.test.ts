import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createEvictionBound } from './eviction-bound.ts';
import { createLedger } from './ledger.ts';
import { aFleet, aPodOf } from './testing/facts.ts';

describe('evictions are due', () => {
  test('for nothing while a workload grows and shrinks in order', () => {
    const bound = createEvictionBound(createLedger(createVirtualClock(0)));
    const ten = aFleet({ replicas: 10, spotPercentage: 70 });
    for (const pod of ten.pods.values()) bound.onPodAdded(ten, pod);
    bound.onWorkload(aFleet({ replicas: 4, spotPercentage: 70 }), ten);
    expect(bound.total()).toBe(0);
  });

  test('for the pods that change sides with the policy', () => {
    const bound = createEvictionBound(createLedger(createVirtualClock(0)));
    bound.onWorkload(aFleet({ replicas: 10, spotPercentage: 30 }), aFleet({ replicas: 10, spotPercentage: 70 }));
    expect([bound.total(), bound.describe('web')]).toEqual([4, '4 policy changed']);
  });

  test('for the places of a StatefulSet that change sides, also where as many change back: some pods are still to come', () => {
    const bound = createEvictionBound(createLedger(createVirtualClock(0)));
    // On-demand is slot 5 of five; with a floor of two, slots 1 and 2.
    const before = { ...aFleet({ replicas: 5, spotPercentage: 76 }), kind: 'StatefulSet', replicas: 12 } as const;
    const rule = before.rule && { ...before.rule, minOnDemand: { kind: 'count', count: 2 } as const };
    bound.onWorkload({ ...before, rule }, before);
    expect(bound.describe('web')).toBe('3 policy changed');
  });

  test('for what is on the wrong side when management begins', () => {
    const bound = createEvictionBound(createLedger(createVirtualClock(0)));
    const managed = aFleet({ replicas: 10, spotPercentage: 70 });
    const counts = { ...managed.counts, spot: 2 };
    bound.onWorkload({ ...managed, counts }, { ...managed, rule: undefined });
    expect(bound.describe('web')).toBe('5 management began');
  });

  test('for each pod of a StatefulSet that is not where its place is when management begins, as others are still to come', () => {
    const bound = createEvictionBound(createLedger(createVirtualClock(0)));
    // Slots 4 and 8 of eleven are spot.
    const managed = aFleet({ replicas: 11, spotPercentage: 25, rounding: 'floor' });
    const sides = ['spot', 'spot', 'on-demand', 'on-demand'] as const;
    const pods = sides.map((side, ordinal) => aPodOf(`web-${ordinal}`, { side, slot: undefined, capacity: undefined }));
    const facts = {
      ...managed,
      kind: 'StatefulSet',
      pods: new Map(pods.map((pod) => [pod.uid, pod])),
      counts: { ...managed.counts, spot: 2, onDemand: 2 },
    } as const;
    bound.onWorkload(facts, { ...facts, rule: undefined });
    expect(bound.describe('web')).toBe('3 management began');
  });

  test.each<[string, Parameters<typeof aPodOf>[1], string]>([
    ['a pod that was not steered', { slot: undefined }, '1 not steered'],
    ['temporary cover for a place on spot', { slot: 2, capacity: 'on-demand', isCover: true }, '1 cover'],
    ['a pod steered without the leader', { slot: 2, capacity: 'spot', isUnconfirmed: true }, '1 unconfirmed'],
    ['a pod in its place', { slot: 2, capacity: 'spot' }, ''],
    ['a pod for which no place was free', { slot: 6, capacity: 'spot' }, '1 places out of order'],
  ])('%s', (_, pod, due) => {
    const bound = createEvictionBound(createLedger(createVirtualClock(0)));
    // Slots 1, 3, 5 ... are on-demand at 50 % rounded down; 2 is spot.
    const facts = aFleet({ replicas: 4, spotPercentage: 50, rounding: 'floor' });
    bound.onPodAdded(facts, aPodOf('p', pod));
    expect(bound.describe('web')).toBe(due);
  });

  test('for places that a scale-down takes out of order, no more than it takes', () => {
    const bound = createEvictionBound(createLedger(createVirtualClock(0)));
    const before = aFleet({ replicas: 10, spotPercentage: 70, notReady: 3 });
    bound.onWorkload({ ...before, replicas: 8 }, before);
    expect(bound.describe('web')).toBe('2 places out of order');
  });
});

test('no more may be evicted of a workload than are due of it', () => {
  const ledger = createLedger(createVirtualClock(0));
  const bound = createEvictionBound(ledger);
  const facts = aFleet({ replicas: 4, spotPercentage: 50 });
  for (const uid of ['p', 'q']) bound.onPodAdded(facts, aPodOf(uid, { slot: undefined }));
  bound.onPodAdded({ ...facts, uid: 'api' }, aPodOf('r', { slot: undefined }));
  bound.onEvicted(facts);
  bound.onEvicted(facts);
  expect(ledger.violations()).toEqual([]);
  bound.onEvicted(facts);
  expect(ledger.violations()).toMatchObject([
    { invariant: 'bounded', detail: 'shop/web: 3 evictions, 2 explained: 2 not steered' },
  ]);
});
