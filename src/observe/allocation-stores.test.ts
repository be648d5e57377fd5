import { expect, onTestFinished, test } from 'vitest';
import { type PodAllocation, podAllocations } from '../api/pod-allocation.ts';
import { createScriptedApi, kubeError } from '../kube/testing/scripted-api.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createAllocationStores } from './allocation-stores.ts';

const objectOf = (name: string, podName: string, podUID?: string): PodAllocation => ({
  metadata: { namespace: 'shop', name, uid: `object-${name}`, resourceVersion: '5' },
  spec: {
    namespace: 'shop',
    podName,
    desiredCPURequest: '1',
    desiredCPULimit: '1',
    ...(podUID !== undefined && { podUID }),
  },
});

test('an allocation is found by its name if that is the uid of the pod, else by the uid in it, else by the pod’s name', async () => {
  const clock = createVirtualClock(0);
  const scripted = createScriptedApi();
  const items = [objectOf('u1', 'a', 'u1'), objectOf('hand-made', 'b', 'u2'), objectOf('of-mbcas', 'c')];
  scripted.onList = () => ({ items, resourceVersion: '5' });
  scripted.onWatch = ({ sendInitialEvents }) => {
    if (sendInitialEvents === true) throw kubeError(422, 'Invalid', 'sendInitialEvents is forbidden');
  };
  const api = { ...scripted.api, discover: async () => [podAllocations] };
  const stores = createAllocationStores({ api, clock, random: createSeededRandom(1), log: createSilentLogger() });
  const stopper = new AbortController();
  const running = stores.run(stopper.signal);
  onTestFinished(async () => {
    stopper.abort();
    await clock.advance(0);
    await running;
  });
  await clock.advance(1000);
  await stores.onSynced;
  const found = (name: string, uid: string, namespace = 'shop') => stores.of({ namespace, name, uid })?.name;
  expect([found('a', 'u1'), found('b', 'u2'), found('c', 'u3')]).toEqual(['u1', 'hand-made', 'of-mbcas']);
  expect([found('a', 'successor'), found('d', 'u1', 'other')]).toEqual([undefined, undefined]);
  expect([...stores.allIn('shop')]).toEqual([...stores.all()]);
  expect([...stores.allIn('other')]).toEqual([]);

  scripted.watch().push({
    type: 'DELETED',
    object: {
      ...objectOf('hand-made', 'b', 'u2'),
      metadata: { namespace: 'shop', name: 'hand-made', resourceVersion: '6' },
    },
  });
  await clock.advance(0);
  expect([found('a', 'u1'), found('b', 'u2')]).toEqual(['u1', undefined]);
});
