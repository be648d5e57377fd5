import { expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import { aDeployment, aPod, aReplicaSet, aTemplate, CAPACITY_TYPE, someSettings } from '../../model/testing/records.ts';
import { foreignPin } from './foreign-pin.ts';

const sides = createSides(someSettings().nodeClasses);
const onDemand = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } });

test.each<[string, Partial<PodRecord>, string | undefined]>([
  ['that something else pinned', { pinned: true, template: onDemand }, 'on-demand'],
  ['that Stowage pinned', { template: onDemand, capacity: 'on-demand' }, undefined],
  ['that a webhook after Stowage’s sent to the other side', { template: onDemand, capacity: 'spot' }, 'on-demand'],
  ['that its template pins, and nobody stamped', { template: onDemand }, undefined],
  ['that pins no side, by the configuration in force', { pinned: true }, undefined],
])('of a pod %s', (_, changes, expected) => {
  expect(foreignPin(sides, aPod(aReplicaSet(aDeployment()), 'p', changes))).toBe(expected);
});
