import { describe, expect, test } from 'vitest';
import type { PolicySpec } from '../model/policy-spec.ts';
import { MAX_SIZED_REPLICAS } from '../model/replica.ts';
import type { ContainerSpecRecord } from '../model/sizing-records.ts';
import { aDeployment, aReplicaSet, NOON } from '../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload } from '../model/testing/sizing-records.ts';
import { adviseReplicas, freshState, type ReplicasQuestion } from './rightsizing-advise-replicas.ts';

const owner = aReplicaSet(aDeployment());

/** A DaemonSet that has sizes of their own for `known` nodes, and a waiting pod on each of `present`. */
function ask(known: readonly string[], present: readonly string[], containers: readonly ContainerSpecRecord[]) {
  const pods = present.map((nodeName) => {
    const record = aSizedPod(owner, `agent-${nodeName}`, { containers }, { nodeName, phase: 'Pending' });
    return { pod: record, sizing: record.sizing };
  });
  return adviseReplicas({
    workload: aSizedWorkload({ kind: 'DaemonSet', containers, replicas: present.length }),
    spec: { updates: { sizePerReplica: true } } as PolicySpec,
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

  test('of more of them than may have sizes of their own all have one size', () => {
    expect(ask([], nodes(MAX_SIZED_REPLICAS + 1, 'node'), [aContainer()])?.obstacle).toMatch(/^there are 201 replicas/);
  });

  test('whose sizes would not fit while they are watched with less have one size from the start', () => {
    const containers = Array.from({ length: 6 }, (_, index) => aContainer({ name: `container-of-the-agent-${index}` }));
    const all = nodes(MAX_SIZED_REPLICAS, 'ip-10-0-0');
    expect(ask(all, all, containers)?.obstacle).toBe('the sizes of all replicas do not fit into an annotation');
    expect(ask(all, all, containers.slice(0, 2))?.obstacle).toBeUndefined();
  });
});
