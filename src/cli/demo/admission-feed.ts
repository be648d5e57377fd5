/** Admissions as decisions: which slots and sides the webhook gave to the pods that appear, told together for pods that come together. */
import type { Clock, Timer } from '../../lib/clock.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PodRecord } from '../../model/records.ts';
import { counted } from '../plural.ts';
import type { DecisionLine } from './frame.ts';

export interface AdmissionFeed {
  /** A pod was seen for the first time. */
  add(pod: PodRecord): void;
  /** Drops what was not told yet. */
  stop(): void;
}

export interface AdmissionFeedOptions {
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly emit: (line: DecisionLine) => void;
}

/** Pods of one workload that appear within this time are one line. */
const GATHER_MILLIS = 300;

export function createAdmissionFeed({ view, clock, emit }: AdmissionFeedOptions): AdmissionFeed {
  let gathered: PodRecord[] = [];
  let timer: Timer | undefined;

  const tell = (): void => {
    timer = undefined;
    const pods = gathered;
    gathered = [];
    for (const [workload, those] of groupByWorkload(view, pods)) {
      emit({ at: clock.now(), text: `${workload}: ${admissionText(those)}`, isWarning: false });
    }
  };

  return {
    add(pod) {
      if (pod.slot === undefined) return;
      gathered.push(pod);
      timer ??= clock.setTimer(GATHER_MILLIS, tell);
    },
    stop: () => timer?.cancel(),
  };
}

function groupByWorkload(view: ClusterView, pods: readonly PodRecord[]): Map<string, PodRecord[]> {
  const groups = new Map<string, PodRecord[]>();
  for (const pod of pods) {
    const owner = view.replicaSet(pod.owner?.uid ?? '')?.owner ?? pod.owner;
    const key = `${pod.namespace}/${owner?.name ?? pod.name}`;
    groups.set(key, [...(groups.get(key) ?? []), pod]);
  }
  return groups;
}

/** `Admitted 12 pods: slots 1-9 to spot, 10-12 to on-demand`. */
export function admissionText(pods: readonly PodRecord[]): string {
  const parts = (['spot', 'on-demand'] as const).flatMap((side) => {
    const slots = pods.filter((pod) => pod.capacity === side).flatMap(({ slot }) => (slot === undefined ? [] : [slot]));
    return slots.length === 0 ? [] : [`${rangesText(slots)} to ${side}`];
  });
  return `Admitted ${counted(pods.length, 'pod')}: ${pods.length === 1 ? 'slot' : 'slots'} ${parts.join(', ')}`;
}

/** `1-3, 5` of 2, 1, 3, 5. */
export function rangesText(numbers: readonly number[]): string {
  const ranges: { readonly from: number; readonly to: number }[] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number <= last.to + 1) ranges[ranges.length - 1] = { from: last.from, to: number };
    else ranges.push({ from: number, to: number });
  }
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
