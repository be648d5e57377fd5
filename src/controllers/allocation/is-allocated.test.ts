import { expect, test } from 'vitest';
import { allocationPodOf } from '../../decide/allocation/allocation-pod.ts';
import { defaultAllocationRules } from '../../decide/allocation/rules.ts';
import { createDeferred } from '../../lib/deferred.ts';
import { aSizedPod } from '../../model/testing/sizing-records.ts';
import { createIsAllocated, type IsAllocatedOptions } from './is-allocated.ts';

const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };
const pod = aSizedPod(owner, 'web-1', { marks: { 'mbcas.io/managed': 'true' } });
const found = { pod, sizing: pod.sizing };
const stranger = aSizedPod(owner, 'web-2');

function setUp() {
  const synced = createDeferred<void>();
  const now = { has: false, state: 'alive', size: { enabled: true, dryRun: false } };
  const isAllocated = createIsAllocated({
    stores: { of: () => (now.has ? {} : undefined), onSynced: synced.promise },
    agents: { stateOf: () => now.state },
    facts: { of: (each: typeof found) => ({ pod: allocationPodOf(each), history: {} }) },
    settings: () => ({ rules: { ...defaultAllocationRules, managementMode: 'optIn' }, size: now.size }),
  } as unknown as IsAllocatedOptions);
  return { now, isAllocated, synced };
}

test('who has an allocation, unless its agent is gone, or nothing is written', async () => {
  const { now, isAllocated, synced } = setUp();
  synced.resolve();
  await synced.promise;
  expect(isAllocated(found)).toBe(false);
  now.has = true;
  expect(isAllocated(found)).toBe(true);
  expect(isAllocated({ pod: stranger, sizing: stranger.sizing })).toBe(false);
  now.state = 'gone';
  expect(isAllocated(found)).toBe(false);
  now.state = 'alive';
  now.size = { enabled: true, dryRun: true };
  expect(isAllocated(found)).toBe(false);
});

test('before allocations are listed whoever takes part: nobody else is to write CPU that may be a share', async () => {
  const { isAllocated, synced } = setUp();
  expect(isAllocated(found)).toBe(true);
  expect(isAllocated({ pod: stranger, sizing: stranger.sizing })).toBe(false);
  synced.resolve();
  await synced.promise;
  expect(isAllocated(found)).toBe(false);
});
