import { expect, test } from 'vitest';
import { defaultAllocationRules } from '../../decide/allocation/rules.ts';
import { createSizeLog } from '../../guard/size/size-history.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { aNode } from '../../model/testing/records.ts';
import { aContainer, anHpa, aSizedPod, aSizedWorkload, aVpa } from '../../model/testing/sizing-records.ts';
import { createAllocationFacts } from './facts.ts';
import { createAllocationMemory } from './memory.ts';
import type { AllocationSettings } from './settings.ts';

function setUp(
  sizing: Parameters<typeof aSizedPod>[2] = {},
  seen: Partial<SizingView> = {},
  changes: Partial<AllocationSettings['size']> = {},
) {
  const size = { dryRun: false, readOnly: false, ...changes };
  const record = aSizedPod({ namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' }, 'web-1', sizing);
  const found = { pod: record, sizing: record.sizing };
  const asked: string[] = [];
  const memory = createAllocationMemory();
  const clock = createVirtualClock(0);
  const history = createSizeLog({ backoff: { initial: 10_000, max: 60_000 }, giveUpAfter: 5, giveUpMillis: 1 });
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
    ...seen,
  } as unknown as SizingView;
  const facts = createAllocationFacts({
    view,
    agents: { stateOf: () => 'alive', isUpToDate: () => true } as unknown as Parameters<
      typeof createAllocationFacts
    >[0]['agents'],
    memory,
    settings: () => ({ rules: defaultAllocationRules, size }) as AllocationSettings,
    resizes: () => {
      asked.push('resizes');
      return [];
    },
    lastWriteAt: () => undefined,
    infeasible: () => undefined,
    failed: history.failed,
    clock,
  });
  return {
    asked,
    memory,
    history,
    clock,
    uid: record.uid,
    admission: () => facts.admission(facts.of(found), { quotas: [], unseen: new Map() }),
    isRefused: () => facts.of(found).isRefused,
    known: () => facts.of(found),
  };
}

test('what all pods of a node are charged with is summed up for a pod that grows, and for no other', () => {
  const { asked, admission } = setUp();
  const { node } = admission();
  expect(asked).toEqual([]);
  expect(node.charged).toBe(400);
  expect(asked).toContain('n1');
});

test('what is under way in the namespace, likewise; a refusal for want of quota counts also where none is known', () => {
  const { asked, memory, admission } = setUp();
  const facts = admission();
  expect(asked).toEqual([]);
  expect(facts.ledger).toEqual({ cpuRequest: 0, cpuLimit: 0, denied: false });
  expect(asked).toEqual(['resizes']);
  memory.noteQuotaDenied('shop', [], 0);
  expect(facts.ledger?.denied).toBe(true);
});

test.each([
  [{}, false],
  [{ dryRun: true }, true],
  [{ readOnly: true }, true],
])('whether anything is written at all is told: %j', (changes, isDryRun) => {
  expect(setUp({}, {}, changes).admission().isDryRun).toBe(isDryRun);
});

test('a node that pins CPUs keeps a pod out once what it refused has been taken back', () => {
  const pending = { reason: 'Infeasible', message: 'CPU Manager policy "static"', since: 0 } as const;
  const historyOf = (resize: typeof pending | undefined) => {
    const { memory, uid, admission } = setUp({ resize: { pending: resize, inProgress: undefined } });
    const before = admission().history.hasStaticCpuManager;
    memory.notePinned(uid);
    return [before, admission().history.hasStaticCpuManager];
  };
  expect(historyOf(undefined)).toEqual([undefined, true]);
  expect(historyOf(pending)).toEqual([undefined, undefined]);
});

test('a pod that refuses twice in a row keeps what it has until it is tried again', async () => {
  const { history, clock, uid, isRefused } = setUp();
  const refuse = (): void => history.recordFailure(uid, clock.now(), 'a webhook says no');
  refuse();
  expect(isRefused()).toBe(false);
  refuse();
  expect(isRefused()).toBe(true);
  await clock.advance(20_000);
  expect(isRefused()).toBe(false);
  refuse();
  expect(isRefused()).toBe(true);
  history.recordSuccess(uid);
  expect(isRefused()).toBe(false);
});

test('who owns a pod is of a kind that is not read: an autoscaler of something unknown may scale it, one of a Deployment does not', () => {
  const target = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'web' };
  const foreign = { apiVersion: 'example.com/v1', kind: 'Deployment', name: 'web' };
  const hpas = [
    anHpa({ name: 'of-web' }),
    anHpa({ name: 'of-a-rollout', target }),
    anHpa({ name: 'x', target: foreign }),
  ];
  const { known } = setUp({}, { hpas: () => hpas, workload: ({ name }) => aSizedWorkload({ name }) });
  expect(known().facts.hpas).toEqual(hpas.slice(1));
});

test('what the template of the workload requests is told, where there is one', () => {
  const containers = [300, 100].map((cpuRequest) => aContainer({ size: { cpuRequest } }));
  const workload = aSizedWorkload({ containers });
  expect(setUp({}, { workloadOf: () => workload }).known().facts.template).toBe(400);
  expect(setUp().known().facts.template).toBeUndefined();
});

test('a VerticalPodAutoscaler of the pod’s own maker counts where that is no kind that is sized', () => {
  const target = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-rev1' };
  expect(setUp({}, { vpas: () => [aVpa({ target })] }).known().history.isVpaOwned).toBe(true);
  expect(setUp({}, { vpas: () => [aVpa()] }).known().history.isVpaOwned).toBe(false);
});
