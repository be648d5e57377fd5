/** What goes on in each replica of the operator, whoever leads. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { createMetrics } from '../lib/metrics.ts';
import { ask, podOf, reviewOf } from '../webhook/testing/admission-world.ts';
import { deploymentObject } from './testing/embedded-world.ts';
import { inShop, MINUTE, policy, startWorld } from './testing/steps.ts';

test('places given while pods could not be followed are kept, though nobody asked meanwhile', async () => {
  const metrics = createMetrics();
  const world = await startWorld({ metrics });
  world.server.faults.add({ verbs: ['create'], resources: ['pods'], effect: { kind: 'status', code: 403 } });
  const deployment = deploymentObject({ name: 'web', replicas: 10, annotations: policy(70) });
  await world.api.create(resources.deployments, deployment, inShop);
  await world.clock.advance(MINUTE);
  const { items } = await world.api.list(resources.replicaSets, inShop);
  const { name = '', uid = '' } = items[0]?.metadata ?? {};
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true }];
  const placeOf = async (request: string): Promise<unknown> => {
    const review = reviewOf(request, podOf({ metadata: { ownerReferences } }));
    const { patch = [] } = await ask(world.operator().admit, review);
    const stamps = patch.find(({ path }) => path === '/metadata/annotations');
    return stamps?.op === 'add' ? Reflect.get(Object(stamps.value), 'spotalis.io/slot') : undefined;
  };
  const isFollowed = async (): Promise<boolean> =>
    /^stowage_informer_age_seconds\{resource="pods"\} 0$/m.test(await metrics.render());

  expect(await placeOf('a')).toBe('1');
  const outage = world.server.faults.add({ resources: ['pods'], effect: { kind: 'outage' } });
  await world.clock.advance(10 * MINUTE);
  expect(await isFollowed()).toBe(false);
  outage.remove();
  await world.until('pods are followed again', isFollowed);
  expect(await placeOf('b')).toBe('2');
  await world.clock.advance(10 * MINUTE);
  expect(await placeOf('c')).toBe('1');
});
