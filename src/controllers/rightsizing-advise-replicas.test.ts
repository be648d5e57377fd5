import { describe, expect, test } from 'vitest';
import { rulesOf } from '../decide/rightsizing/policy-rules.ts';
import { noLessons } from '../model/learned-floors.ts';
import type { PolicySpec } from '../model/policy-spec.ts';
import { MAX_SIZED_REPLICAS } from '../model/replica.ts';
import { freshState, sizesOf, writeReplicaSizes } from '../model/replica-sizes.ts';
import type { ContainerSpecRecord } from '../model/sizing-records.ts';
import { validPolicy } from '../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload } from '../model/testing/sizing-records.ts';
import { adviseReplicas, type ReplicasQuestion } from './rightsizing-advise-replicas.ts';

const owner = aReplicaSet(aDeployment());

/** A DaemonSet that has sizes of their own for `known` nodes, and a pod on each of `present`. */
function ask(known: readonly string[], present: readonly string[], containers: readonly ContainerSpecRecord[]) {
  const pods = present.map((nodeName) => {
    const record = aSizedPod(owner, `agent-${nodeName}`, { containers }, { nodeName });
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
    now: NOON,
  } as unknown as ReplicasQuestion);
}

const nodes = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}.eu-central-1.compute.internal`);

describe('nodes of a DaemonSet', () => {
  test('that are replaced one after the other cost nobody his size: those that are gone leave first', () => {
    const [old, fresh] = [nodes(150, 'old'), nodes(149, 'new')];
    const present = [...fresh, old[149] ?? ''];
    const advised = ask([...old, ...fresh.slice(0, 20)], present, [aContainer()]);
    expect(advised?.obstacle).toBeUndefined();
    const kept = [...(advised?.states.keys() ?? [])];
    expect(kept).toEqual(expect.arrayContaining([...fresh.slice(0, 20), old[149]]));
    expect(new Set([...kept, ...present]).size).toBeLessThanOrEqual(MAX_SIZED_REPLICAS);
  });

  test('of more of them than may have sizes of their own the first have, and whoever has one keeps it', () => {
    const all = nodes(MAX_SIZED_REPLICAS + 20, 'node');
    const advised = ask([all[219] ?? '', 'gone'], all, [aContainer()]);
    expect(advised?.obstacle).toBeUndefined();
    expect([...(advised?.states.keys() ?? [])]).toEqual([all[219]]);
    const may = advised?.replicas.map(({ replica }) => replica);
    const others = all.slice(0, 219).toSorted();
    expect(new Set(may)).toEqual(new Set([...others.slice(0, MAX_SIZED_REPLICAS - 1), all[219]]));
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
    const watched = new Map(
      may.map((replica) => [replica, { ...freshState(containers), changedAt: NOON, before: sizesOf(containers) }]),
    );
    expect(writeReplicaSizes(containers, watched)).toBeDefined();
  });
});
