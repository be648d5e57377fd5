/** Replicas sized each for itself where the cluster may be changed too seldom for what each needs next. */
import { expect, test } from 'vitest';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { freshState, readReplicaSizes } from '../../model/replica-sizes.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { createReplicaSizing } from '../testing/replica-sizing.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';

const containers = [aContainer({ size: { cpuRequest: 200, memoryRequest: 100 * MIB } })];
const advised = (mebibytes: number): readonly SizedAdvice[] =>
  [
    {
      container: 'app',
      current: containers[0]?.size ?? {},
      cpu: { isDue: false, notes: [] },
      memory: { isDue: true, request: mebibytes * MIB, notes: [] },
    },
  ] as unknown as readonly SizedAdvice[];

/** MiB asked of a replica that needs 128, where all need 400, once more memory has waited for half a minute. */
async function ask(room: number, updateStrategy: object) {
  const clock = createVirtualClock(NOON);
  const asked: number[] = [];
  const written: unknown[] = [];
  let isPaceShort = true;
  const states = new Map([['3', freshState(containers)]]);
  const sizing = {
    containers,
    marks: { [sizingKeys.originalResources]: '{}' },
    statuses: containers.map((each) => aContainerStatus(each)),
  };
  const record = aSizedPod(aReplicaSet(aDeployment()), 'db-3', sizing, { uid: 'db-3' });
  const pod = { pod: record, sizing: record.sizing };
  const workload = aSizedWorkload({ kind: 'StatefulSet', name: 'db', containers });
  const replica = {
    replica: '3',
    pod,
    state: states.get('3'),
    inForce: containers,
    isKnown: true,
    advice: advised(128),
  };
  const blocked = (reason: string) => ({ kind: 'blocked', block: { reason, message: reason } });
  const sizeReplicas = createReplicaSizing({
    clock,
    async resize({ changes }) {
      const wanted = (changes[0]?.to.memoryRequest ?? 0) / MIB;
      if (isPaceShort) return blocked('ChangePace');
      asked.push(wanted);
      return wanted > room ? blocked('NodeHasNoRoom') : { kind: 'asked', tookFrom: [] };
    },
  });
  const context = {
    advised: {
      workload,
      pods: [pod],
      at: NOON,
      inForce: containers,
      advice: advised(400),
      lessons: { floors: [], reverts: 0 },
      replicas: { obstacle: undefined, states, replicas: [replica] },
    },
    policy: validPolicy({ spec: { updateStrategy: { allowRecreate: true, evictToResize: true, ...updateStrategy } } }),
    memory: createRightsizingMemory().of('uid-db'),
    live: [pod],
    annotate: async (wanted: Readonly<Record<string, string>>) => void written.push(wanted['optipod.io/replica-sizes']),
    signal: new AbortController().signal,
  } as unknown as ApplyContext;
  for (let look = 0; look < 3; look++) {
    await sizeReplicas(context);
    await clock.advance(20_000);
  }
  isPaceShort = false;
  await sizeReplicas(context);
  const size = readReplicaSizes(String(written.at(-1)), containers)
    .get('3')
    ?.sizes.get('app');
  return { asked, given: (size?.memoryRequest ?? 0) / MIB };
}

test.each<[string, number, object, readonly number[], number]>([
  ['is given what lasts', 1000, {}, [400], 400],
  ['has what it needs next where there is no room for more, and is not evicted for that', 200, {}, [400, 128], 128],
  ['is evicted for what it needs next, where there is no room for that', 0, {}, [400, 128], 128],
  ['goes up in steps where the policy bounds them', 1000, { maxStep: { up: '30%' } }, [128], 128],
])('where turns are scarce, a replica %s', async (_, room, updateStrategy, asked, given) => {
  expect(await ask(room, updateStrategy)).toEqual({ asked, given });
});
