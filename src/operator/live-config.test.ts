/** What is in force after the configuration, or the prices file, has changed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Config } from '../config/schema.ts';
import { configOf } from '../config/testing/load-text.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLiveConfig } from './live-config.ts';

const placing = (spotPercentage: number, prices = ''): string =>
  `placement: { defaults: { spotPercentage: ${spotPercentage} }, prices: "${prices}" }`;

/** Running, with what it was started with. */
async function start(config: Config) {
  const clock = createVirtualClock(0);
  const live = createLiveConfig({ config, clock, log: createSilentLogger() });
  const ending = new AbortController();
  const ended = live.run(ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await ended;
  });
  await clock.advance(0);
  const inForce = () => ({
    spot: live.rules().settings.defaults.spotPercentage,
    price: live.rules().prices?.instanceTypes['big']?.onDemand,
  });
  return { clock, live, inForce };
}

test('a new configuration is in force at once, but for what needs a restart', async () => {
  const { live } = await start(configOf(placing(20)));
  live.apply(configOf(`engines: { placement: false }\n${placing(80)}`));
  expect(live.config().placement.defaults.spotPercentage).toBe('80');
  expect(live.config().engines.placement).toBe(true);
  expect(live.rules().settings).toMatchObject({ enabled: true, defaults: { spotPercentage: 80 } });
});

test('where nothing steers new pods is known, unless they are asked about in this process', () => {
  const config = configOf('webhook: { enabled: false }');
  const given = { config, clock: createVirtualClock(0), log: createSilentLogger() };
  for (const isAskedDirectly of [false, true]) {
    const live = createLiveConfig({ ...given, isAskedDirectly });
    expect(live.rules().settings.steersNewPods).toBe(isAskedDirectly);
    live.apply(config);
    expect(live.rules().settings.steersNewPods).toBe(isAskedDirectly);
  }
});

test('prices and settings change without each other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-live-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, price: number): string => {
    const path = join(folder, name);
    writeFileSync(path, `instanceTypes: { big: { onDemand: ${price} } }`);
    return path;
  };
  const [first, other] = [write('prices.yaml', 1), write('other.yaml', 7)];
  const { clock, live, inForce } = await start(configOf(placing(20, first)));
  expect(inForce()).toEqual({ spot: 20, price: 1 });
  live.apply(configOf(placing(80, first)));
  expect(inForce()).toEqual({ spot: 80, price: 1 });
  write('prices.yaml', 2);
  await clock.advance(10_000);
  expect(inForce()).toEqual({ spot: 80, price: 2 });
  live.apply(configOf(placing(50, other)));
  expect(inForce()).toEqual({ spot: 50, price: 7 });
  live.apply(configOf(placing(50)));
  expect(inForce()).toEqual({ spot: 50, price: undefined });
});
