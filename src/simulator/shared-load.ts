/** Load that a workload's ready pods share, as requests behind a Service: the more there are, the less each of them uses. */
import type { KubeApi } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import { LOAD_ANNOTATIONS } from '../cluster/load/pod-load.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import type { Millicores, Millis } from '../lib/units.ts';
import type { FleetWatch } from './fleet-watch.ts';

export interface SharedLoadOptions {
  readonly api: Pick<KubeApi, 'patch'>;
  readonly clock: Clock;
  readonly fleet: Pick<FleetWatch, 'workload'>;
  readonly workloads: readonly { readonly key: string; readonly millicores: Millicores }[];
}

const PERIOD_MILLIS: Millis = 15_000;
/** Shares are told in steps, so that each pod that comes or goes does not change all others. */
const STEP_MILLICORES = 10;

/** Starts sharing it out; the returned function ends it. */
export function shareLoad({ api, clock, fleet, workloads }: SharedLoadOptions): () => void {
  /** By uid of the pods that are ready. */
  let told: ReadonlyMap<string, string> = new Map();
  let timer: Timer | undefined;
  const share = (): void => {
    const telling = new Map<string, string>();
    for (const { key, millicores } of workloads) {
      const ready = [...(fleet.workload(key)?.pods.values() ?? [])].filter(({ isLive, isReady }) => isLive && isReady);
      const steps = Math.ceil(millicores / Math.max(1, ready.length) / STEP_MILLICORES);
      const cpu = `${steps * STEP_MILLICORES}m`;
      const body = { metadata: { annotations: { [LOAD_ANNOTATIONS.cpu]: cpu } } };
      const [namespace = ''] = key.split('/');
      for (const { uid, name } of ready) {
        telling.set(uid, cpu);
        if (told.get(uid) === cpu) continue;
        // One that is gone takes nothing.
        api.patch(resources.pods, name, { type: 'merge', body }, { namespace }).catch(() => {});
      }
    }
    told = telling;
    timer = clock.setTimer(PERIOD_MILLIS, share);
  };
  if (workloads.length > 0) timer = clock.setTimer(PERIOD_MILLIS, share);
  return () => timer?.cancel();
}
