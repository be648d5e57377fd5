import { expect, test } from 'vitest';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import { freshState, type ReplicaState, sizesOf } from '../../model/replica-sizes.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createReplicaSizing } from '../testing/replica-sizing.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';

const all = [aContainer({ size: { cpuRequest: 200 } })];
const less: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];
const lessIsDue = [
  {
    container: 'app',
    current: { cpuRequest: 200 },
    cpu: { isDue: true, request: 100, notes: [] },
    memory: { isDue: false, notes: [] },
  },
] as unknown as readonly SizedAdvice[];

function replicaOf(replica: string, has: readonly SizeChange[], state: ReplicaState, advice: readonly SizedAdvice[]) {
  const containers = applyChanges(all, has);
  const statuses = containers.map((each) => aContainerStatus(each));
  const sizing = { containers, statuses, marks: { [sizingKeys.originalResources]: '{}' } };
  const record = aSizedPod(aReplicaSet(aDeployment()), `db-${replica}`, sizing, { uid: `db-${replica}` });
  return { replica, pod: { pod: record, sizing: record.sizing }, state, inForce: containers, isKnown: true, advice };
}

test.each<[Millis, readonly string[]]>([
  [179_999, []],
  [180_000, ['db-4']],
])('the first replica was seen to do with less for %i ms, before the process stood still', async (...given) => {
  const [seenMillis, expected] = given;
  const clock = createVirtualClock(NOON - seenMillis);
  const asked: string[] = [];
  const sizeReplicas = createReplicaSizing({
    clock,
    async resize({ pod }) {
      asked.push(pod.name);
      return { kind: 'asked', tookFrom: [] };
    },
  });
  const lessons = { floors: [], reverts: 0 };
  const first = { sizes: sizesOf(applyChanges(all, less)), changedAt: clock.now(), before: sizesOf(all), lessons };
  const replicas = [replicaOf('3', less, first, []), replicaOf('4', [], freshState(all), lessIsDue)];
  const pods = replicas.map(({ pod }) => pod);
  const memory = createRightsizingMemory().of('uid-db');
  const look = (at: EpochMillis) =>
    sizeReplicas({
      advised: {
        workload: aSizedWorkload({ kind: 'StatefulSet', name: 'db', containers: all }),
        pods,
        at,
        inForce: all,
        advice: [],
        lessons,
        replicas: {
          obstacle: undefined,
          replicas,
          states: new Map(replicas.map((each) => [each.replica, each.state])),
        },
      },
      policy: validPolicy(),
      memory,
      live: pods,
      annotate: async () => undefined,
      signal: new AbortController().signal,
    } as unknown as ApplyContext);
  await look(clock.now());
  await clock.advance(seenMillis + 300);
  await look(NOON);
  expect(asked).toEqual(expected);
});
