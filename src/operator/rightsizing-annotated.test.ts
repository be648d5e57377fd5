/** Recommendations in annotations of workloads: where the policy asks for them, and never where nothing is to be written. */
import { expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  deployLoaded,
  requestsOf,
  type SizedWorldOptions,
  startSizedWorld,
  statusOf,
  workloadWrites,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

async function startAdvised(options: SizedWorldOptions, annotateRecommendations: boolean): Promise<EmbeddedWorld> {
  const world = await startSizedWorld(options);
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world, { mode: 'Recommend', spec: { annotateRecommendations } });
  await world.until('advised', async () => (await statusOf(world))?.recommendations?.[0]?.cpu === '240m');
  await world.clock.advance(MINUTE);
  return world;
}

const annotationsOf = async (world: EmbeddedWorld): Promise<Readonly<Record<string, string>>> => {
  const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
  const all = Object.entries(metadata?.annotations ?? {});
  return Object.fromEntries(all.filter(([key]) => key.startsWith('optipod.io/')));
};

test('in Recommend a policy may ask for them: they are written, and nothing else, and taken away with the policy', async () => {
  const world = await startAdvised({}, true);
  expect(await annotationsOf(world)).toEqual({
    'optipod.io/managed': 'true',
    'optipod.io/policy': 'sizes',
    'optipod.io/last-recommendation': expect.stringMatching(/Z$/),
    'optipod.io/recommendation.app.cpu-request': '240m',
    'optipod.io/recommendation.app.memory-request': '120Mi',
  });
  expect(new Set(workloadWrites(world))).toEqual(new Set(['patch deployments']));
  expect(await requestsOf(world)).toEqual([{ cpu: '500m', memory: '512Mi' }]);
  await world.api.delete(policyType('optipod.io'), 'sizes', inShop);
  await world.until('taken away', async () => Object.keys(await annotationsOf(world)).length === 0, MINUTE);
});

test.each<[string, SizedWorldOptions, boolean]>([
  ['the policy does not ask for them', {}, false],
  ['of read-only mode', { config: 'operator: { readOnlyMode: true }' }, true],
  ['of a dry run', { rightsizing: '  dryRun: true' }, true],
])('in Recommend nothing is written to workloads because %s', async (_, options, annotateRecommendations) => {
  const world = await startAdvised(options, annotateRecommendations);
  expect(workloadWrites(world)).toEqual([]);
  expect(await annotationsOf(world)).toEqual({});
});
