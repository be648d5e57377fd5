/** What the journal and the log tell of what was done: which engine, for which policy, and why. */
import { expect, test } from 'vitest';
import { createLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createPolicy, deployLoaded, sizedEvents, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { policy as shares, untilReady } from './testing/steps.ts';

test('a size and a move of one workload: each with its engine, its reason and its figures, in journal and log alike', async () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const log = createLogger({ level: 'info', format: 'json', clock: createVirtualClock(0), write });
  const world = await startSizedWorld({ log, config: 'controllers: { workloadTiming: { cooldownPeriod: 1s } }' });
  await createPolicy(world, { mode: 'Auto' });
  const labels = { 'spotalis.io/enabled': 'true' };
  await deployLoaded(world, { replicas: 2, labels, annotations: shares(0, 0) });
  await untilReady(world, 'web', 2);
  await world.until('sized', async () => (await statusOf(world))?.status === 'Applied');
  const journal = () => world.operator().explain({ kind: 'Deployment', namespace: 'shop', name: 'web' })?.journal ?? [];
  await world.until('told', async () => journal().some(({ reason }) => reason === 'UpdateSuccess'));
  const sized = journal().find(({ reason }) => reason === 'UpdateSuccess');
  expect(sized).toMatchObject({ kind: 'done', engine: 'rightsizing' });
  expect(sized?.message).toMatch(
    /memory 512Mi -> 120Mi, for policy shop\/sizes; app: cpu: .*memory: target: P90 of usage/,
  );
  // Events are short: the same without the reasons.
  const told = (await sizedEvents(world)).find(({ reason }) => reason === 'UpdateSuccess')?.note ?? '?';
  expect(sized?.message.startsWith(told)).toBe(true);
  const logged = lines
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter(({ logger }) => logger === 'journal');
  expect(logged).toContainEqual(
    expect.objectContaining({ workload: 'Deployment/shop/web', engine: 'rightsizing', msg: sized?.message }),
  );
  const placed = journal().filter(({ engine }) => engine === 'placement');
  expect(logged.filter(({ engine }) => engine === 'placement').map(({ reason }) => reason)).toEqual(
    placed.filter(({ kind }) => kind === 'done').map(({ reason }) => reason),
  );
});
