import { expect, test } from 'vitest';
import { defaultAllocationRules } from '../../decide/allocation/rules.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { aNode } from '../../model/testing/records.ts';
import { aSizedPod } from '../../model/testing/sizing-records.ts';
import { createAllocationFacts } from './facts.ts';
import { createAllocationMemory } from './memory.ts';
import type { AllocationSettings } from './settings.ts';

test('what all pods of a node are charged with is summed up for a pod that grows, and for no other', () => {
  const record = aSizedPod({ namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' }, 'web-1');
  const found = { pod: record, sizing: record.sizing };
  const asked: string[] = [];
  const view = {
    freshness: () => ({ synced: true, stale: [] }),
    node: (name: string) => aNode(name, 'on-demand'),
    namespace: () => undefined,
    workloadOf: () => undefined,
    limitRanges: () => [],
    quotas: () => [],
    hpas: () => [],
    vpas: () => [],
    pdbs: () => [],
    predecessors: () => [],
    podsOnNode(name: string) {
      asked.push(name);
      return [found, found];
    },
  } as unknown as SizingView;
  const facts = createAllocationFacts({
    view,
    agents: { stateOf: () => 'alive' } as unknown as Parameters<typeof createAllocationFacts>[0]['agents'],
    memory: createAllocationMemory(),
    settings: () => ({ rules: defaultAllocationRules }) as AllocationSettings,
    resizes: () => [],
    lastWriteAt: () => undefined,
    infeasible: () => undefined,
    clock: createVirtualClock(0),
  });
  const { node } = facts.admission(facts.of(found), { quotas: [], unseen: new Map() });
  expect(asked).toEqual([]);
  expect(node.charged).toBe(400);
  expect(asked).toEqual(['n1']);
});
