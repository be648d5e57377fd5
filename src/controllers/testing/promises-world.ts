/** A small cluster of workloads that are being sized, in which anything may change between two looks. */
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { InFlightResize } from '../../guard/size/context.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { writeAppliedSizes } from '../../model/applied-sizes.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { PodRecord } from '../../model/records.ts';
import { freshState, writeReplicaSizes } from '../../model/replica-sizes.ts';
import type { LimitRangeRecord, SizedWorkload } from '../../model/sizing-records.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aLimitRange, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { SizingChange } from '../../observe/sizing/live-sizing-view.ts';
import { createPromisedBeside, type PromisedBesideOptions } from '../rightsizing/promised-beside.ts';
import type { OngoingChange, Watches } from '../rightsizing/watches.ts';
import { anOngoingChange } from './ongoing-change.ts';

const of = (cpuRequest: number) => [aContainer({ size: { cpuRequest } })];
const template = of(100);
const to = (cpuRequest: number) => [{ container: 'app', to: { cpuRequest } }];

const KINDS = { a: 'StatefulSet', b: 'StatefulSet', c: 'DaemonSet', d: 'Job', x: 'StatefulSet' } as const;
export type Name = keyof typeof KINDS;
export const namespaceOf = (name: Name): string => (name === 'x' ? 'other' : 'shop');

export function createPromisesWorld() {
  const clock = createVirtualClock(NOON);
  const workloads = new Map<Name, SizedWorkload>();
  const pods = new Map<string, PodRecord>();
  const ongoing = new Map<string, readonly OngoingChange[]>();
  const resizes = new Map<string, InFlightResize>();
  const allocated = new Set<string>();
  let limitRanges: readonly LimitRangeRecord[] = [];
  let snapshot = createSizingSnapshot({});
  let made = 0;
  let read = 0;
  const listeners: ((change: SizingChange) => void)[] = [];
  const view = new Proxy({} as PromisedBesideOptions['view'] & SizingView, {
    get(_, key: keyof SizingView | 'onChange') {
      if (key === 'onChange') return (listener: (change: SizingChange) => void) => listeners.push(listener);
      if (key === 'podsOf') read++;
      return snapshot[key];
    },
  });
  const show = (change: SizingChange | undefined): void => {
    snapshot = createSizingSnapshot({ workloads: [...workloads.values()], pods: [...pods.values()], limitRanges });
    if (change !== undefined) for (const listener of listeners) listener(change);
  };
  const changed = (name: Name): SizingChange | undefined => {
    const workload = workloads.get(name);
    return workload && { kind: 'workload', key: workloadKey(workload) };
  };
  const options: PromisedBesideOptions = {
    view,
    actingOn(uid) {
      const watched = ongoing.get(uid);
      return watched && { watches: { ongoing: watched } as unknown as Watches };
    },
    isAllocated: ({ pod }) => allocated.has(pod.name),
    resizes: () => [...resizes.values()],
    clock,
  };
  return {
    clock,
    allocated,
    options,
    beside: createPromisedBeside(options),
    all: () => snapshot.workloads(),
    uidOf: (name: Name) => workloads.get(name)?.uid ?? '',
    /** How often pods of a workload were asked for since this was asked last. */
    reads() {
      const count = read;
      read = 0;
      return count;
    },
    putWorkload(name: Name, { replicas, applied, own, needsSurge }: WorkloadState): void {
      const states = new Map(own === undefined ? [] : [['1', freshState(of(own))]]);
      const texts = {
        [rightsizingKeys.appliedSizes]: writeAppliedSizes(template, of(applied)),
        [rightsizingKeys.replicaSizes]: writeReplicaSizes(template, states),
      };
      const annotations = Object.fromEntries(
        Object.entries(texts).flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const])),
      );
      const uid = workloads.get(name)?.uid ?? `${name}/${made++}`;
      const about = { kind: KINDS[name], namespace: namespaceOf(name), name, uid, containers: template, annotations };
      workloads.set(name, aSizedWorkload({ ...about, replicas, ...(needsSurge && { needsSurge: true }) }));
      show(changed(name));
    },
    removeWorkload(name: Name): void {
      const workload = workloads.get(name);
      if (workload === undefined) return;
      workloads.delete(name);
      show({ kind: 'workload-deleted', key: workloadKey(workload), uid: workload.uid });
    },
    putPod(name: Name, ordinal: number, { cpu, priorityClassName, ...state }: PodState): void {
      const podName = `${name}-${ordinal}`;
      const owner = { kind: KINDS[name], namespace: namespaceOf(name), name, uid: workloads.get(name)?.uid ?? 'gone' };
      const sizing = { containers: of(cpu), priorityClassName };
      pods.set(podName, aSizedPod(owner, podName, sizing, { uid: podName, ...state }));
      show(changed(name));
    },
    removePod(name: Name, ordinal: number): void {
      pods.delete(`${name}-${ordinal}`);
      show(changed(name));
    },
    watch(name: Name, cpu: readonly number[] | undefined): void {
      const uid = workloads.get(name)?.uid ?? '';
      if (cpu === undefined) ongoing.delete(uid);
      else
        ongoing.set(
          uid,
          cpu.map((each) => anOngoingChange(to(each), template)),
        );
    },
    ask(name: Name, ordinal: number, cpu: number | undefined): void {
      const pod = { namespace: namespaceOf(name), name: `${name}-${ordinal}`, uid: `${name}-${ordinal}` };
      if (cpu === undefined) resizes.delete(pod.uid);
      else resizes.set(pod.uid, { pod, engine: 'rightsizing', since: NOON, changes: to(cpu) });
    },
    bound(cpu: number | undefined): void {
      limitRanges = cpu === undefined ? [] : [aLimitRange({ defaultLimit: { cpu } })];
      show({ kind: 'bounds', namespace: 'shop' });
    },
  };
}

interface WorkloadState {
  readonly replicas: number;
  readonly applied: number;
  readonly own?: number | undefined;
  readonly needsSurge: boolean;
}

interface PodState extends Pick<PodRecord, 'phase' | 'deletingAt'> {
  readonly cpu: number;
  readonly priorityClassName: string;
}
