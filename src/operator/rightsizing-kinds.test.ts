/** Kinds that are advised on and never written. */
import { describe, expect, test } from 'vitest';
import { customResourceDefinitions } from '../api/crd/crd.ts';
import { resources } from '../api/resources.ts';
import { createRollout, rolloutDefinition } from './testing/argo-rollout.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { createPolicy, startSizedWorld, statusOf, workloadWrites } from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

async function startWithRollout(): Promise<EmbeddedWorld> {
  const world = await startSizedWorld();
  await world.api.create(customResourceDefinitions, rolloutDefinition());
  // Looked for once a minute.
  await world.clock.advance(2 * MINUTE);
  await createRollout(world, { name: 'web', replicas: 2 });
  await untilReady(world, 'web', 2);
  const { items } = await world.api.list(resources.pods, inShop);
  for (const { metadata } of items) {
    const annotations = { 'stowage.test/cpu': '200m', 'stowage.test/memory': '100Mi' };
    const body = { metadata: { annotations } };
    await world.api.patch(resources.pods, metadata?.name ?? '', { type: 'merge', body }, inShop);
  }
  return world;
}

describe('Argo Rollouts', () => {
  test.each([
    ['Recommend', 'Recommended', undefined],
    ['Auto', 'Skipped', 'KindAdvisedOnly'],
  ] as const)('mode %s: advised where the policy names the kind, and never written', async (mode, status, reason) => {
    const world = await startWithRollout();
    await createPolicy(world, {
      mode,
      spec: { selector: { workloadTypes: { include: ['Rollout'] }, namespaces: { allow: ['shop'] } } },
    });
    await world.until(
      'advised',
      async () => {
        const known = await statusOf(world);
        return known?.status === status && known.reason === reason;
      },
      2 * MINUTE,
    );
    const entry = await statusOf(world);
    expect(entry).toMatchObject({ kind: 'Rollout' });
    expect(entry?.recommendations?.[0]).toMatchObject({ cpu: '240m', memory: '120Mi' });
    await world.clock.advance(MINUTE);
    expect(workloadWrites(world).filter((write) => !write.includes('annotations'))).toEqual([]);
  });

  test('one that the policy does not name is left out', async () => {
    const world = await startWithRollout();
    await createPolicy(world, { spec: { selector: { namespaces: { allow: ['shop'] } } } });
    await world.clock.advance(MINUTE);
    expect(await statusOf(world)).toBeUndefined();
  });
});
