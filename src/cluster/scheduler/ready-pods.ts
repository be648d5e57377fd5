/** Pods to be tried now: the highest priority first, then the oldest, then the first to arrive. */
import type { Pod } from '../../api/core.ts';
import { firstIndex } from '../../lib/first-index.ts';
import { timeOf, uidOf } from '../objects.ts';

/** By uid. */
export interface ReadyPods {
  /** One that is there already keeps its place. */
  add(pod: Pod): void;
  remove(uid: string): void;
  /** The uid of the first one, which is then gone; undefined when there is none. */
  take(): string | undefined;
}

interface Entry {
  readonly uid: string;
  readonly priority: number;
  readonly createdAt: number;
  /** Of arrival, to break ties. */
  readonly order: number;
}

export function createReadyPods(): ReadyPods {
  /** Kept in order, last to go first, so that taking one is a pop. Newcomers mostly belong near the front. */
  const line: Entry[] = [];
  /** The entry that counts for each pod; others in `line` are left over from pods removed meanwhile. */
  const entries = new Map<string, Entry>();
  let order = 0;
  return {
    add(pod) {
      const uid = uidOf(pod);
      if (entries.has(uid)) return;
      const createdAt = timeOf(pod.metadata?.creationTimestamp) ?? 0;
      const entry = { uid, priority: priorityOf(pod), createdAt, order: order++ };
      entries.set(uid, entry);
      const place = firstIndex(line.length, (index) => {
        const other = line[index];
        return other === undefined || !isAfter(other, entry);
      });
      line.splice(place, 0, entry);
    },
    remove: (uid) => void entries.delete(uid),
    take() {
      for (let next = line.pop(); next !== undefined; next = line.pop()) {
        if (entries.get(next.uid) !== next) continue;
        entries.delete(next.uid);
        return next.uid;
      }
      return undefined;
    },
  };
}

/** Whether `left` has to wait for `right`: lower priority, younger, or arrived later. */
function isAfter(left: Entry, right: Entry): boolean {
  const difference = right.priority - left.priority || left.createdAt - right.createdAt || left.order - right.order;
  return difference > 0;
}

/** The classes every cluster has; others are resolved to a number by the server. Source: pkg/apis/scheduling. */
const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);

function priorityOf(pod: Pod): number {
  return pod.spec?.priority ?? SYSTEM_PRIORITIES.get(pod.spec?.priorityClassName ?? '') ?? 0;
}
