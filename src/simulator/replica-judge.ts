/** Holds the sizes that replicas have each for itself, as they are written on their workload, to being steady. */
import type { StatefulSet } from '../api/core.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/is-record.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import type { Millis } from '../lib/units.ts';
import type { Ledger } from './ledger.ts';
import { treeAt } from './policy-book.ts';
import { createRecentCounts } from './recent-counts.ts';
import { createSizeHistory } from './size-history.ts';

/** Pods come and go, and a size that swings from one to the next swings as well. */
export interface ReplicaJudge {
  onWorkload(before: StatefulSet, after: StatefulSet): void;
}

const ANNOTATION = 'optipod.io/replica-sizes';
const HOUR: Millis = 3_600_000;
/** Of one amount of one replica, within an hour. */
const MAX_CHANGES = 60;
/** Turns of direction within an hour: up, down and up again are two. */
const MAX_SWINGS = 6;

export function createReplicaJudge(clock: Clock, { check }: Ledger): ReplicaJudge {
  const history = createSizeHistory(clock);
  const changes = createRecentCounts(clock, HOUR);
  return {
    onWorkload(before, after) {
      const [was, is] = [before, after].map(({ metadata }) => metadata?.annotations?.[ANNOTATION]);
      if (was === is) return;
      const [old, now] = [amountsOf(was), amountsOf(is)];
      for (const [key, to] of now) {
        const from = old.get(key);
        if (from === undefined || from === to) continue;
        const { name, namespace, uid } = after.metadata ?? {};
        const count = changes.add(`${uid} ${key}`);
        const swings = history.note(uid ?? '', key, { from, to });
        check(
          'apart',
          count <= MAX_CHANGES && swings <= MAX_SWINGS,
          () => `${namespace}/${name} ${key}: ${from} -> ${to}, ${count} changes and ${swings} turns within an hour`,
        );
      }
    },
  };
}

/** By replica, container and place in the list of amounts. */
function amountsOf(text: string | undefined): ReadonlyMap<string, number> {
  const value = text === undefined ? undefined : tryParseJson(text);
  const replicas = isRecord(value) ? treeAt(value, 'replicas') : {};
  return new Map(
    Object.keys(replicas).flatMap((replica) =>
      Object.entries(treeAt(replicas, replica, 'size')).flatMap(([container, amounts]) =>
        (Array.isArray(amounts) ? amounts : []).flatMap((amount, index): [string, number][] =>
          typeof amount === 'number' ? [[`replica ${replica} ${container} ${index}`, amount]] : [],
        ),
      ),
    ),
  );
}
