import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { podsOf } from '../../model/owners.ts';
import type { PodRecord } from '../../model/records.ts';
import { viewOf } from '../testing/plan-shop.ts';
import { shopCluster, workload } from '../testing/shop.ts';
import { admissionText, createAdmissionFeed, rangesText } from './admission-feed.ts';

const view = viewOf([
  ...shopCluster(),
  ...workload({ name: 'web', pods: ['spot-1', 'spot-1', 'od-1'] }),
  ...workload({ kind: 'StatefulSet', name: 'db', pods: ['od-1'] }),
]);
const podsNamed = (kind: string, name: string): readonly PodRecord[] => {
  const found = view.workload({ kind, namespace: 'shop', name });
  return found === undefined ? [] : podsOf(view, found);
};
const web = podsNamed('Deployment', 'web').map(
  (pod, index): PodRecord => ({ ...pod, slot: index + 1, capacity: index === 2 ? 'on-demand' : 'spot' }),
);
const db = podsNamed('StatefulSet', 'db').map((pod): PodRecord => ({ ...pod, slot: 1, capacity: 'on-demand' }));

describe('createAdmissionFeed', () => {
  function feed() {
    const clock = createVirtualClock(0);
    const told: string[] = [];
    return { clock, told, admissions: createAdmissionFeed({ view, clock, emit: ({ text }) => void told.push(text) }) };
  }

  test('pods that come together are one line a workload', async () => {
    const { clock, told, admissions } = feed();
    for (const pod of [...web, ...db]) admissions.add(pod);
    expect(told).toEqual([]);
    await clock.advance(500);
    expect(told).toEqual([
      'shop/web: Admitted 3 pods: slots 1-2 to spot, 3 to on-demand',
      'shop/db: Admitted 1 pod: slot 1 to on-demand',
    ]);
    await clock.advance(5000);
    expect(told).toHaveLength(2);
  });

  test('pods without a slot were not steered and are not told', async () => {
    const { clock, told, admissions } = feed();
    for (const pod of web) admissions.add({ ...pod, slot: undefined });
    await clock.advance(1000);
    expect(told).toEqual([]);
  });

  test('after its end nothing is told and no timer is left', async () => {
    const { clock, told, admissions } = feed();
    for (const pod of web) admissions.add(pod);
    admissions.stop();
    expect(clock.pendingTimers()).toBe(0);
    await clock.advance(1000);
    expect(told).toEqual([]);
  });
});

test.each([
  [[], ''],
  [[3], '3'],
  [[2, 1, 3, 5], '1-3, 5'],
  [[4, 2, 2], '2, 4'],
])('rangesText(%j) is %j', (numbers, expected) => {
  expect(rangesText(numbers)).toBe(expected);
});

test('admissionText names one slot in the singular', () => {
  expect(admissionText(db)).toBe('Admitted 1 pod: slot 1 to on-demand');
});
