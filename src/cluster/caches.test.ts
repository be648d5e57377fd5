import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { barePod, IN_DEFAULT } from './testing/bare-pod.ts';
import { unwatched } from './testing/unwatched.ts';
import { startVirtualCluster } from './testing/virtual-cluster.ts';

test('an object that took the place of another of its name while nobody watched is no change of that one', async () => {
  await using at = await startVirtualCluster();
  const { api, caches } = at.cluster;
  const first = await api.create(resources.pods, barePod(), IN_DEFAULT);
  await at.seconds(1);
  const told: unknown[] = [];
  caches.of(resources.pods).onChange((before, after) => told.push([before?.metadata?.uid, after?.metadata?.uid]));
  const second = await unwatched(at, resources.pods, async () => {
    await api.delete(resources.pods, 'a', IN_DEFAULT);
    return await api.create(resources.pods, barePod(), IN_DEFAULT);
  });
  await at.seconds(60);
  const [firstUid, secondUid] = [first.metadata?.uid, second.metadata?.uid];
  expect(told.slice(0, 3)).toEqual([
    [undefined, firstUid],
    [firstUid, undefined],
    [undefined, secondUid],
  ]);
});
