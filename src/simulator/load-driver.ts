/** Load that comes and goes: replicas follow it as Kubernetes' HorizontalPodAutoscaler lets them. */
import type { Clock, Timer } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';
import type { LoadCurve } from './scenario/schema.ts';

/** Replicas the load needs `elapsedMillis` after the start: on a straight line between the points around it. */
export function demandAt(curve: LoadCurve, elapsedMillis: Millis): number {
  const { points } = curve;
  const every = curve.every === 0 ? undefined : curve.every;
  const at = every === undefined ? elapsedMillis : elapsedMillis % every;
  const after = points.findIndex((point) => point.at > at);
  const next = points[after];
  // A curve that begins anew leads from its last point back to its first.
  const [first, last] = [points[0], points.at(-1)];
  const wrapped = every === undefined || last === undefined ? next : { ...last, at: last.at - every };
  const previous = after < 0 ? last : (points[after - 1] ?? wrapped);
  if (previous === undefined) return 0;
  const following =
    next ?? (every === undefined || first === undefined ? previous : { ...first, at: every + first.at });
  const span = following.at - previous.at;
  if (span <= 0 || at < previous.at) return previous.replicas;
  return previous.replicas + ((following.replicas - previous.replicas) * (at - previous.at)) / span;
}

/** How the controller decides; the figures are the defaults of `autoscaling/v2`. */
const TOLERANCE = 0.1;
const DOWN_STABILISATION_MILLIS: Millis = 300_000;
const UP_LIMIT = { pods: 4, factor: 2 } as const;

export interface ReplicaFollower {
  /** The replicas to ask for now; the present ones where nothing is to be done. */
  next(demand: number, replicas: number, now: number): number;
}

/** One autoscaler: quick up, slow down, and deaf to small deviations. */
export function createReplicaFollower(): ReplicaFollower {
  let recommendations: { readonly at: number; readonly replicas: number }[] = [];
  return {
    next(demand, replicas, now) {
      const isWithinTolerance = replicas > 0 && Math.abs(demand / replicas - 1) <= TOLERANCE;
      const wanted = isWithinTolerance ? replicas : Math.ceil(demand);
      recommendations = recommendations.filter(({ at }) => now - at < DOWN_STABILISATION_MILLIS);
      recommendations.push({ at: now, replicas: wanted });
      if (wanted > replicas) return Math.min(wanted, Math.max(replicas + UP_LIMIT.pods, replicas * UP_LIMIT.factor));
      return Math.min(replicas, Math.max(...recommendations.map((each) => each.replicas)));
    },
  };
}

export interface LoadDriverOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly workloads: readonly { readonly key: string; readonly curve: LoadCurve }[];
  readonly replicasOf: (key: string) => number | undefined;
  readonly scale: (key: string, replicas: number) => Promise<void>;
}

const SYNC_MILLIS: Millis = 30_000;

/** Starts following the curves; the returned function ends it. */
export function driveLoad({ clock, random, workloads, replicasOf, scale }: LoadDriverOptions): () => void {
  const startedAt = clock.now();
  const all = workloads.map((workload) => ({ ...workload, follower: createReplicaFollower() }));
  let timer: Timer | undefined;
  const sync = (): void => {
    for (const { key, curve, follower } of all) {
      const replicas = replicasOf(key);
      if (replicas === undefined) continue;
      const deviation = curve.noise === 0 ? 0 : curve.noise * (2 * random.next() - 1);
      const next = follower.next(demandAt(curve, clock.now() - startedAt) * (1 + deviation), replicas, clock.now());
      // A failed call is made up for at the next look, as the real controller does.
      if (next !== replicas) scale(key, next).catch(() => {});
    }
    timer = clock.setTimer(SYNC_MILLIS, sync);
  };
  if (all.length > 0) timer = clock.setTimer(SYNC_MILLIS, sync);
  return () => timer?.cancel();
}
