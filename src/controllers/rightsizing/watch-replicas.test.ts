import { expect, test } from 'vitest';
import { freshState } from '../../model/replica-sizes.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { ReplicaWatches } from './replica-watches.ts';
import { lookAfterReplicas } from './watch-replicas.ts';

const HOUR = 3_600_000;

test('a replica that has had no pod for an hour has no size of its own, however long it takes to write that', async () => {
  const containers = [aContainer()];
  const context = { advised: { workload: aSizedWorkload({ kind: 'StatefulSet', containers }), pods: [] } };
  const asked = { states: new Map([['7', freshState(containers)]]), replicas: [], obstacle: undefined };
  const watches = new ReplicaWatches();
  const isThere = async (after: number): Promise<boolean> => {
    const changes = { judge: async () => [] };
    const options = { changes, revertMillis: HOUR, mayEnd: true, now: NOON + after };
    const { states } = await lookAfterReplicas(context as unknown as ApplyContext, asked, watches, options);
    return states.has('7');
  };
  expect([await isThere(0), await isThere(HOUR - 1)]).toEqual([true, true]);
  expect([await isThere(HOUR), await isThere(HOUR + 5_000)]).toEqual([false, false]);
});
