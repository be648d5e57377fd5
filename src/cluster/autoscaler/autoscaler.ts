/** Stand-in of a node autoscaler and its cloud: adds nodes for waiting pods, removes empty ones, loses spot ones. */
import type { Node, Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { sleep, type Timer } from '../../lib/clock.ts';
import { daemonPod } from '../controllers/daemon-set-controller.ts';
import { nodeObject } from '../kubelet/node-object.ts';
import { controllerOf, nameOf } from '../objects.ts';
import { isFinished } from '../pod-state.ts';
import { type PodInfo, podInfoOf } from '../scheduler/pod-info.ts';
import { volumesOf } from '../scheduler/volumes.ts';
import type { StandInContext } from '../stand-in.ts';
import type { Autoscaler, AutoscalerOptions } from './autoscaler-api.ts';
import { createFleet, type Machine } from './fleet.ts';
import { followCluster } from './followed-cluster.ts';
import { leavingTaintOf, type NodePool, nodeSpecOf, noticeMillisOf } from './node-pool.ts';
import { createOfferings } from './offerings.ts';
import { planLaunches } from './provisioning-plan.ts';
import { drain, recordInterruption, removeNodeObject, setTaint } from './reclaim.ts';
import { isUnserved } from './unserved.ts';

const DEFAULT_PROVISION_MILLIS = 40_000;
const PROVISION_JITTER = 0.25;
/** From the end of a machine to the removal of its Node object by the cloud's controller. */
const NODE_REMOVAL_MILLIS = 5000;
/** From the death of a machine without notice to that: the cloud's controller asks about nodes that fell silent. */
const UNREACHABLE_REMOVAL_MILLIS = 60_000;
const MILLIS_PER_HOUR = 3_600_000;
/** Pods that stay unserved are looked at again, less and less often while nothing changes. */
const RETRY_MILLIS = { first: 10_000, max: 300_000 } as const;

/** Behaves as Karpenter for adding and emptying nodes; it does not consolidate nodes that are in use. */
export function createAutoscaler(context: StandInContext, options: AutoscalerOptions): Autoscaler {
  const { caches, clock, random, log } = context;
  const { pools, machines: provider, batchMillis = 1000, emptyMillis = 60_000, onInterruption = 'drain' } = options;
  const pods = caches.of(resources.pods);
  const nodes = caches.of(resources.nodes);
  const daemonSets = caches.of(resources.daemonSets);
  const offerings = createOfferings(clock);
  const fleet = createFleet(clock);
  const pending = new Map<string, Pod>();
  const stopper = new AbortController();
  let nextPass: Timer | undefined;
  let expiry: Timer | undefined;
  let isRunning = false;
  let isBatchOpen = false;
  let retryMillis: number = RETRY_MILLIS.first;
  let sequence = 0;
  let interruptions = 0;

  const schedulePass = (): void => {
    retryMillis = RETRY_MILLIS.first;
    if (!isRunning || isBatchOpen) return;
    isBatchOpen = true;
    nextPass?.cancel();
    nextPass = clock.setTimer(batchMillis, pass);
  };

  /** Pods of the caches never change: a new version is a new object. */
  const infos = new WeakMap<Pod, PodInfo>();
  const infoOf = (pod: Pod): PodInfo => {
    const info = infos.get(pod) ?? podInfoOf(pod);
    infos.set(pod, info);
    return info;
  };
  const presentCluster = followCluster(caches, infoOf);

  const pass = (): void => {
    isBatchOpen = false;
    if (!isRunning || pending.size === 0) return;
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
      nextName,
      infoOf,
      nowMillis: clock.now(),
    });
    for (const { pool, zone, node } of launches) void launch(pool, zone, node);
    watchExpiry();
    nextPass = clock.setTimer(retryMillis, pass);
    retryMillis = Math.min(RETRY_MILLIS.max, retryMillis * 2);
  };

  /** Pods that stay unserved wait for the moment the cloud is worth asking again. */
  const watchExpiry = (): void => {
    const at = offerings.nextExpiry();
    expiry?.cancel();
    expiry = at === undefined ? undefined : clock.setTimer(at - clock.now(), schedulePass);
  };

  const nextName = (pool: NodePool): string => `${pool.name}-${(++sequence).toString(36).padStart(4, '0')}`;

  const launch = async (pool: NodePool, zone: string, node: Node, immediately = false): Promise<void> => {
    const name = nameOf(node);
    const machine = fleet.add(pool, node);
    const typical = pool.provisionMillis ?? DEFAULT_PROVISION_MILLIS;
    const delay = typical * (1 + PROVISION_JITTER * (2 * random.next() - 1));
    try {
      if (!immediately) await sleep(clock, delay, stopper.signal);
      await provider.addNode(nodeSpecOf(pool, zone, name));
    } catch (error) {
      if (stopper.signal.aborted) return;
      log.warn({ node: name, pool: pool.name, error }, 'Launching a node failed');
      fleet.forget(name);
      schedulePass();
      return;
    }
    machine.hasJoined = true;
    armInterruption(name, machine);
    watchEmptiness(name);
  };

  /** Interruptions are a Poisson process, so the time to the next is exponentially distributed. */
  const armInterruption = (name: string, machine: Machine): void => {
    const rate = machine.pool.class === 'spot' ? (machine.pool.interruptionsPerHour ?? 0) : 0;
    if (rate <= 0) return;
    const delay = (-Math.log(1 - random.next()) / rate) * MILLIS_PER_HOUR;
    machine.interruption = clock.setTimer(delay, () => inBackground(interrupt(name)));
  };

  const isEmpty = (name: string): boolean =>
    ![...caches.podsOnNode(name)].some((pod) => !isFinished(pod) && controllerOf(pod)?.kind !== 'DaemonSet');

  const watchEmptiness = (name: string): void => {
    const machine = fleet.get(name);
    if (machine === undefined || !machine.hasJoined || machine.isLeaving) return;
    if (!isEmpty(name)) {
      machine.emptiness?.cancel();
      machine.emptiness = undefined;
    } else if (fleet.namesOf(machine.pool.name).length > (machine.pool.minNodes ?? 0)) {
      machine.emptiness ??= clock.setTimer(emptyMillis, () => inBackground(removeEmpty(name, machine)));
    }
  };

  const removeEmpty = async (name: string, machine: Machine): Promise<void> => {
    machine.emptiness = undefined;
    const atLeast = machine.pool.minNodes ?? 0;
    if (machine.isLeaving || !isEmpty(name) || fleet.namesOf(machine.pool.name).length <= atLeast) return;
    machine.isLeaving = true;
    const taint = leavingTaintOf(machine.pool.profile ?? 'karpenter');
    await setTaint(context, name, taint, true, stopper.signal);
    // A pod may have been bound in the meantime: then the node stays.
    if (!isEmpty(name)) {
      machine.isLeaving = false;
      await setTaint(context, name, taint, false, stopper.signal);
      return;
    }
    await takeAway(name, machine);
  };

  const takeAway = async (name: string, machine: Machine): Promise<void> => {
    provider.loseNode(name);
    fleet.forget(name);
    inBackground(keepMinimum(machine.pool));
    await removeNodeObject(context, name, stopper.signal);
  };

  const keepMinimum = (pool: NodePool, immediately = false): Promise<unknown> => {
    const missing = (pool.minNodes ?? 0) - fleet.namesOf(pool.name).length;
    const launches = Array.from({ length: Math.max(0, missing) }, (_, index) => {
      const zone = pool.zones[index % pool.zones.length] ?? '';
      return launch(pool, zone, nodeObject(nodeSpecOf(pool, zone, nextName(pool)), clock.now()), immediately);
    });
    return Promise.all(launches);
  };

  const interrupt = async (name: string): Promise<void> => {
    const machine = fleet.get(name);
    if (machine === undefined || machine.isLeaving || !machine.hasJoined) return;
    machine.isLeaving = true;
    interruptions++;
    machine.interruption?.cancel();
    const noticeMillis = noticeMillisOf(machine.pool.profile ?? 'karpenter');
    const deadline = new AbortController();
    // The cloud takes the machine when the time is over, whatever becomes of the notice.
    inBackground(giveNotice(name, machine, AbortSignal.any([deadline.signal, stopper.signal])));
    try {
      await sleep(clock, noticeMillis, stopper.signal);
      deadline.abort();
      provider.loseNode(name);
      await sleep(clock, NODE_REMOVAL_MILLIS, stopper.signal);
      await takeAway(name, machine);
    } catch (error) {
      if (!stopper.signal.aborted) throw error;
    }
  };

  const giveNotice = async (name: string, machine: Machine, signal: AbortSignal): Promise<void> => {
    const node = nodes.get(name);
    await setTaint(context, name, leavingTaintOf(machine.pool.profile ?? 'karpenter'), true, signal);
    if (node !== undefined) await recordInterruption(context, node);
    if (onInterruption === 'drain') await drain(context, name, signal);
  };

  /** Work nobody waits for: ending with the autoscaler is normal, anything else is worth a line. */
  const inBackground = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => {
      const isAbort = stopper.signal.aborted || (error instanceof Error && error.name === 'AbortError');
      if (!isAbort) log.warn({ error }, 'The autoscaler could not finish a step');
    });
  };

  pods.onChange((before, after) => {
    const key = `${(after ?? before)?.metadata?.uid}`;
    const isWaiting = after !== undefined && isUnserved(after);
    if (isWaiting) {
      const isNews = !pending.has(key);
      pending.set(key, after);
      if (isNews) schedulePass();
    } else pending.delete(key);
    for (const pod of [before, after]) if (pod?.spec?.nodeName !== undefined) watchEmptiness(pod.spec.nodeName);
  });
  // A pass for pods that were left over when the last node they were meant for went away.
  nodes.onChange((before, after) => {
    if (before !== undefined && after === undefined && pending.size > 0) schedulePass();
  });

  return {
    name: 'autoscaler',
    async run(signal) {
      isRunning = true;
      for (const pool of pools) await keepMinimum(pool, true);
      if (pending.size > 0) schedulePass();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      isRunning = false;
      stopper.abort();
      nextPass?.cancel();
      expiry?.cancel();
      fleet.cancelTimers();
    },
    interrupt,
    storm({ pool, share, withinMillis }) {
      const candidates = fleet
        .all()
        .filter(
          ([, machine]) =>
            machine.pool.class === 'spot' && !machine.isLeaving && (pool === undefined || machine.pool.name === pool),
        );
      const hit = candidates.filter(() => random.next() < share);
      for (const [name, machine] of hit) {
        machine.interruption?.cancel();
        machine.interruption = clock.setTimer(random.next() * withinMillis, () => inBackground(interrupt(name)));
      }
      return hit.map(([name]) => name);
    },
    setPoolAvailability(pool, isAvailable, zone) {
      offerings.setAvailable(pool, isAvailable, zone);
    },
    nodesOf: fleet.namesOf,
    loseNode(name) {
      const machine = fleet.get(name);
      if (machine === undefined || !machine.hasJoined) return;
      machine.isLeaving = true;
      machine.interruption?.cancel();
      provider.loseNode(name);
      const end = async (): Promise<void> => {
        await sleep(clock, UNREACHABLE_REMOVAL_MILLIS, stopper.signal);
        await takeAway(name, machine);
      };
      inBackground(end());
    },
    interruptions: () => interruptions,
    nodeHours: fleet.nodeHours,
    cost: fleet.cost,
  };
}
