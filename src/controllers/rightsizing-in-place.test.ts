import { describe, expect, test } from 'vitest';
import { sizingKeys } from '../api/annotations-sizing.ts';
import type { SizedAdvice } from '../decide/rightsizing/recommend-workload.ts';
import { watchChange } from '../decide/rightsizing/watched-change.ts';
import type { ResizeDecision } from '../decide/size-decision.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { applyChanges, type SizeChange } from '../model/pod-size.ts';
import { noReplicas } from '../model/replica-sizes.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import { validPolicy } from '../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload, MIB } from '../model/testing/sizing-records.ts';
import type { ApplyContext } from './rightsizing-apply.ts';
import { createInPlace, type InPlaceOptions } from './rightsizing-in-place.ts';
import { createRightsizingMemory, type WorkloadMemory } from './rightsizing-memory.ts';
import { nothingSeen } from './rightsizing-throttling.ts';

const replicaSet = aReplicaSet(aDeployment());
const before = [aContainer({ size: { cpuRequest: 200, memoryRequest: 128 * MIB } })];
const lessCpu: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];
const lessMemory: readonly SizeChange[] = [{ container: 'app', to: { memoryRequest: 64 * MIB } }];

const harmed: Partial<WorkloadMemory> = { takenBack: [{ container: 'app', resource: 'memory' }] };
const putBack = [['other', [{ container: 'app', to: { memoryRequest: 128 * MIB } }], true]];

const pod = (name: string, changes: readonly SizeChange[]): SizedPod => {
  // Sized by rightsizing, which so has a say in all of its sizes.
  const marks = { [sizingKeys.originalResources]: '{}' };
  const record = aSizedPod(replicaSet, name, { containers: applyChanges(before, changes), marks }, { uid: name });
  return { pod: record, sizing: record.sizing };
};

/**
 * One look at a workload whose first pod has had less CPU for the whole time that it is watched, while the window is
 * closed; another pod still has less memory than is in force.
 */
async function look(memory: Partial<WorkloadMemory>, advised: Partial<ApplyContext['advised']> = {}) {
  const asked: ResizeDecision[] = [];
  const clock = createVirtualClock(NOON);
  const inPlace = createInPlace({
    actuator: {
      isResizing: () => false,
      lacksRoom: () => false,
      async resize(decision: ResizeDecision) {
        asked.push(decision);
        return { kind: 'asked', tookFrom: [] };
      },
    },
    sizeReplicas: async () => ({ states: noReplicas }),
    makeRoom: Object.assign(async () => undefined, { isTime: async () => false }),
    changes: { judge: async () => [] },
    settings: () => ({ canaryMillis: 180_000, revertMillis: 1_800_000, restart: {} }),
    isAllocated: () => false,
    clock,
  } as unknown as InPlaceOptions);
  const canary = { uid: 'first', name: 'first', at: NOON - 600_000 };
  const watched = watchChange(lessCpu, before, [], NOON - 600_000);
  const context = {
    advised: { workload: aSizedWorkload(), inForce: before, advice: [], ...advised },
    policy: validPolicy({ spec: { updateStrategy: { schedule: [{ cron: '0 13 * * *', duration: '1h' }] } } }),
    memory: Object.assign(createRightsizingMemory().of('uid-web'), {
      ongoing: [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }],
      ...memory,
    }),
    live: [pod('first', lessCpu), pod('other', lessMemory)],
    annotate: () => Promise.resolve(undefined),
    signal: new AbortController().signal,
  } as unknown as ApplyContext;
  const result = await inPlace(context);
  return { result, asked: asked.map((each) => [each.pod.name, each.changes, each.isRestore === true]) };
}

describe('the window closed while the first pod with less was watched', () => {
  test('the others wait until it opens, and that is told', async () => {
    const { result, asked } = await look({});
    expect(result).toMatchObject({ status: 'Pending', reason: 'OutsideUpdateWindow', againAfterMillis: 60_000 });
    expect(asked).toEqual([]);
  });

  test('what did harm is put back all the same', async () => {
    const { asked } = await look(harmed);
    expect(asked).toEqual(putBack);
  });
});

describe('while somebody rolls out another template', () => {
  // More CPU is due.
  const more = [
    {
      container: 'app',
      current: before[0]?.size ?? {},
      cpu: { isDue: true, request: 400, notes: [] },
      memory: { isDue: false, notes: [] },
    },
  ] as unknown as readonly SizedAdvice[];
  const workload = aSizedWorkload({ isRollingOut: true });

  test.each<[string, Partial<WorkloadMemory>, unknown]>([
    ['what is due waits', {}, []],
    ['what did harm is put back all the same', harmed, putBack],
  ])('%s', async (_, memory, expected) => {
    const { result, asked } = await look(memory, { workload, advice: more });
    expect(result).toMatchObject({ status: 'Pending', reason: 'TemplateRollout' });
    expect(asked).toEqual(expected);
  });

  test('a first pod that was watched long enough is judged each minute, though nothing is due: somebody may have paused it for days', async () => {
    const { result } = await look({}, { workload });
    expect(result).toMatchObject({ status: 'Pending', reason: 'TemplateRollout', againAfterMillis: 60_000 });
    expect((await look(harmed, { workload })).asked).toEqual(putBack);
  });
});
