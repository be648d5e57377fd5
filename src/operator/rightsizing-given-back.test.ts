/** What nobody sizes any more is given back, whoever was there when its policy went, and never in a dry run. */
import { describe, expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import { loadConfig } from '../config/load.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  deployLoaded,
  loadedDeployment,
  startSizedWorld,
  statusOf,
  workloadWrites,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

const ours = (annotations: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.keys(annotations).filter((key) => key.startsWith('optipod.io/'));
const isGivenBack = async (world: EmbeddedWorld): Promise<boolean> =>
  ours((await world.api.get(resources.deployments, 'web', inShop)).metadata?.annotations).length === 0;
const setDryRun = (world: EmbeddedWorld, isOn: boolean): void => {
  const text = `engines: { rightsizing: true }\nrightsizing: { dryRun: ${isOn} }`;
  world.operator().applyConfig(loadConfig({ text, fileName: 'test.yaml', env: {} }).config);
};

async function startApplied(): Promise<EmbeddedWorld> {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world, { mode: 'Auto' });
  await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
  return world;
}

describe('a workload that nobody sizes any more', () => {
  test.each([
    ['goes', (world: EmbeddedWorld) => world.api.delete(policyType('optipod.io'), 'sizes', inShop)],
    [
      'is disabled',
      (world: EmbeddedWorld) =>
        world.api.patch(
          policyType('optipod.io'),
          'sizes',
          { type: 'merge', body: { spec: { mode: 'Disabled' } } },
          inShop,
        ),
    ],
  ])('in a dry run keeps what it has when its policy %s, and gives it back afterwards', async (_, end) => {
    const world = await startApplied();
    setDryRun(world, true);
    await world.clock.advance(MINUTE);
    const before = workloadWrites(world).length;
    await end(world);
    await world.clock.advance(5 * MINUTE);
    expect(workloadWrites(world).slice(before)).toEqual([]);
    expect(await isGivenBack(world)).toBe(false);
    setDryRun(world, false);
    await world.until('given back', () => isGivenBack(world), MINUTE);
  });

  test('is given back by the next leader, where its policy, the only one, went while nobody led', async () => {
    const world = await startApplied();
    world.cutOff('test_1');
    await world.api.delete(policyType('optipod.io'), 'sizes', inShop);
    await world.clock.advance(MINUTE);
    expect(await isGivenBack(world)).toBe(false);
    await world.startOperator('test_2');
    await world.until('given back', () => isGivenBack(world), 5 * MINUTE);
  });

  test('is given back, of any kind, where its namespace no longer has the labels of the policy', async () => {
    const world = await startSizedWorld();
    const label = (team: string | null) =>
      world.api.patch(resources.namespaces, 'shop', { type: 'merge', body: { metadata: { labels: { team } } } });
    await label('a');
    const { metadata = {}, spec } = loadedDeployment({ name: 'agent' });
    const [selector, template] = [spec?.selector ?? {}, spec?.template ?? {}];
    await world.api.create(
      resources.daemonSets,
      { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { selector, template } },
      inShop,
    );
    await createPolicy(world, {
      mode: 'Auto',
      spec: {
        reconciliationInterval: '1h',
        selector: {
          namespaceSelector: { matchLabels: { team: 'a' } },
          workloadSelector: { matchLabels: { optimize: 'true' } },
        },
      },
    });
    await world.until('applied', async () => (await statusOf(world, 'agent'))?.status === 'Applied');
    await label(null);
    const annotations = async () => (await world.api.get(resources.daemonSets, 'agent', inShop)).metadata?.annotations;
    await world.until('given back', async () => ours(await annotations()).length === 0, MINUTE);
  });
});
