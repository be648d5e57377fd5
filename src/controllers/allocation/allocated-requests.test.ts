import { expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { PodPhase } from '../../model/records.ts';
import { aSizedPod } from '../../model/testing/sizing-records.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import { createAllocatedRequests } from './allocated-requests.ts';

/** One pod of 200m a name, each with an allocation. */
function setUp(names: readonly string[], phases: Readonly<Record<string, PodPhase>> = {}) {
  const clock = createVirtualClock(0);
  const present = new Set(names);
  let walks = 0;
  const requested = createAllocatedRequests({
    view: {
      pod(namespace, name) {
        if (!present.has(`${namespace}/${name}`)) return undefined;
        const owner = { namespace, name: 'web', uid: 'uid-web' };
        const pod = aSizedPod(owner, name, {}, { phase: phases[name] ?? 'Running' });
        return { pod, sizing: pod.sizing };
      },
    },
    stores: {
      allIn(namespace) {
        walks++;
        const own = names.filter((each) => each.startsWith(`${namespace}/`));
        return own.map((each) => ({ podName: each.slice(namespace.length + 1) }) as AllocationRecord);
      },
    },
    clock,
  });
  return { clock, present, requested, walks: () => walks };
}

test('of each namespace its own pods, but for those that have ended or are gone', () => {
  const { requested, present } = setUp(['shop/a', 'shop/b', 'shop/job', 'shop/old', 'blog/c'], { job: 'Succeeded' });
  present.delete('shop/old');
  expect(['shop', 'blog', 'empty'].map(requested)).toEqual([400, 200, 0]);
});

test('however many nodes ask, the allocations of a namespace are gone through once a second', async () => {
  const { requested, present, clock, walks } = setUp(['shop/a', 'shop/b', 'blog/c']);
  for (let node = 0; node < 100; node++) expect(requested('shop')).toBe(400);
  expect(walks()).toBe(1);
  expect(requested('blog')).toBe(200);
  present.delete('shop/b');
  await clock.advance(1000);
  expect(requested('shop')).toBe(200);
  expect(walks()).toBe(3);
});
