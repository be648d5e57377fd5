import { expect, test } from 'vitest';
import { createRunTally } from './run-tally.ts';
import { aFleet, aPodOf } from './testing/facts.ts';

const web = aFleet({ replicas: 10, spotPercentage: 70 });
const api = { ...aFleet({ replicas: 5, spotPercentage: 0 }), key: 'shop/api', uid: 'api' };

test('the most replicas that were wanted at a time are the peak', () => {
  const tally = createRunTally();
  tally.onWorkload(web, undefined);
  tally.onWorkload(api, undefined);
  tally.onWorkload({ ...web, replicas: 2 }, web);
  tally.onWorkloadGone({ ...web, replicas: 2 });
  tally.onWorkload({ ...api, replicas: 12 }, api);
  expect(tally.counts()).toMatchObject({ podsPeak: 15, scalings: 2, rollouts: 0 });
});

test('a change of the number is a scaling, any other a rollout', () => {
  const tally = createRunTally();
  tally.onWorkload(web, undefined);
  tally.onWorkload({ ...web, generation: 2, replicas: 11 }, web);
  tally.onWorkload({ ...web, generation: 2 }, web);
  tally.onWorkload({ ...web, rule: undefined }, web);
  expect(tally.counts()).toMatchObject({ scalings: 1, rollouts: 1 });
});

test('pods without a place count where their workload is managed', () => {
  const tally = createRunTally();
  tally.onPodAdded(web, aPodOf('p', { slot: 1 }));
  tally.onPodAdded(web, aPodOf('q', { slot: undefined }));
  tally.onPodAdded({ ...web, rule: undefined }, aPodOf('r', { slot: undefined }));
  expect(tally.counts().unsteered).toBe(1);
});

test('a pod that had no node was replaced, others were evicted, and cover returned', () => {
  const tally = createRunTally();
  const pods = [aPodOf('p', {}), aPodOf('q', { isCover: true }), aPodOf('r', { node: undefined }), undefined];
  for (const pod of pods) tally.onRemoved(pod);
  expect(tally.counts()).toMatchObject({ evictions: 2, returns: 1, fallbacks: 2 });
});

test('what the operator does is counted, and its events by their reason in order', () => {
  const tally = createRunTally();
  for (const reason of ['PodMoved', 'Drifted', 'PodMoved']) tally.onEvent(reason);
  tally.onWrite();
  tally.onAdmission();
  tally.onNodeLost();
  expect(tally.counts()).toMatchObject({ events: 3, writes: 1, admissions: 1, nodesLost: 1 });
  expect(Object.entries(tally.reasons())).toEqual([
    ['Drifted', 1],
    ['PodMoved', 2],
  ]);
});
