import { expect, test } from 'vitest';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { driveInterruptions } from './interruptions.ts';
import { poolOf } from './objects.ts';
import { parseScenario } from './scenario/load-scenario.ts';

const HOUR = 3_600_000;
const { pools } = parseScenario(
  `
name: rates
duration: 1h
pools:
  - { name: spot, class: spot, interruptions: 5%/hour, zones: [a, b] }
  - { name: on-demand, class: on-demand, interruptions: 5%/hour }
workloads: [{ name: web, replicas: 1 }]
`,
  'rates.yaml',
);

async function interruptedIn(hours: number, correlation: number) {
  const clock = createVirtualClock(0);
  const taken: { readonly node: string; readonly at: number }[] = [];
  const end = driveInterruptions({
    clock,
    random: createSeededRandom(7),
    pools: pools.map(poolOf),
    correlation,
    // Replaced as soon as they are taken.
    nodesIn: (pool, zone) => Array.from({ length: 10 }, (_, index) => `${pool}-${zone}-${index}`),
    interrupt: (node) => taken.push({ node, at: clock.now() }),
  });
  await clock.advance(hours * HOUR);
  end();
  expect(clock.pendingTimers()).toBe(0);
  return taken;
}

test.each([0.25, 0.5, 1])(
  'a node is taken as often as published, whatever the correlation: %d',
  async (correlation) => {
    const taken = await interruptedIn(2000, correlation);
    const expected = 2000 * 20 * -Math.log1p(-0.05);
    expect(taken.length / expected).toBeGreaterThan(0.85);
    expect(taken.length / expected).toBeLessThan(1.15);
    expect(taken.every(({ node }) => node.startsWith('spot-'))).toBe(true);
  },
);

test('nodes of a pool and zone are taken together, within three minutes', async () => {
  const taken = await interruptedIn(500, 0.5);
  const inZone = taken.filter(({ node }) => node.startsWith('spot-a-'));
  const isTogether = inZone.filter(({ node, at }) =>
    inZone.some((other) => other.node !== node && Math.abs(other.at - at) <= 180_000),
  );
  expect(isTogether.length / inZone.length).toBeGreaterThan(0.92);
});
