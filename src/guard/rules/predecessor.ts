/** No other system places the same pods. */
import type { Millis } from '../../lib/units.ts';
import { runningOf } from '../../model/predecessors.ts';
import { object, placementRule } from '../objection.ts';

/** Its end wakes no workload. */
const LOOK_AGAIN_MILLIS: Millis = 60_000;

export const noSpotalis = placementRule(
  'no-spotalis',
  'Spotalis counts another way and its webhook writes the same node selectors: what one moves the other moves back, an eviction each time.',
  (_, { view }) => {
    const pod = runningOf(view, 'Spotalis');
    return pod === undefined ? undefined : object('PredecessorRuns', { system: 'Spotalis', pod }, LOOK_AGAIN_MILLIS);
  },
);
