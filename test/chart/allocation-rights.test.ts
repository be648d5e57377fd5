/** What allocation adds to the operator's rights: each is used by a call that was seen, and each call that was seen is granted. */

import { expect, test } from 'vitest';
import { customResourceDefinitions } from '../../src/api/crd/crd.ts';
import { podAllocations } from '../../src/api/pod-allocation.ts';
import { resources } from '../../src/api/resources.ts';
import { createPods, startAllocatedWorld } from '../../src/operator/testing/allocated-world.ts';
import { rolloutDefinition } from '../../src/operator/testing/argo-rollout.ts';
import { wish } from '../../src/operator/testing/wish.ts';
import { OPERATOR } from './placement-story.ts';
import type { Manifest } from './render.ts';
import { type Grant, grantsOf, readRights, rightsOf, usedBy, without } from './rights.ts';
import { autoscalerDefinition } from './rightsizing-story.ts';

const ACCOUNT = 'spotalis-system/stowage';
const rolesOf = (profile: string): readonly Manifest[] =>
  rightsOf(readRights(`deploy/profiles/${profile}.yaml`), ACCOUNT).filter(
    ({ metadata }) => !metadata?.name?.endsWith('-certificates'),
  );
const rightsIn = (grants: readonly Grant[]): Set<string> => new Set(grants.map(({ right }) => right));
const placement = rightsIn(grantsOf(rolesOf('placement')));
const allocation = grantsOf(rolesOf('allocation'));
/** Placement runs beside it here, so its rights are there, too. */
const everything = rolesOf('all');
const own = allocation.filter(({ right }) => !placement.has(right));

/** A pod is given more, and gets back what it had when its allocation goes. @returns what the operator asked for. */
async function lifeOfAllocations(roles: readonly Manifest[]): Promise<ReadonlySet<string>> {
  const world = await startAllocatedWorld({ startsAgents: false, rbac: { objects: [...roles], user: OPERATOR } });
  await world.api.create(customResourceDefinitions, rolloutDefinition());
  await world.api.create(customResourceDefinitions, autoscalerDefinition());
  const inShop = { namespace: 'shop' };
  await createPods(world.api, [{ name: 'web' }]);
  await world.clock.advance(10_000);
  // What is known of the pod is out of date once: it is read before it is written.
  const fault = { verbs: ['patch'], resources: ['pods'], users: [OPERATOR], count: 1 };
  world.server.faults.add({ ...fault, effect: { kind: 'status', code: 409 } });
  await wish(world, 'web', { request: 600, limit: 900 });
  await world.clock.advance(30_000);
  const { items } = await world.api.list(podAllocations, inShop);
  for (const { metadata } of items) await world.api.delete(podAllocations, metadata?.name ?? '', inShop);
  await world.clock.advance(60_000);
  return usedBy(world.server.accessLog, OPERATOR);
}

/** Where the API server streams the first list as a watch, listing is only the way for older ones. */
const isFallback = (right: string, used: ReadonlySet<string>): boolean =>
  right.startsWith('list ') && used.has(right.replace('list', 'watch'));

test('everything that is asked for is granted, and everything that is granted is asked for', async () => {
  const used = await lifeOfAllocations(everything);
  const granted = new Set([...placement, ...rightsIn(allocation)]);
  expect([...used].filter((right) => !granted.has(right))).toEqual([]);
  const idle = own.map(({ right }) => right).filter((right) => !used.has(right) && !isFallback(right, used));
  expect(idle).toEqual([]);
});

const tried = own
  .filter(({ right }) => !right.startsWith('list '))
  .map(({ role, right }): [string, Grant] => [right, { role, right }]);
test.each(tried)('without "%s" something is asked for in vain', async (right, grant) => {
  const less = without(everything, grant);
  expect(rightsIn(grantsOf(less)).has(right)).toBe(false);
  expect((await lifeOfAllocations(less)).has(right)).toBe(true);
});

test('pods keep their place: nothing of it evicts, and no workload is written', () => {
  const writes = own.map(({ right }) => right).filter((right) => !/^(?:get|list|watch) /.test(right));
  expect(writes).toEqual(['patch /pods/resize', 'patch allocation.mbcas.io/podallocations/status']);
  expect(rightsIn(allocation).has('create /pods/eviction')).toBe(false);
});

test('the node whose pods are sized is only read', () => {
  expect([...rightsIn(allocation)].filter((right) => right.endsWith(`/${resources.nodes.plural}`)).sort()).toEqual([
    'list /nodes',
    'watch /nodes',
  ]);
});
