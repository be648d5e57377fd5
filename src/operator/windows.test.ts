import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { loadConfig } from '../config/load.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { annotate, deploy, firstBlock, MINUTE, policy, startWorld } from './testing/steps.ts';

const SECOND = 1_000;
/** From the opening to the eviction: the loop gathers changes, the world moves in steps. */
const PROMPT_MILLIS = 1_000;

const window = (schedule: string, duration: string) => ({
  'spotalis.io/disruption-schedule': schedule,
  'spotalis.io/disruption-duration': duration,
});
/** Two nodes are enough here, and hours pass faster. */
const small = { spotNodes: 1, onDemandNodes: 1 };
const at = (time: string): EpochMillis => Date.parse(`2026-${time}Z`);

/** A world at `startAt` whose pods all have to move, but only in the given windows. */
async function startWaiting(
  startAt: string,
  annotations: Record<string, string>,
  replicas = 6,
): Promise<EmbeddedWorld> {
  const world = await startWorld({ ...small, startAt: at(startAt) });
  await deploy(world, replicas, policy(0, 0));
  await world.clock.advance(15 * SECOND);
  await annotate(world, { ...policy(100, 0), ...annotations });
  await world.clock.advance(SECOND);
  return world;
}

/** Runs until `end` and tells when each eviction was asked for, within one step. */
async function evictionTimes(world: EmbeddedWorld, end: string): Promise<EpochMillis[]> {
  const times: EpochMillis[] = [];
  while (world.clock.now() < at(end)) {
    const before = world.evictions.length;
    await world.clock.advance(250);
    for (let count = before; count < world.evictions.length; count++) times.push(world.clock.now());
  }
  return times;
}

/** Every time lies within one of the windows, and the first one of each is prompt. */
function expectWithin(times: readonly EpochMillis[], windows: readonly (readonly [string, string])[]): void {
  for (const [open, close] of windows) {
    const inside = times.filter((time) => time >= at(open) && time <= at(close));
    expect(inside.length).toBeGreaterThan(0);
    expect((inside[0] ?? 0) - at(open)).toBeLessThanOrEqual(PROMPT_MILLIS);
  }
  const outside = times.filter((time) => !windows.some(([open, close]) => time >= at(open) && time <= at(close)));
  expect(outside.map((time) => new Date(time).toISOString())).toEqual([]);
}

describe('hazard H29: disruption windows, through the controller', () => {
  test('a window opens to the second and closes to the second, with nobody polling', async () => {
    const world = await startWaiting('01-31T12:00:00', window('5 12 * * *', '35s'));
    expect(firstBlock(world, 'Deployment', 'web')).toBe('OutsideWindow');
    const times = await evictionTimes(world, '01-31T12:20:00');
    expectWithin(times, [['01-31T12:05:00', '01-31T12:05:35']]);
    expect(times.length).toBeGreaterThanOrEqual(2);
  });

  test('case 12: a window far shorter than any poll is met', async () => {
    const world = await startWaiting('01-31T12:00:00', window('47 12 * * *', '5s'));
    const times = await evictionTimes(world, '01-31T13:30:00');
    expectWithin(times, [['01-31T12:47:00', '01-31T12:47:05']]);
    expect(times).toHaveLength(1);
  });

  test('several windows: each of them, and nothing in between', async () => {
    const world = await startWaiting('01-31T12:00:00', window('10 12 * * *; 30 12 * * *;50 12 * * *', '12s'));
    const times = await evictionTimes(world, '01-31T13:20:00');
    expectWithin(times, [
      ['01-31T12:10:00', '01-31T12:10:12'],
      ['01-31T12:30:00', '01-31T12:30:12'],
      ['01-31T12:50:00', '01-31T12:50:12'],
    ]);
  });

  test('across midnight it stays open', async () => {
    const world = await startWaiting('01-31T23:40:00', window('59 23 * * *', '90s'), 12);
    const times = await evictionTimes(world, '02-01T00:10:00');
    expectWithin(times, [['01-31T23:59:00', '02-01T00:00:30']]);
    expect(times.some((time) => time > at('02-01T00:00:00'))).toBe(true);
  });

  test('in a time zone: 8 o’clock in New York is 13 o’clock UTC in winter and 12 o’clock in summer', async () => {
    const schedule = window('CRON_TZ=America/New_York 0 8 * * *', '30s');
    const winter = await startWaiting('01-31T11:50:00', schedule);
    expectWithin(await evictionTimes(winter, '01-31T13:10:00'), [['01-31T13:00:00', '01-31T13:00:30']]);
    const summer = await startWaiting('07-01T11:50:00', schedule);
    expectWithin(await evictionTimes(summer, '07-01T13:10:00'), [['07-01T12:00:00', '07-01T12:00:30']]);
  });

  test('a start that falls into the hour that spring skips opens right after it', async () => {
    const world = await startWaiting('03-29T00:50:00', window('CRON_TZ=Europe/Berlin 30 2 * * *', '40s'));
    expectWithin(await evictionTimes(world, '03-29T02:10:00'), [['03-29T01:00:00', '03-29T01:00:40']]);
  });

  test('a start that autumn shows twice opens once', async () => {
    const world = await startWaiting('10-25T00:20:00', window('CRON_TZ=Europe/Berlin 30 2 * * *', '20s'));
    expectWithin(await evictionTimes(world, '10-25T01:40:00'), [['10-25T00:30:00', '10-25T00:30:20']]);
  });

  test.each([
    ['half a window', { 'spotalis.io/disruption-schedule': '0 2 * * *' }],
    ['a date that never comes', window('0 2 31 2 *', '1h')],
    ['no time at all', window('0 2 * * *', '0s')],
    ['an unknown zone', window('CRON_TZ=Mars/Base 0 2 * * *', '1h')],
  ])('%s is invalid: nothing moves, not even in a window of the operator', async (_, annotations) => {
    const world = await startWaiting('01-31T12:00:00', annotations);
    await world.clock.advance(20 * MINUTE);
    expect(world.evictions).toEqual([]);
    const policyState = world.operator().explain({ kind: 'Deployment', namespace: 'shop', name: 'web' })?.plan.policy;
    expect(policyState?.state).toBe('invalid');
  });
});

describe('where a window comes from', () => {
  const config = 'operator:\n  disruptionWindow:\n    schedule: "30 12 * * *"\n    duration: 15s';

  async function startDrifted(): Promise<EmbeddedWorld> {
    const world = await startWorld({ ...small, config });
    await deploy(world, 6, policy(0, 0));
    await annotate(world, policy(100, 0));
    return world;
  }

  test('the operator’s window counts where nobody else has one', async () => {
    const world = await startDrifted();
    expectWithin(await evictionTimes(world, '01-31T13:00:00'), [['01-31T12:30:00', '01-31T12:30:15']]);
  });

  test('the namespace’s goes before the operator’s, the workload’s before both', async () => {
    const world = await startDrifted();
    const body = { metadata: { annotations: window('40 12 * * *', '15s') } };
    await world.api.patch(resources.namespaces, 'shop', { type: 'merge', body });
    expectWithin(await evictionTimes(world, '01-31T12:45:00'), [['01-31T12:40:00', '01-31T12:40:15']]);
    await annotate(world, window('50 12 * * *', '15s'));
    expectWithin(await evictionTimes(world, '01-31T13:45:00'), [['01-31T12:50:00', '01-31T12:50:15']]);
  });

  test('a changed configuration is in force at once', async () => {
    const world = await startDrifted();
    const env = { SPOTALIS_OPERATOR_DISRUPTION_WINDOW_SCHEDULE: '5 12 * * *' };
    world.operator().applyConfig(loadConfig({ text: config, fileName: 'test.yaml', env }).config);
    expectWithin(await evictionTimes(world, '01-31T13:00:00'), [['01-31T12:05:00', '01-31T12:05:15']]);
  });
});

test('outside its window a workload is looked at as often as disruptionWindowPollInterval says', async () => {
  const looks = async (pollInterval: string): Promise<number> => {
    const timing = `controllers:\n  workloadTiming:\n    disruptionWindowPollInterval: ${pollInterval}`;
    const world = await startWorld({ ...small, config: timing });
    await deploy(world, 4, policy(0, 0));
    await annotate(world, { ...policy(100, 0), ...window('0 3 * * *', '1h') });
    await world.clock.advance(2 * MINUTE);
    const blocked = (): number => {
      const { journal = [] } = world.operator().explain({ kind: 'Deployment', namespace: 'shop', name: 'web' }) ?? {};
      return journal.find(({ reason }) => reason === 'OutsideWindow')?.count ?? 0;
    };
    const before = blocked();
    await world.clock.advance(30 * MINUTE);
    return blocked() - before;
  };
  expect(await looks('10m')).toBeLessThanOrEqual(5);
  expect(await looks('1m')).toBeGreaterThanOrEqual(25);
});
