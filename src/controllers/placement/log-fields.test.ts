import { expect, test } from 'vitest';
import { evictionOf, place, plan, worldOf } from '../../decide/placement/testing/world.ts';
import { evict } from '../../guard/testing/scene.ts';
import { moveFields } from './log-fields.ts';

test('case 76: a move is told with what there is and what is wanted, by the names of Spotalis', () => {
  const world = worldOf(10, 70, 1);
  place(world, 9, 1);
  const decision = evictionOf(plan(world));
  if (decision === undefined) throw new Error('nothing is moved');
  expect(moveFields(decision, 'node-1')).toEqual({
    controller: 'deployment-controller',
    namespace: 'shop',
    name: 'web',
    kind: 'Deployment',
    workload_type: 'deployment',
    replicas: 10,
    current_spot: 9,
    current_on_demand: 1,
    desired_spot: 7,
    desired_on_demand: 3,
    spot_percentage: 70,
    min_on_demand: 1,
    pod: decision.pod.name,
    node: 'node-1',
    reason: '9 on spot, 7 wanted: one moves to on-demand',
  });
});

test('what a decision does not rest on is left out', () => {
  expect(Object.keys(moveFields(evict(), undefined))).toEqual([
    'controller',
    'namespace',
    'name',
    'kind',
    'workload_type',
    'pod',
    'node',
    'reason',
  ]);
});
