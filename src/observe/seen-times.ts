/**
 * Dates what pods tell by this process's own clock. Kubelets, the scheduler and the API server date by clocks of their
 * own, which may be hours apart: believed, a kill of a moment ago would be long past. But what a watch brings has
 * happened just now, whatever it says of that (adr/0034).
 */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { PodRecord } from '../model/records.ts';
import { MOST_APART_MILLIS, type OddClocks, type Teller } from './odd-clocks.ts';
import { type DateTime, dateSizing } from './sizing/date-sizing.ts';

/** A pod as it is told, and what is needed to date it. */
export interface ToldPod {
  readonly pod: PodRecord;
  /** What was kept of it before; of a pod of another uid nothing is taken over. */
  readonly before: PodRecord | undefined;
  /** `deletionGracePeriodSeconds`: the deletion timestamp is that much later than the deletion. */
  readonly graceMillis: Millis;
}

export interface SeenTimes {
  /** @param keep makes the record to keep of the dated pod: another one at each call. */
  date(told: ToldPod, keep: (pod: PodRecord) => PodRecord): PodRecord;
}

export interface SeenTimesOptions {
  readonly clock: Clock;
  /** What comes now comes as a change. A listing tells of any time, but none of the future. */
  readonly isFollowing: () => boolean;
  readonly clocks: Pick<OddClocks, 'noteOdd' | 'noteRight'>;
}

export function createSeenTimes({ clock, isFollowing, clocks }: SeenTimesOptions): SeenTimes {
  /** What was told in place of times that a record has, by name. For most records there is nothing. */
  const toldOf = new WeakMap<PodRecord, ReadonlyMap<string, EpochMillis>>();
  /** Up to then all was seen; the first listing is the beginning of it. */
  let followedTo: EpochMillis | undefined;
  return {
    date({ pod, before: earlier, graceMillis }, keep) {
      const before = earlier?.uid === pod.uid ? earlier : undefined;
      const toldBefore = before && toldOf.get(before);
      const isChange = isFollowing();
      // The API tells whole seconds.
      const now = Math.floor(clock.now() / 1000) * 1000;
      if (isChange || followedTo === undefined) followedTo = now;
      // How long ago it may have happened: what is new in a pod that was followed is of the time since then.
      const mostMillis = isChange ? 0 : before === undefined ? Number.POSITIVE_INFINITY : now - followedTo;
      const replaced = new Map<string, EpochMillis>();
      const date: DateTime = (name, told, had, due = now) => {
        if (told === undefined) return undefined;
        const isKnown = had !== undefined && (toldBefore?.get(name) ?? had) === told;
        const ahead = told - due;
        const isBelievable = ahead <= MOST_APART_MILLIS && ahead >= -mostMillis - MOST_APART_MILLIS;
        const dated = isKnown ? had : isBelievable ? told : due;
        const isNews = !isKnown && isChange;
        // What a clock dates that is ahead looks right if it is told late.
        if (isNews && isBelievable && (prompt.has(name) || name === 'unschedulable'))
          clocks.noteRight(tellerOf(name, pod));
        if (dated === told) return told;
        replaced.set(name, told);
        if (isNews && (ahead > 0 || prompt.has(name))) clocks.noteOdd(tellerOf(name, pod), ahead);
        return dated;
      };
      const [hadEnd, toldEnd] = [before?.deletingAt, toldBefore?.get('deleting') ?? before?.deletingAt];
      // Whoever wants it gone sooner moves the time that was told before.
      const broughtForward =
        hadEnd === undefined || toldEnd === undefined || pod.deletingAt === undefined
          ? undefined
          : hadEnd + pod.deletingAt - toldEnd;
      const dated = {
        createdAt: date('created', pod.createdAt || undefined, before?.createdAt) ?? 0,
        readyChangedAt: date('ready', pod.readyChangedAt, before?.readyChangedAt),
        unschedulableSince: date('unschedulable', pod.unschedulableSince, before?.unschedulableSince),
        deletingAt: date('deleting', pod.deletingAt, before?.deletingAt, broughtForward ?? now + graceMillis),
        evictedAt: date('evicted', pod.evictedAt, before?.evictedAt),
        sizing: pod.sizing && dateSizing(pod.sizing, before?.sizing, date),
      };
      const record = keep(replaced.size === 0 ? pod : { ...pod, ...dated });
      if (replaced.size > 0) toldOf.set(record, replaced);
      return record;
    },
  };
}

/**
 * Told as soon as they are so. A kubelet tells of a container once it is through with the pod, and pulls images
 * meanwhile; a pod that had scheduling gates counts as unscheduled since it was made.
 */
const prompt: ReadonlySet<string> = new Set(['created', 'ready', 'deleting', 'evicted']);

/** Whose clock it is. */
function tellerOf(name: string, { nodeName }: PodRecord): Teller {
  if (name === 'created' || name === 'deleting' || name === 'evicted')
    return { kind: 'api-server', name: 'the API server' };
  return name === 'unschedulable' || nodeName === undefined
    ? { kind: 'scheduler', name: 'the scheduler' }
    : { kind: 'node', name: `node ${nodeName}` };
}
