/** A quota that leaves less than the pods of a workload want: it is shared out among them, once. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import {
  createPolicy,
  deployLoaded,
  requestsOf,
  sizedEvents,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

test('what one pod has been given leaves the others no less and no more, however long they take to have it', async () => {
  const world = await startSizedWorld({ rightsizing: '  maxChangesPerMinute: 2' });
  const spec = { hard: { 'requests.cpu': '2400m' } };
  await world.api.create(resources.resourceQuotas, { metadata: { name: 'team' }, spec }, inShop);
  await deployLoaded(world, { replicas: 6, cpu: '900m', memory: '100Mi', requests: { cpu: '100m', memory: '120Mi' } });
  await untilReady(world, 'web', 6);
  await createPolicy(world, { mode: 'Auto' });
  await world.clock.advance(20 * MINUTE);
  expect((await requestsOf(world)).map(({ cpu }) => cpu)).toEqual(Array(6).fill('400m'));
  expect(await statusOf(world)).toMatchObject({ reason: 'QuotaExceeded', recommendations: [{ cpu: '400m' }] });
  const told = (await sizedEvents(world)).filter(({ reason }) => reason === 'RecommendationGenerated');
  expect(told.length).toBeLessThanOrEqual(2);
});
