import { expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { readAppliedSizes, withAppliedSizes } from '../../model/applied-sizes.ts';
import { noLessons } from '../../model/learned-floors.ts';
import { freshState, type ReplicaState, sizesOf } from '../../model/replica-sizes.ts';
import { aDeployment, aReplicaSet } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import type { Advised } from './advise.ts';
import { toOneSize } from './one-size.ts';

const sized = (mebibytes: number) => [aContainer({ size: { cpuRequest: 100, memoryRequest: mebibytes * MIB } })];
const has = (mebibytes: number, before?: number): ReplicaState => ({
  ...freshState(sized(mebibytes)),
  before: before === undefined ? undefined : sizesOf(sized(before)),
});

/** Three replicas; all have 512 MiB unless they have something of their own. */
function sizeOfAll(states: Readonly<Record<string, ReplicaState>>, ordinals: readonly number[]): number | undefined {
  const containers = sized(512);
  const annotations = { [rightsizingKeys.replicaSizes]: '{}' };
  const workload = aSizedWorkload({ kind: 'StatefulSet', name: 'db', replicas: 3, containers, annotations });
  const pods = ordinals.map((ordinal) => {
    const record = aSizedPod(aReplicaSet(aDeployment()), `db-${ordinal}`, { containers });
    return { pod: record, sizing: record.sizing };
  });
  const replicas = { obstacle: 'not asked for', states: new Map(Object.entries(states)), replicas: [] };
  const advised = { workload, pods, replicas, inForce: containers, lessons: noLessons } as unknown as Advised;
  const text = toOneSize(advised)?.annotations[rightsizingKeys.appliedSizes];
  const all = withAppliedSizes(containers, readAppliedSizes(text ?? undefined));
  return (all[0]?.size.memoryRequest ?? 0) / MIB;
}

test.each<[string, Readonly<Record<string, ReplicaState>>, readonly number[], number]>([
  ['the most that any has', { 0: has(120), 1: has(200), 2: has(100) }, [0, 1, 2], 200],
  ['what all have, where one has nothing of its own', { 0: has(120), 1: has(200) }, [0, 1, 2], 512],
  ['or had, before its pod was replaced', { 0: has(120), 1: has(200) }, [0, 1], 512],
  ['what one had before less that is still watched', { 0: has(120), 1: has(200), 2: has(100, 300) }, [0, 1, 2], 300],
])('back to one size is %s', (_, states, ordinals, expected) => {
  expect(sizeOfAll(states, ordinals)).toBe(expected);
});
