import { expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { PolicyRecord } from '../../model/optimization-policy.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { policyRecord, validPolicy } from '../../model/testing/policies.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createWorkloadLooks, type WorkloadLooksOptions } from './look-at-workload.ts';
import { createResultStore } from './result-store.ts';

const web = aSizedWorkload({ name: 'web', annotations: { [rightsizingKeys.policy]: 'sizes' } });
const broken = { name: 'sizes', spec: { resourceBounds: {} } };

test.each<[string, readonly PolicyRecord[], boolean]>([
  ['is gone', [], true],
  ['is not valid any more', [policyRecord(broken)], false],
  ['is not valid any more, and being deleted', [policyRecord({ ...broken, deleting: true })], true],
  ['is gone, while another one is not valid', [policyRecord({ ...broken, name: 'others' })], true],
  ['selects others now', [validPolicy({ name: 'sizes' })], true],
])(
  'a workload that no policy has the say over is given back where its own one %s: %#',
  async (_, policies, expected) => {
    const given: string[] = [];
    const looks = createWorkloadLooks({
      view: createSizingSnapshot({ workloads: [web] }),
      policies: { policies: () => policies, isFresh: () => true },
      select: () => ({ winner: undefined, shielded: false, others: [], tied: false }),
      books: { of: () => ({ results: createResultStore(), discovered: {}, owned: 0 }) },
      handBack: { giveBack: async ({ name }: { name: string }) => void given.push(name), isNeeded: () => true },
      wake: () => {},
      clock: createVirtualClock(0),
      log: createSilentLogger(),
    } as unknown as WorkloadLooksOptions);
    await looks.onChange('Deployment/shop/web', new AbortController().signal);
    expect(given).toEqual(expected ? ['web'] : []);
  },
);
