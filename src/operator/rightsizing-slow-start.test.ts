/** Incident: what was enough to run is too little to start, and nobody started since it was lowered. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { patchNewPods } from './testing/patch-new-pods.ts';
import { createPolicy, deployLoaded, sizedEvents, sizedPods, startSizedWorld } from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

test('a release whose pods do not get ready with a lower CPU limit has that of its template again, and keeps it', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 2, limits: { cpu: '1', memory: '512Mi' } });
  await untilReady(world, 'web', 2);
  await createPolicy(world, { mode: 'Auto', updates: { updateRequestsOnly: false } });
  const limitsOf = async () =>
    (await sizedPods(world)).map(({ spec }) => spec?.containers[0]?.resources?.limits?.['cpu'] ?? '');
  await world.until('all have less', async () => (await limitsOf()).every((limit) => limit === '240m'), 10 * MINUTE);
  await world.clock.advance(5 * MINUTE);
  await patchNewPods(world, { op: 'add', path: '/metadata/annotations/stowage.test~1ready-after', value: 'never' });
  const body = { spec: { template: { metadata: { annotations: { version: '2' } } } } };
  await world.api.patch(resources.deployments, 'web', { type: 'merge', body }, inShop);
  await world.clock.advance(9 * MINUTE);
  expect(await limitsOf()).toEqual(['240m', '240m', '240m']);
  const told = async () => (await sizedEvents(world)).find(({ reason }) => reason === 'ChangeReverted')?.note;
  await world.until('taken back', async () => (await told()) !== undefined, 2 * MINUTE);
  expect(await told()).toMatch(/does not get ready with a lower CPU limit than its template says/);
  await world.until('all have it', async () => (await limitsOf()).every((limit) => limit === '1'), 2 * MINUTE);
  await world.clock.advance(90 * MINUTE);
  expect(new Set(await limitsOf())).toEqual(new Set(['1']));
  const memory = (await sizedPods(world)).map(({ spec }) => spec?.containers[0]?.resources?.requests?.['memory']);
  expect(new Set(memory)).toEqual(new Set(['120Mi']));
});
