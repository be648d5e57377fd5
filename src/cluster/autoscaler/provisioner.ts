/** Asks for machines for pods that nothing can serve: once a batch of them is together, and less and less often while any stays unserved. */
import type { Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import type { Timer } from '../../lib/clock.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { daemonPod } from '../controllers/daemon-set-controller.ts';
import { type PodInfo, podInfoOf } from '../scheduler/pod-info.ts';
import { volumesOf } from '../scheduler/volumes.ts';
import type { AutoscalerScope } from './autoscaler-scope.ts';
import { followCluster } from './followed-cluster.ts';
import type { Machines } from './machines.ts';
import type { NodePool } from './node-pool.ts';
import type { Offerings } from './offerings.ts';
import { planLaunches } from './provisioning-plan.ts';
import { isUnserved } from './unserved.ts';

/** Pods that stay unserved are looked at again, less and less often while nothing changes. */
const RETRY_MILLIS = { first: 10_000, max: 300_000 } as const;

export interface ProvisionerOptions {
  readonly pools: readonly NodePool[];
  readonly offerings: Offerings;
  readonly machines: Pick<Machines, 'nextName' | 'launch'>;
  /** Waiting pods are gathered this long before machines are asked for. */
  readonly batchMillis: number;
}

export interface Provisioner {
  onPod(before: Pod | undefined, after: Pod | undefined): void;
  /** What is asked for may have changed: looks once the batch is together. */
  schedulePass(): void;
  hasWaitingPods(): boolean;
  /** Nothing is launched before. */
  start(): void;
  stop(): void;
}

export function createProvisioner(
  { context, fleet }: AutoscalerScope,
  { pools, offerings, machines, batchMillis }: ProvisionerOptions,
): Provisioner {
  const { caches, clock } = context;
  const daemonSets = caches.of(resources.daemonSets);
  const pending = new Map<string, Pod>();
  let nextPass: Timer | undefined;
  let expiry: Timer | undefined;
  let isRunning = false;
  let isBatchOpen = false;
  let retryMillis: number = RETRY_MILLIS.first;

  /** Pods of the caches never change: a new version is a new object. */
  const infos = new WeakMap<Pod, PodInfo>();
  const infoOf = (pod: Pod): PodInfo => {
    const info = infos.get(pod) ?? podInfoOf(pod);
    infos.set(pod, info);
    return info;
  };
  const presentCluster = followCluster(caches, infoOf);

  const schedulePass = (): void => {
    retryMillis = RETRY_MILLIS.first;
    if (!isRunning || isBatchOpen) return;
    isBatchOpen = true;
    nextPass?.cancel();
    nextPass = clock.setTimer(batchMillis, pass);
  };

  const pass = (): void => {
    isBatchOpen = false;
    if (!isRunning || pending.size === 0) return;
    const nowMillis = clock.now();
    const launches = planLaunches({
      cluster: presentCluster(),
      pending: [...pending.values()],
      inFlight: fleet.coming(),
      daemons: [...daemonSets.all()].map(daemonPod),
      pools,
      countOf: (pool) => fleet.namesOf(pool).length,
      request: (pool, zone) => offerings.request(pool.name, zone),
      isWorthAsking: offerings.isWorthAsking,
      volumesOf: (info) => {
        const found = volumesOf(info, caches);
        return found.ok ? found.volumes : undefined;
      },
      nextName: machines.nextName,
      infoOf,
      nowMillis,
    });
    for (const { pool, zone, node } of launches) void machines.launch(pool, zone, node);
    watchExpiry(nowMillis);
    nextPass = clock.setTimer(retryMillis, pass);
    retryMillis = Math.min(RETRY_MILLIS.max, retryMillis * 2);
  };

  /** Pods that stay unserved wait for the moment the cloud is worth asking again: also for one that came during the pass. */
  const watchExpiry = (sinceMillis: EpochMillis): void => {
    const at = offerings.nextExpiry(sinceMillis);
    expiry?.cancel();
    expiry = at === undefined ? undefined : clock.setTimer(at - clock.now(), schedulePass);
  };

  return {
    onPod(before, after) {
      const key = `${(after ?? before)?.metadata?.uid}`;
      if (after === undefined || !isUnserved(after)) {
        pending.delete(key);
        return;
      }
      const isNews = !pending.has(key);
      pending.set(key, after);
      if (isNews) schedulePass();
    },
    schedulePass,
    hasWaitingPods: () => pending.size > 0,
    start() {
      isRunning = true;
    },
    stop() {
      isRunning = false;
      nextPass?.cancel();
      expiry?.cancel();
    },
  };
}
