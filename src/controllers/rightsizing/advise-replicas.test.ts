import { describe, expect, test } from 'vitest';
import { rulesOf } from '../../decide/rightsizing/policy-rules.ts';
import { eager, NOW, policy, steady } from '../../decide/rightsizing/testing/workload-question.ts';
import { noLessons } from '../../model/learned-floors.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import { MAX_SIZED_REPLICAS } from '../../model/replica.ts';
import { freshState, sizesOf, writeReplicaSizes } from '../../model/replica-sizes.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { adviseReplicas, type ReplicasQuestion } from './advise-replicas.ts';
import { ChangeTimes } from './change-times.ts';

const owner = aReplicaSet(aDeployment());

/** A DaemonSet that has sizes of their own for `known` nodes, and a pod on each of `present`. @param waiting of whose nodes it does not run. */
function ask(
  known: readonly string[],
  present: readonly string[],
  containers: readonly ContainerSpecRecord[],
  waiting: readonly string[] = [],
) {
  const pods = present.map((nodeName) => {
    const phase = waiting.includes(nodeName) ? 'Pending' : 'Running';
    const record = aSizedPod(owner, `agent-${nodeName}`, { containers }, { nodeName, phase });
    return { pod: record, sizing: record.sizing };
  });
  return adviseReplicas({
    workload: aSizedWorkload({ kind: 'DaemonSet', containers, replicas: present.length }),
    spec: { updates: { sizePerReplica: true } } as PolicySpec,
    rulesFor: () => rulesOf(validPolicy().spec),
    around: { limitRanges: [], quotas: [], hpas: [], largestNode: undefined, replicas: present.length },
    usage: { profileOf: () => undefined, windowOf: () => undefined },
    isAllocated: () => false,
    lessons: noLessons,
    pods,
    inForce: containers,
    states: new Map(known.map((node) => [node, freshState(containers)])),
    times: new ChangeTimes(),
    now: NOON,
  } as unknown as ReplicasQuestion);
}

const nodes = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}.eu-central-1.compute.internal`);

describe('nodes of a DaemonSet', () => {
  test('that are replaced one after the other cost nobody his size; new ones wait until those that are gone leave', () => {
    const [old, fresh] = [nodes(150, 'old'), nodes(149, 'new')];
    const advised = ask([...old, ...fresh.slice(0, 20)], [...fresh, old[149] ?? ''], [aContainer()]);
    expect(advised?.obstacle).toBeUndefined();
    expect(advised?.states.size).toBe(170);
    const without = advised?.replicas.filter(({ replica }) => advised.states.has(replica) === false);
    expect(without).toHaveLength(MAX_SIZED_REPLICAS - 170);
  });

  test('of more of them than may have sizes of their own the first have, and whoever has one keeps it', () => {
    const all = nodes(MAX_SIZED_REPLICAS + 20, 'node');
    const advised = ask([all[219] ?? ''], all, [aContainer()]);
    expect(advised?.obstacle).toBeUndefined();
    expect([...(advised?.states.keys() ?? [])]).toEqual([all[219]]);
    const may = advised?.replicas.map(({ replica }) => replica);
    const others = all.slice(0, 219).toSorted();
    expect(new Set(may)).toEqual(new Set([...others.slice(0, MAX_SIZED_REPLICAS - 1), all[219]]));
  });

  test('of more than may have sizes of their own, whose pods are replaced keep theirs, and nobody else takes their places', () => {
    const all = nodes(MAX_SIZED_REPLICAS + 20, 'node');
    const known = all.slice(0, MAX_SIZED_REPLICAS);
    const advised = ask(known, all.slice(3), [aContainer()]);
    expect([...(advised?.states.keys() ?? [])]).toEqual(known);
    expect(new Set(advised?.replicas.map(({ replica }) => replica))).toEqual(new Set(known.slice(3)));
  });

  test('of a pod that does not run yet the place is not given away', () => {
    const all = nodes(MAX_SIZED_REPLICAS + 20, 'node').toSorted();
    const advised = ask(all.slice(0, 199), all, [aContainer()], [all[0] ?? '']);
    expect(advised?.states.size).toBe(199);
    expect(advised?.replicas.map(({ replica }) => replica)).toEqual(all.slice(1, MAX_SIZED_REPLICAS));
  });

  test('as many have sizes of their own as fit while they are watched with less', () => {
    const containers = Array.from({ length: 6 }, (_, index) => aContainer({ name: `container-of-the-agent-${index}` }));
    const all = nodes(MAX_SIZED_REPLICAS, 'ip-10-0-0');
    const of = (count: number) => ask(all.slice(-30), all, containers.slice(0, count));
    expect(of(2)?.replicas).toHaveLength(MAX_SIZED_REPLICAS);
    const advised = of(6);
    expect(advised?.states.size).toBe(30);
    const may = advised?.replicas.map(({ replica }) => replica) ?? [];
    expect(may).toEqual(expect.arrayContaining(all.slice(-30)));
    expect(may.length).toBeGreaterThan(60);
    const others = all.slice(0, -30).toSorted();
    expect(new Set(may)).toEqual(new Set([...all.slice(-30), ...others.slice(0, may.length - 30)]));
    const watched = new Map(
      may.map((replica) => [replica, { ...freshState(containers), changedAt: NOON, before: sizesOf(containers) }]),
    );
    expect(writeReplicaSizes(containers, watched)).toBeDefined();
  });
});

test('the pause after a change of one resource of a replica holds back that one', () => {
  const containers = [aContainer({ size: { cpuRequest: 100, memoryRequest: 64 * MIB } })];
  const record = aSizedPod(owner, 'agent-a', { containers }, { nodeName: 'a' });
  const times = new ChangeTimes();
  times.ofReplica('a', undefined).noteChanged([{ container: 'app', resource: 'cpu' }], NOW);
  const pausing = { ...eager, cooldownUpMillis: 3_600_000 };
  const rules = {
    ...policy,
    cpu: { ...policy.cpu, change: pausing },
    memory: { ...policy.memory, change: pausing },
  };
  const advised = adviseReplicas({
    workload: aSizedWorkload({ kind: 'DaemonSet', containers }),
    spec: { updates: { sizePerReplica: true } } as PolicySpec,
    rulesFor: () => rules,
    around: { limitRanges: [], quotas: [], hpas: [], largestNode: undefined, replicas: 1 },
    usage: { profileOf: () => steady, windowOf: () => undefined },
    isAllocated: () => false,
    lessons: noLessons,
    pods: [{ pod: record, sizing: record.sizing }],
    inForce: containers,
    states: new Map([['a', { ...freshState(containers), changedAt: NOW }]]),
    times,
    unread: undefined,
    now: NOW,
  });
  const [advice] = advised?.replicas[0]?.advice ?? [];
  expect([advice?.cpu.held, advice?.memory.isDue]).toEqual(['Cooldown', true]);
});
