import { expect, test } from 'vitest';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { Harm } from '../../decide/rightsizing/judge-change.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { partsOf } from '../../decide/rightsizing/side-by-side.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import { type ReplicaState, readReplicaSizes, sizesOf, writeReplicaSizes } from '../../model/replica-sizes.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { createReplicaSizing } from '../testing/replica-sizing.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';
import type { ApplyResult } from './result.ts';

const all = [aContainer({ size: { cpuRequest: 200, memoryRequest: 128 * MIB } })];
const lessCpu: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];
const lessMemory = [
  {
    container: 'app',
    current: { cpuRequest: 100, memoryRequest: 128 * MIB },
    cpu: { isDue: false, notes: [] },
    memory: { isDue: true, request: 64 * MIB, notes: [] },
  },
] as unknown as readonly SizedAdvice[];
const failed: ApplyResult = { status: 'Error', reason: 'UpdateFailed' };

/**
 * Looks at a replica that has less since two hours, every 400 s; what is written there fails, or its answer is lost. Its
 * pod may have been looked at a while ago.
 */
function watching(less: readonly SizeChange[], isMade: boolean) {
  const clock = createVirtualClock(NOON);
  const judged: (readonly SizedPart[])[] = [];
  let harm: Harm | undefined;
  const sizeReplicas = createReplicaSizing({
    clock,
    resize: async () => ({ kind: 'asked', tookFrom: [] }),
    async judge(_context, _pods, watched = []) {
      judged.push(watched.flatMap(({ changes }) => partsOf(changes)));
      const did = harm;
      return did === undefined ? [] : watched.map((change) => ({ change, harm: did }));
    },
  });
  const memory = createRightsizingMemory().of('uid-db');
  let text = writeReplicaSizes(
    all,
    new Map<string, ReplicaState>([
      [
        '3',
        {
          sizes: sizesOf(applyChanges(all, less)),
          changedAt: NOON - 7_200_000,
          before: sizesOf(all),
          lessons: { floors: [], reverts: 0 },
        },
      ],
    ]),
  );
  const look = async (advice: readonly SizedAdvice[] = [], does?: Harm, lateMillis = 0): Promise<void> => {
    harm = does;
    const states = readReplicaSizes(text, all, clock.now());
    const state = states.get('3');
    const inForce = applyChanges(all, [{ container: 'app', to: state?.sizes.get('app') ?? {} }]);
    const record = aSizedPod(
      aReplicaSet(aDeployment()),
      'db-3',
      { containers: inForce, marks: { [sizingKeys.originalResources]: '{}' } },
      { uid: 'db-3' },
    );
    const pod: SizedPod = { pod: record, sizing: record.sizing };
    const workload = aSizedWorkload({
      kind: 'StatefulSet',
      name: 'db',
      containers: all,
      annotations: { 'optipod.io/replica-sizes': text ?? '' },
    });
    const replica = { replica: '3', pod, state, inForce, isKnown: true, advice };
    await sizeReplicas({
      advised: {
        workload,
        pods: [pod],
        at: clock.now() - lateMillis,
        inForce: all,
        replicas: { obstacle: undefined, states, replicas: [replica] },
      },
      policy: validPolicy({ spec: { updateStrategy: { allowRecreate: true, evictToResize: true } } }),
      memory,
      live: [pod],
      async annotate(wanted: Readonly<Record<string, string>>) {
        if (isMade) text = wanted['optipod.io/replica-sizes'];
        return failed;
      },
      signal: new AbortController().signal,
    } as unknown as ApplyContext);
    await clock.advance(400_000);
  };
  return { look, judged };
}

const both = [
  { container: 'app', resource: 'cpu' },
  { container: 'app', resource: 'memory' },
];

test('less of a replica that is watched already is watched also where the answer to the write was lost', async () => {
  const { look, judged } = watching(lessCpu, true);
  await look();
  await look(lessMemory);
  await look();
  expect(judged.at(-1)).toEqual(both);
});

test('harm that could not be taken back is judged again', async () => {
  const { look, judged } = watching([{ container: 'app', to: { cpuRequest: 100, memoryRequest: 64 * MIB } }], false);
  await look();
  await look([], { parts: [{ container: 'app', resource: 'memory' }], cause: 'it was killed' });
  await look();
  expect(judged.at(-1)).toEqual(both);
});

test.each([
  [200_001, 7],
  [200_000, 6],
])(
  'less is watched until its pod was seen with it for half an hour, also by who stood still for %i ms',
  async (...given) => {
    const [lateMillis, times] = given;
    const { look, judged } = watching(lessCpu, true);
    for (let looks = 1; looks <= 5; looks++) await look();
    await look([], undefined, lateMillis);
    await look([], undefined, 400_000);
    expect(judged).toHaveLength(times);
  },
);
