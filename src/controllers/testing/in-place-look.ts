/** One look at a workload that is sized in place, with an actuator that takes whatever it is asked for. */
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import type { Clock } from '../../lib/clock.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import { noReplicas } from '../../model/replica-sizes.ts';
import type { ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from '../rightsizing/apply.ts';
import { createInPlace, type InPlaceOptions } from '../rightsizing/in-place.ts';
import { createRightsizingMemory } from '../rightsizing/memory.ts';
import { createRestartGate, type RestartGateOptions } from '../rightsizing/restart-gate.ts';
import { nothingSeen } from '../rightsizing/throttling.ts';
import type { WatchState } from '../rightsizing/watches.ts';

const replicaSet = aReplicaSet(aDeployment());
export const before = [aContainer({ size: { cpuRequest: 200, memoryRequest: 128 * MIB } })];
export const lessCpu: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];
const lessMemory: readonly SizeChange[] = [{ container: 'app', to: { memoryRequest: 64 * MIB } }];

export const closed = { schedule: [{ cron: '0 13 * * *', duration: '1h' }] };

export const harmed: Partial<WatchState> = { takenBack: [{ container: 'app', resource: 'memory' }] };
export const putBack = [['other', [{ container: 'app', to: { memoryRequest: 128 * MIB } }], true]];

export const pod = (
  name: string,
  changes: readonly SizeChange[],
  status: Partial<ContainerStatusRecord> = {},
  createdAt = NOON - 3_600_000,
): SizedPod => {
  // Sized by rightsizing, which so has a say in all of its sizes.
  const marks = { [sizingKeys.originalResources]: '{}' };
  const containers = applyChanges(before, changes);
  const statuses = containers.map((each) => aContainerStatus(each, status));
  const record = aSizedPod(replicaSet, name, { containers, statuses, marks }, { uid: name, createdAt });
  return { pod: record, sizing: record.sizing };
};

/**
 * One look at a workload whose first pod has had less CPU for the whole time that it is watched, while the window is
 * closed; another pod still has less memory than is in force. Its pods are looked at at noon.
 */
export async function look(
  changed: Partial<WatchState>,
  advised: Partial<ApplyContext['advised']> = {},
  live?: readonly SizedPod[],
  updateStrategy: object = live === undefined ? closed : {},
  actuator: Partial<InPlaceOptions['actuator']> = {},
  clock: Clock = createVirtualClock(NOON),
) {
  const asked: ResizeDecision[] = [];
  const written: unknown[] = [];
  const made: (readonly SizeChange[])[] = [];
  const settings = () => ({ canaryMillis: 180_000, revertMillis: 1_800_000, restart: {} });
  const inPlace = createInPlace({
    actuator: {
      isResizing: () => false,
      lacksRoom: () => false,
      keepsMemoryLimits: () => false,
      async resize(decision: ResizeDecision) {
        asked.push(decision);
        return { kind: 'asked', tookFrom: [] };
      },
      ...actuator,
    },
    sizeReplicas: async () => ({ states: noReplicas }),
    makeRoom: { evictOne: async () => undefined, isTime: async () => false },
    changes: {
      judge: async () => [],
      takeBack: async () => ({ inForce: undefined, result: { status: 'Pending', reason: 'ChangeReverted' } }),
      noteMade: (_: unknown, { changes }: { readonly changes: readonly SizeChange[] }) => void made.push(changes),
    },
    restartGate: createRestartGate({ settings, clock } as unknown as RestartGateOptions),
    settings,
    isAllocated: () => false,
    clock,
  } as unknown as InPlaceOptions);
  const canary = { uid: 'first', name: 'first', at: NOON - 600_000 };
  const watched = watchChange(lessCpu, before, [], NOON - 600_000);
  const memory = createRightsizingMemory().of('uid-web');
  memory.watches.resume(() => ({
    ongoing: [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }],
    takenBack: [],
    ...changed,
  }));
  const running = live ?? [pod('first', lessCpu), pod('other', lessMemory)];
  const context = {
    advised: {
      workload: aSizedWorkload({ containers: before }),
      pods: running,
      at: NOON,
      inForce: before,
      advice: [],
      lessons: { floors: [], reverts: 0 },
      ...advised,
    },
    policy: validPolicy({ spec: { updateStrategy } }),
    memory,
    live: running,
    annotate: async (wanted: Readonly<Record<string, unknown>>) =>
      void written.push(wanted['optipod.io/applied-sizes']),
    signal: new AbortController().signal,
  } as unknown as ApplyContext;
  const result = await inPlace(context);
  const told = asked.map((each) => [each.pod.name, each.changes, each.isRestore === true]);
  return { result, asked: told, written, made, ongoing: memory.watches.ongoing };
}

/** Of the container `app`, more of both is due. */
export const moreOfBoth = [
  {
    container: 'app',
    current: before[0]?.size ?? {},
    cpu: { isDue: true, request: 400, notes: [] },
    memory: { isDue: true, request: 256 * MIB, notes: [] },
  },
] as unknown as readonly SizedAdvice[];
