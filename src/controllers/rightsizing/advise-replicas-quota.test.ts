/** What one replica is advised to have of a quota, beside what the others of its workload are yet to take. */
import { expect, test } from 'vitest';
import type { PromisedUse } from '../../decide/rightsizing/joint-fit.ts';
import { profileOf } from '../../decide/rightsizing/testing/profiles.ts';
import { NOW, policy, STEPS } from '../../decide/rightsizing/testing/workload-question.ts';
import { noLessons } from '../../model/learned-floors.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import { freshState, type ReplicaStates } from '../../model/replica-sizes.ts';
import { noUse } from '../../model/size-bounds.ts';
import { aStatefulSet } from '../../model/testing/records.ts';
import { aContainer, aQuota, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { adviseReplicas, type ReplicasQuestion } from './advise-replicas.ts';
import { ChangeTimes } from './change-times.ts';

const owner = aStatefulSet();
const of = (cpuRequest: number) => [aContainer({ size: { cpuRequest, memoryRequest: 120 * MIB } })];
const hungry = profileOf(STEPS, { cpu: () => 2000, memory: () => 100 * MIB });

interface Scene {
  readonly replicas?: number;
  readonly states?: ReplicaStates;
  readonly promised?: readonly PromisedUse[];
}

/** CPU advised to the first replica of a set that has 200m in force, of a quota of 1000m of which 400m are used. */
function advisedFirst(has: readonly number[], { replicas = 2, states = new Map(), promised = [] }: Scene = {}) {
  const pods = has.map((cpu, index) => {
    const pod = aSizedPod(owner, `db-${index}`, { containers: of(cpu) });
    return { pod, sizing: pod.sizing };
  });
  const quotas = [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 400 } })];
  const advised = adviseReplicas({
    workload: aSizedWorkload({ kind: 'StatefulSet', name: 'db', containers: of(200), replicas }),
    spec: { updates: { sizePerReplica: true } } as PolicySpec,
    rulesFor: () => policy,
    around: {
      limitRanges: [],
      quotas,
      hpas: [],
      largestNode: undefined,
      replicas,
      promises: () => ({ promised, returning: noUse }),
    },
    usage: { profileOf: () => hungry, windowOf: () => undefined },
    isAllocated: () => false,
    lessons: noLessons,
    pods,
    inForce: of(200),
    states,
    times: new ChangeTimes(),
    unread: undefined,
    now: NOW,
  } as unknown as ReplicasQuestion);
  return advised?.replicas.find(({ replica }) => replica === '0')?.advice[0]?.cpu.request;
}

test('a replica that is missing finds what it needs: the others are not given that', () => {
  expect(advisedFirst([200, 200])).toBe(800);
  expect(advisedFirst([200, 200], { replicas: 3 })).toBe(600);
  const states = new Map([['2', freshState(of(500))]]);
  expect(advisedFirst([200, 200], { replicas: 3, states })).toBe(300);
});

test('what others have in force and do not hold yet is theirs, in the workload and beside it', () => {
  const promised = [{ growth: { ...noUse, cpuRequest: 150 }, awaited: undefined, like: undefined }];
  expect(advisedFirst([200, 200], { promised })).toBe(650);
  const states = new Map([['1', freshState(of(500))]]);
  expect(advisedFirst([200, 200], { states, promised })).toBe(350);
});

test('what the replica itself is yet to take is its own', () => {
  const states = new Map([['0', freshState(of(300))]]);
  expect(advisedFirst([100, 200], { states })).toBe(700);
});
