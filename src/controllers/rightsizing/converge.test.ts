import { describe, expect, test } from 'vitest';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import type { Block } from '../../guard/context.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { leastPolicySpec, validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { createConverge } from './converge.ts';
import { createRightsizingMemory } from './memory.ts';

const replicaSet = aReplicaSet(aDeployment());
const before = [aContainer()];
const less: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];

const pod = (name: string, cpuRequest: number, memoryRequest = 128 * MIB): SizedPod => {
  const containers = applyChanges(before, [{ container: 'app', to: { cpuRequest, memoryRequest } }]);
  const record = aSizedPod(replicaSet, name, { containers }, { uid: name });
  return { pod: record, sizing: record.sizing };
};
const block = (reason: Block['reason']): Block => ({
  rule: 'r',
  reason,
  message: 'm',
  advice: 'a',
  retryAfterMillis: undefined,
});

interface Given {
  readonly live: readonly SizedPod[];
  readonly isRollingOut?: boolean;
  readonly takenBack?: readonly { readonly container: string; readonly resource: 'cpu' | 'memory' }[];
  readonly resizing?: readonly string[];
  readonly lacking?: readonly string[];
  readonly blocks?: Readonly<Record<string, Block['reason']>>;
  /** What the guards say to changes of memory. */
  readonly toMemory?: Block['reason'];
  readonly changed?: readonly SizeChange[];
  /** The most CPU that the policy allows, as a quantity. */
  readonly maxCpu?: string;
  /** Tried on this pod before the others. */
  readonly canary?: string;
}

async function run(given: Given) {
  const {
    live,
    isRollingOut = false,
    takenBack = [],
    resizing = [],
    lacking = [],
    blocks = {},
    changed = less,
    maxCpu = '4',
  } = given;
  const asked: ResizeDecision[] = [];
  const converge = createConverge({
    isAllocated: () => false,
    clock: createVirtualClock(NOON),
    actuator: {
      isResizing: (uid) => resizing.includes(uid),
      lacksRoom: (uid) => lacking.includes(uid),
      async resize(decision) {
        asked.push(decision);
        const isMemory = decision.changes.some(({ to }) => to.memoryRequest !== undefined);
        const reason = blocks[decision.pod.uid] ?? (isMemory ? given.toMemory : undefined);
        return reason === undefined ? { kind: 'asked', tookFrom: [] } : { kind: 'blocked', block: block(reason) };
      },
    },
  });
  const memory = createRightsizingMemory().of('uid-web');
  memory.watches.resume(() => ({ ongoing: [], takenBack }));
  if (given.canary !== undefined) {
    const canary = { uid: given.canary, name: given.canary, at: NOON };
    const watched = watchChange(less, before, [], NOON);
    memory.watches.begin({ ...watched, method: 'InPlace', phase: 'canary', canary });
  }
  const context = {
    advised: { workload: aSizedWorkload({ isRollingOut }), inForce: before },
    policy: validPolicy({
      spec: { resourceBounds: { ...leastPolicySpec.resourceBounds, cpu: { min: '10m', max: maxCpu } } },
    }),
    memory,
    live,
    annotate: () => Promise.resolve(undefined),
    signal: new AbortController().signal,
  } as unknown as ApplyContext;
  const { kept, cramped } = await converge(context, applyChanges(before, changed), changed);
  return {
    pods: asked.map((each) => each.pod.name),
    asked,
    kept: kept?.reason,
    cramped: cramped.map((each) => each.pod.pod.name),
    memory,
  };
}

describe('pods that differ from the sizes in force', () => {
  test('are asked for what they lack, what becomes less first', async () => {
    const { pods, asked } = await run({ live: [pod('low', 50), pod('high', 300), pod('right', 100)] });
    expect(pods).toEqual(['high', 'low']);
    expect(asked[0]?.changes).toEqual(less);
    expect(asked[0]).not.toHaveProperty('isRestore');
  });

  test.each<[string, SizeChange['to'], Block['reason'], SizeChange['to'] | undefined]>([
    ['have less CPU where there is no room for more memory', { cpuRequest: 100 }, 'NodeHasNoRoom', { cpuRequest: 100 }],
    ['have no more of either then', { cpuRequest: 400 }, 'NodeHasNoRoom', undefined],
    [
      'have what restarts nothing where a restart has to wait',
      { cpuRequest: 400 },
      'OutsideWindow',
      { cpuRequest: 400 },
    ],
    ['have nothing where all have to wait', { cpuRequest: 100 }, 'ChangePace', undefined],
  ])('%s', async (_, cpu, toMemory, expected) => {
    const memoryRestart = toMemory === 'NodeHasNoRoom' ? 'NotRequired' : 'RestartContainer';
    const { pod: record, sizing } = pod('web-1', 200);
    const containers = sizing.containers.map((each) => ({ ...each, memoryRestart }) as const);
    const changed = [{ container: 'app', to: { ...cpu, memoryRequest: 256 * MIB } }];
    const live = [{ pod: record, sizing: { ...sizing, containers } }];
    const { asked, kept } = await run({ live, changed, toMemory });
    const rest = expected === undefined ? [] : [[{ container: 'app', to: expected }]];
    expect([kept, ...asked.map(({ changes }) => changes)]).toEqual([toMemory, changed, ...rest]);
  });

  test('have more CPU where memory in use keeps its limit', async () => {
    const changed = [{ container: 'app', to: { cpuRequest: 400, memoryRequest: 64 * MIB } }];
    const { asked } = await run({ live: [pod('web-1', 200)], changed, toMemory: 'MemoryInUse' });
    expect(asked.map(({ changes }) => changes)).toEqual([changed, [{ container: 'app', to: { cpuRequest: 400 } }]]);
  });

  test('are given what is tried on the first of them only where they are the first', async () => {
    const { asked, pods } = await run({ live: [pod('first', 200), pod('other', 200)], changed: [], canary: 'first' });
    expect(pods).toEqual(['first']);
    expect(asked[0]?.changes).toEqual(less);
  });

  test('are raised no further than the policy of now allows, whichever put the sizes in force', async () => {
    const changed = [{ container: 'app', to: { cpuRequest: 150, memoryRequest: 256 * MIB } }];
    const { asked } = await run({ live: [pod('low', 50), pod('high', 300)], changed, maxCpu: '100m' });
    expect(asked.map(({ changes }) => changes[0]?.to)).toEqual([
      { memoryRequest: 256 * MIB },
      { cpuRequest: 150, memoryRequest: 256 * MIB },
    ]);
  });

  test('wait while they are being resized, and while somebody rolls out another template', async () => {
    expect((await run({ live: [pod('a', 300), pod('b', 300)], resizing: ['a'] })).pods).toEqual(['b']);
    expect((await run({ live: [pod('a', 300)], isRollingOut: true })).pods).toEqual([]);
  });

  test('keep each other from nothing, but where the whole cluster has to wait', async () => {
    const live = [pod('a', 300), pod('b', 300)];
    expect(await run({ live, blocks: { a: 'PodNotReady' } })).toMatchObject({ pods: ['a', 'b'], kept: 'PodNotReady' });
    expect(await run({ live, blocks: { a: 'ChangePace' } })).toMatchObject({ pods: ['a'], kept: 'ChangePace' });
    expect(await run({ live, blocks: { b: 'ChangePace' } })).toMatchObject({ pods: ['a', 'b'], kept: 'ChangePace' });
  });

  test('have more memory first where it is needed most, and also where nothing else may be changed for now', async () => {
    const live = [pod('a', 300), pod('b', 300), pod('c', 100, 100 * MIB), pod('d', 100, 64 * MIB), pod('e', 50)];
    const { pods } = await run({
      live,
      changed: [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 128 * MIB } }],
      blocks: { a: 'ChangePace' },
    });
    expect(pods).toEqual(['a', 'd', 'c', 'e']);
  });

  test('are cramped where their node has no room, or had none for more', async () => {
    const live = [pod('more', 50), pod('less', 300)];
    const crampedBy = async (reason: Block['reason'], lacking: readonly string[]) =>
      (await run({ live, lacking, blocks: { more: reason, less: reason } })).cramped;
    expect(await crampedBy('NodeHasNoRoom', [])).toEqual(['less', 'more']);
    expect(await crampedBy('ChangeBackoff', ['more', 'less'])).toEqual(['more']);
    expect(await crampedBy('ChangeBackoff', [])).toEqual([]);
  });

  test('are not cramped where a new pod would have more than the policy of now allows; unless harm is undone', async () => {
    const changed = [{ container: 'app', to: { cpuRequest: 150, memoryRequest: 256 * MIB } }];
    const blocks = { low: 'NodeHasNoRoom', high: 'NodeHasNoRoom' } as const;
    const scene = { live: [pod('low', 50), pod('high', 300)], changed, maxCpu: '100m', blocks };
    expect(await run(scene)).toMatchObject({ pods: ['low', 'high', 'high'], cramped: ['high'] });
    const takenBack = [{ container: 'app', resource: 'memory' }] as const;
    expect((await run({ ...scene, takenBack })).cramped).toEqual(['low', 'high']);
  });
});

describe('what did harm', () => {
  const cpu = [{ container: 'app', resource: 'cpu' as const }];
  const changed = [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 64 * MIB } }];

  test('is undone first and alone, also during a rollout', async () => {
    const { asked } = await run({ live: [pod('a', 300)], takenBack: cpu, changed, isRollingOut: true });
    expect(asked).toMatchObject([{ isRestore: true, changes: [{ container: 'app', to: { cpuRequest: 100 } }] }]);
    expect(asked[0]?.changes[0]?.to).not.toHaveProperty('memoryRequest');
  });

  test('is undone whatever the policy allows by now', async () => {
    const given = { live: [pod('a', 50)], takenBack: cpu, maxCpu: '80m' };
    expect((await run(given)).asked).toMatchObject([{ isRestore: true, changes: less }]);
  });

  test('is forgotten when every pod has it undone; then the rest goes on', async () => {
    const { asked, memory } = await run({ live: [pod('a', 100)], takenBack: cpu, changed });
    expect(memory.watches.takenBack).toEqual([]);
    expect(asked).toMatchObject([{ changes: [{ to: { memoryRequest: 64 * MIB } }] }]);
    expect(asked[0]).not.toHaveProperty('isRestore');
  });

  test('is of that container and that resource', async () => {
    const other = [{ container: 'log', resource: 'cpu' as const }];
    expect((await run({ live: [pod('a', 300)], takenBack: other })).asked[0]).not.toHaveProperty('isRestore');
    const memory = [{ container: 'app', resource: 'memory' as const }];
    expect((await run({ live: [pod('a', 300)], takenBack: memory })).asked[0]).not.toHaveProperty('isRestore');
  });
});
