/** Node groups that an autoscaler makes larger when pods wait, under a profile that does not say so. */
import { expect, test } from 'vitest';
import { create, deployment, MINUTE, start, untilSides } from './testing/fallback-world.ts';
import { annotate, firstBlock, policy } from './testing/steps.ts';

const label = (side: string) => `{ matchLabels: { karpenter.sh/capacity-type: ${side} } }`;
const labels = `spotLabels: [${label('spot')}], onDemandLabels: [${label('on-demand')}]`;

/** Four pods on spot, two of which are to be on on-demand by now, where there is no node yet. */
async function drifted(classifier: string) {
  const world = await start({ config: `controllers: { nodeClassifier: { ${classifier} } }` });
  await create(world, deployment({ replicas: 4, percentage: 100, floor: 0 }));
  await untilSides(world, 4, 0, 10 * MINUTE);
  await annotate(world, policy(50, 0));
  return world;
}

test('pods are moved to a side that is autoscaled, though no node of it is there', async () => {
  const world = await drifted(`${labels}, autoscaled: [on-demand]`);
  await untilSides(world, 2, 2, 30 * MINUTE);
  expect(world.evictions).toHaveLength(2);
});

test.each([labels, `${labels}, autoscaled: [spot]`, 'profiles: [karpenter], autoscaled: []'])(
  'none is moved to one that is not: %s',
  async (classifier) => {
    const world = await drifted(classifier);
    await world.clock.advance(30 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(firstBlock(world, 'Deployment', 'web')).toBe('NoRoomOnSide');
  },
);
