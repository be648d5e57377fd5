import { expect, test } from 'vitest';
import { defaultAllocationRules } from '../../decide/allocation/rules.ts';
import type { FailedChange } from '../../guard/size/size-history.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { RunningPredecessor } from '../../model/predecessors.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import { aNode } from '../../model/testing/records.ts';
import { aLimitRange, anHpa, aQuota, aSizedPod, aSizedWorkload, aVpa } from '../../model/testing/sizing-records.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import { createAllocationFacts } from './facts.ts';
import { createAllocationMemory } from './memory.ts';
import { createQuietPods } from './quiet-pods.ts';
import type { AllocationSettings } from './settings.ts';

const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };
const podOf = (name: string, marks: Readonly<Record<string, string>> = {}): SizedPod => {
  const pod = aSizedPod(owner, name, { marks }, { uid: `uid-${name}` });
  return { pod, sizing: pod.sizing };
};
const settingsWith = (weight: object = {}): AllocationSettings =>
  ({
    rules: { ...defaultAllocationRules, weight: { ...defaultAllocationRules.weight, ...weight } },
  }) as AllocationSettings;
const recordOf = (name: string) => ({ name }) as AllocationRecord;
const aNamespace = (labels = {}) => ({ name: 'shop', labels, annotations: {}, enabled: true, terminating: false });

/** Two pods of a workload on a node; each of what a test changes is another object then. */
function setUp() {
  const world = {
    pods: [podOf('web-1'), podOf('web-2')],
    records: new Map(['web-1', 'web-2'].map((name) => [name, recordOf(name)])),
    workload: aSizedWorkload(),
    node: aNode('n1', 'on-demand'),
    namespace: aNamespace(),
    limitRanges: [aLimitRange()],
    quotas: [] as ReturnType<typeof aQuota>[],
    hpas: [] as ReturnType<typeof anHpa>[],
    vpas: [] as ReturnType<typeof aVpa>[],
    pdbs: [] as object[],
    predecessors: [] as RunningPredecessor[],
    stale: [] as string[],
    agent: 'alive',
    settings: settingsWith(),
    advice: 200,
    resizing: '',
    failed: undefined as FailedChange | undefined,
    memory: createAllocationMemory(),
  };
  const view = {
    freshness: () => ({ synced: true, stale: world.stale }),
    node: () => world.node,
    namespace: () => world.namespace,
    workloadOf: () => world.workload,
    podsOf: () => world.pods,
    nodes: () => [world.node],
    limitRanges: () => [...world.limitRanges],
    quotas: () => world.quotas,
    hpas: () => world.hpas,
    vpas: () => world.vpas,
    pdbs: () => world.pdbs,
    predecessors: () => world.predecessors,
  } as unknown as SizingView;
  const agents = { stateOf: () => world.agent } as unknown as Parameters<typeof createQuietPods>[0]['agents'];
  const shared = { view, agents: agents as never, memory: world.memory, settings: () => world.settings };
  const quiet = createQuietPods({
    ...shared,
    stores: { of: ({ name }) => world.records.get(name) },
    isResizing: (uid) => uid === world.resizing,
    adviceOf: () => world.advice,
  });
  const facts = createAllocationFacts({
    ...shared,
    resizes: () => [],
    lastWriteAt: () => undefined,
    infeasible: () => undefined,
    failed: () => world.failed,
    clock: createVirtualClock(0),
  });
  const awake = (): string[] => quiet.awake('n1', world.pods).map(({ pod }) => pod.name);
  /** Has all pods of the node looked at, and told. @param meanwhile happens between the two. */
  const look = (meanwhile: () => void = () => {}): void => {
    const seen = world.pods.map((found) => ({ found, sight: quiet.sightOf(facts.of(found)) }));
    const records = new Map(world.records);
    meanwhile();
    for (const { found, sight } of seen) {
      const record = records.get(found.pod.name);
      if (sight === undefined || record === undefined) continue;
      quiet.note({ ...sight, pod: found.pod, record, advice: world.advice });
    }
  };
  return { world, awake, look };
}

type World = ReturnType<typeof setUp>['world'];

/** What may change what a look comes to. */
const changes: Readonly<Record<string, (world: World) => void>> = {
  'its workload': (world) => Object.assign(world, { workload: aSizedWorkload() }),
  'its node': (world) => Object.assign(world, { node: aNode('n1', 'on-demand') }),
  'its namespace': (world) => Object.assign(world, { namespace: aNamespace({ team: 'a' }) }),
  'a LimitRange': (world) => Object.assign(world, { limitRanges: [aLimitRange()] }),
  'a second LimitRange': (world) => Object.assign(world, { limitRanges: [...world.limitRanges, aLimitRange()] }),
  'a quota': (world) => Object.assign(world, { quotas: [aQuota()] }),
  'an autoscaler of replicas': (world) => Object.assign(world, { hpas: [anHpa()] }),
  'an autoscaler of sizes': (world) => Object.assign(world, { vpas: [aVpa()] }),
  'a budget': (world) => Object.assign(world, { pdbs: [{}] }),
  'the settings': (world) => Object.assign(world, { settings: settingsWith() }),
  'the system whose place we take': (world) => Object.assign(world, { predecessors: [] }),
  'a watch that broke': (world) => Object.assign(world, { stale: ['pods'] }),
  'an agent that is silent': (world) => Object.assign(world, { agent: 'silent' }),
};

test('pods that were looked at and told are quiet, one that changes is looked at, and no other', () => {
  const { world, awake, look } = setUp();
  expect(awake()).toEqual(['web-1', 'web-2']);
  look();
  expect(awake()).toEqual([]);
  expect(awake()).toEqual([]);
  world.pods = [podOf('web-1'), ...world.pods.slice(1)];
  expect(awake()).toEqual(['web-1']);
  look();
  world.records.set('web-2', recordOf('web-2'));
  expect(awake()).toEqual(['web-2']);
  look();
  expect(awake()).toEqual([]);
});

test('what was not told stays to be looked at', () => {
  const { awake } = setUp();
  expect(awake()).toEqual(['web-1', 'web-2']);
  expect(awake()).toEqual(['web-1', 'web-2']);
});

test.each(Object.entries(changes))('all are looked at after a change of %s', (_, change) => {
  const { world, awake, look } = setUp();
  look();
  change(world);
  expect(awake()).toEqual(['web-1', 'web-2']);
});

test.each(Object.entries(changes))('a change of %s after the look and before the word counts', (_, change) => {
  const { world, awake, look } = setUp();
  look(() => change(world));
  expect(awake()).toEqual(['web-1', 'web-2']);
});

test('other advice, a resize under way and a restart by one have the pod looked at', () => {
  const { world, awake, look } = setUp();
  look();
  world.resizing = 'uid-web-2';
  expect(awake()).toEqual(['web-2']);
  world.resizing = '';
  look();
  world.memory.noteRestart('uid-web-1');
  expect(awake()).toEqual(['web-1']);
  world.memory.forget('uid-web-1');
  look();
  world.advice = 300;
  expect(awake()).toEqual(['web-1', 'web-2']);
});

test('what refuses its resizes for now is looked at', () => {
  const { world, awake, look } = setUp();
  world.failed = { count: 2, retryAt: 1, cause: 'a webhook says no' };
  look();
  expect(awake()).toEqual(['web-1', 'web-2']);
  world.failed = undefined;
  look();
  expect(awake()).toEqual([]);
});

test('an allocation that changed after the look and before the word counts', () => {
  const { world, awake, look } = setUp();
  look(() => void world.records.set('web-1', recordOf('web-1')));
  expect(awake()).toEqual(['web-1']);
});

test.each<[string, (world: World) => void]>([
  ['an autoscaler of replicas, which counts for a time after it acted', (world) => world.hpas.push(anHpa())],
  ['a quota, of which one pod tells for all of the node', (world) => world.quotas.push(aQuota())],
  [
    'an annotation that is not understood',
    (world) => world.pods.splice(0, 2, podOf('web-1', { 'mbcas.io/weight': 'x' })),
  ],
  ['spread over zones', (world) => Object.assign(world, { settings: settingsWith({ topologySpread: true }) })],
  ['a ceiling by the median', (world) => Object.assign(world, { settings: settingsWith({ spreadCeiling: true }) })],
  ['affinity to nodes', (world) => Object.assign(world, { settings: settingsWith({ nodeAffinity: true }) })],
])('never quiet with %s', (_, prepare) => {
  const { world, awake, look } = setUp();
  prepare(world);
  look();
  expect(awake()).toEqual(world.pods.map(({ pod }) => pod.name));
});

test('a pod that left and came back is looked at', () => {
  const { world, awake, look } = setUp();
  look();
  const [first, second] = world.pods;
  world.pods = second === undefined ? [] : [second];
  expect(awake()).toEqual([]);
  world.pods = first === undefined ? [] : [first, ...world.pods];
  expect(awake()).toEqual(['web-1']);
});
