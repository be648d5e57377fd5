/** The pods of all simulated nodes: each bound to a live node is run there, until it is deleted or the node falls silent. */
import type { Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { keyOf, uidOf } from '../objects.ts';
import { isFinished } from '../pod-state.ts';
import type { StandInContext } from '../stand-in.ts';
import { type BehaviourDefaults, behaviourOf } from './behaviour.ts';
import type { Kubelet } from './kubelet-api.ts';
import type { KubeletLoad } from './kubelet-load.ts';
import { heldByOthers, type Machine, takePodIp } from './machine.ts';
import { createPodWorker, type PodWorker } from './pod-worker.ts';

export interface KubeletPodsOptions {
  readonly machines: ReadonlyMap<string, Machine>;
  readonly load: Pick<KubeletLoad, 'notice'>;
  readonly behaviour: BehaviourDefaults;
  /** From accepting an in-place resize to having done it. */
  readonly resizeMillis: number;
}

export interface KubeletPods extends Pick<Kubelet, 'oomKill' | 'endContainer' | 'useMemory' | 'setReady'> {
  /** From now on pods are started. */
  start(): void;
  /** Stops them all; none is started any more. */
  stop(): void;
  /** Takes up the pods that are bound to a node. Nothing happens before {@link start}. */
  startOn(machine: Machine): void;
  /** Stops those of a node at once, and reports nothing of them. */
  closeOn(machine: Machine): void;
}

export function createKubeletPods(
  { api, caches, clock, random, log }: StandInContext,
  { machines, load, behaviour: defaults, resizeMillis }: KubeletPodsOptions,
): KubeletPods {
  const pods = caches.of(resources.pods);
  let isRunning = false;

  const startPod = (machine: Machine, pod: Pod): void => {
    const uid = uidOf(pod);
    const behaviour = behaviourOf(pod, defaults, random, (problem) =>
      log.warn({ pod: keyOf(pod) }, `The behaviour of a simulated pod cannot be read: ${problem}`),
    );
    const worker = createPodWorker(pod, {
      api,
      clock,
      log,
      behaviour,
      hostIp: machine.spec.address ?? '127.0.0.1',
      takePodIp: () => takePodIp(machine),
      allocatable: () => machine.allocatable,
      heldByOthers: () => heldByOthers(machine, uid),
      hasPinnedCpus: machine.spec.cpuManagerPolicy === 'static',
      resizeMillis,
      onAllocated: () => retryResizes(machine, uid),
    });
    machine.workers.set(uid, worker);
    load.notice(worker);
  };

  const onPod = (before: Pod | undefined, after: Pod | undefined): void => {
    if (after === undefined) {
      if (before !== undefined) forgetPod(before);
      return;
    }
    const machine = machines.get(after.spec?.nodeName ?? '');
    if (!isRunning || machine === undefined || !machine.isAlive) return;
    const worker = machine.workers.get(uidOf(after));
    if (worker !== undefined) {
      worker.update(after);
      load.notice(worker);
    } else if (!isFinished(after) || after.metadata?.deletionTimestamp !== undefined) startPod(machine, after);
  };

  const forgetPod = (pod: Pod): void => {
    const machine = machines.get(pod.spec?.nodeName ?? '');
    const worker = machine?.workers.get(uidOf(pod));
    if (machine === undefined || worker === undefined) return;
    worker.close();
    machine.workers.delete(uidOf(pod));
    retryResizes(machine, uidOf(pod));
  };

  const retryResizes = (machine: Machine, exceptUid: string): void => {
    for (const [uid, worker] of machine.workers) if (uid !== exceptUid) worker.retryResize();
  };

  const closeOn = (machine: Machine): void => {
    for (const worker of machine.workers.values()) worker.close();
    machine.workers.clear();
  };

  /** @returns false when no such pod runs here. */
  const withWorker = (podKey: string, act: (worker: PodWorker) => void): boolean => {
    const pod = pods.get(podKey);
    const worker = pod && machines.get(pod.spec?.nodeName ?? '')?.workers.get(uidOf(pod));
    if (worker === undefined) return false;
    act(worker);
    return true;
  };

  pods.onChange(onPod);

  return {
    start() {
      isRunning = true;
    },
    stop() {
      isRunning = false;
      for (const machine of machines.values()) closeOn(machine);
    },
    startOn(machine) {
      for (const pod of caches.podsOnNode(machine.spec.name)) onPod(undefined, pod);
    },
    closeOn,
    oomKill: (podKey, container) => withWorker(podKey, (worker) => worker.endContainer(container, 137, 'OOMKilled')),
    endContainer: (podKey, container, exitCode) =>
      withWorker(podKey, (worker) => worker.endContainer(container, exitCode, exitCode === 0 ? 'Completed' : 'Error')),
    useMemory: (podKey, container, bytes) => withWorker(podKey, (worker) => worker.useMemory(container, bytes)),
    setReady: (podKey, container, isReady) => withWorker(podKey, (worker) => worker.setReady(container, isReady)),
  };
}
