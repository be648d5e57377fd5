/** The READY, STATUS and RESTARTS cells of a pod. Source of the rules: printPod of kubernetes pkg/printers/internalversion/printers.go. */
import { type JsonObject, numberAt, objectAt, objectsAt, stringAt } from '../json.ts';
import type { ApiObject } from '../served-type.ts';
import { ageOf } from './column-source.ts';

export interface PodRow {
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
}

function terminatedReason(terminated: JsonObject): string {
  const reason = stringAt(terminated, 'reason') ?? '';
  if (reason !== '') return reason;
  const signal = numberAt(terminated, 'signal') ?? 0;
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${numberAt(terminated, 'exitCode') ?? 0}`;
}

function hasCondition(pod: ApiObject, type: string): boolean {
  return objectsAt(pod, 'status', 'conditions').some(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  );
}

const isSidecar = (container: JsonObject | undefined): boolean => container?.['restartPolicy'] === 'Always';

/** The state of init containers: undefined once all are done or serving. */
function initReason(pod: ApiObject): string | undefined {
  const containers = objectsAt(pod, 'spec', 'initContainers');
  for (const [index, status] of objectsAt(pod, 'status', 'initContainerStatuses').entries()) {
    const terminated = objectAt(status, 'state', 'terminated');
    const waiting = stringAt(status, 'state', 'waiting', 'reason') ?? '';
    if (terminated !== undefined && (numberAt(terminated, 'exitCode') ?? 0) === 0) continue;
    if (isSidecar(containers.find(({ name }) => name === status['name'])) && status['started'] === true) continue;
    if (terminated !== undefined) return `Init:${terminatedReason(terminated)}`;
    if (waiting !== '' && waiting !== 'PodInitializing') return `Init:${waiting}`;
    return `Init:${index}/${containers.length}`;
  }
  return undefined;
}

export function podRow(pod: ApiObject, nowMillis: number): PodRow {
  const initContainers = objectsAt(pod, 'spec', 'initContainers');
  const sidecars = new Set(initContainers.filter(isSidecar).map(({ name }) => name));
  const initStatuses = objectsAt(pod, 'status', 'initContainerStatuses');
  const statuses = objectsAt(pod, 'status', 'containerStatuses');
  const total = objectsAt(pod, 'spec', 'containers').length + sidecars.size;
  let reason = stringAt(pod, 'status', 'reason') || (stringAt(pod, 'status', 'phase') ?? '');
  if (
    objectsAt(pod, 'status', 'conditions').some(
      ({ type, reason: why }) => type === 'PodScheduled' && why === 'SchedulingGated',
    )
  )
    reason = 'SchedulingGated';

  const counted = [...statuses, ...initStatuses.filter(({ name }) => sidecars.has(name))];
  let ready = initStatuses.filter((status) => sidecars.has(status['name']) && status['ready'] === true).length;
  const initializing = initReason(pod);
  if (initializing !== undefined && !hasCondition(pod, 'Initialized')) reason = initializing;
  else {
    let running = false;
    let failure = '';
    for (const status of [...statuses].reverse()) {
      const waiting = stringAt(status, 'state', 'waiting', 'reason') ?? '';
      const terminated = objectAt(status, 'state', 'terminated');
      if (waiting !== '') reason = waiting;
      else if (terminated !== undefined) {
        reason = terminatedReason(terminated);
        if ((numberAt(terminated, 'exitCode') ?? 0) !== 0) failure = reason;
      } else if (status['ready'] === true && objectAt(status, 'state', 'running') !== undefined) {
        running = true;
        ready++;
      }
    }
    if (reason === 'Completed') {
      if (running) reason = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady';
      else if (failure !== '') reason = failure;
    }
  }
  if (pod.metadata.deletionTimestamp !== undefined)
    reason = stringAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';

  const restarts = counted.reduce((sum, status) => sum + (numberAt(status, 'restartCount') ?? 0), 0);
  const lastRestart = counted
    .map((status) => stringAt(status, 'lastState', 'terminated', 'finishedAt') ?? '')
    .sort()
    .at(-1);
  return {
    ready: `${ready}/${total}`,
    status: reason,
    restarts: restarts > 0 && lastRestart ? `${restarts} (${ageOf(lastRestart, nowMillis)} ago)` : String(restarts),
  };
}
