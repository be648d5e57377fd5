/** Stand-in of the kubelets of many nodes: registers nodes and runs the pods bound to them. An API client only. */
import type { Node, Pod } from '../../api/core.ts';
import { isAlreadyExists, isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import type { Millicores } from '../../lib/units.ts';
import type { ContainerUsage } from '../load/container-usage.ts';
import { keyOf, nameOf, uidOf } from '../objects.ts';
import { amountsOf } from '../pod-requests.ts';
import { isFinished } from '../pod-state.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';
import { type BehaviourDefaults, behaviourOf, DEFAULT_BEHAVIOUR } from './behaviour.ts';
import { createKubeletEndpoints, type EndpointOptions } from './endpoint.ts';
import { createHeartbeat } from './heartbeat.ts';
import { createKubeletLoad, type LoadOptions } from './kubelet-load.ts';
import { heldByOthers, type Machine, newMachine, takePodIp } from './machine.ts';
import { type NodeSpec, nodeConditions, nodeObject } from './node-object.ts';
import type { NodeUsage } from './node-usage.ts';
import { createPodWorker, type PodWorker } from './pod-worker.ts';

const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';

/** How all nodes behave; what a single pod does differently its annotations say (behaviour.ts). */
export interface KubeletOptions {
  readonly behaviour?: Partial<BehaviourDefaults>;
  /** Renew each node's Lease every 10 s, which a real control plane expects. Default false: costly in virtual time. */
  readonly heartbeats?: boolean;
  /** Take the not-ready taint off a ready node, where no node lifecycle controller does. Default true. */
  readonly removesNotReadyTaint?: boolean;
  /** From accepting an in-place resize to having done it. Default 45 ms, as measured on a real node. */
  readonly resizeMillis?: number;
  /** How the load that pods ask for by annotation is followed (`load/pod-load.ts`). */
  readonly load?: LoadOptions;
  /** Serve each node's metrics on a port of its own, which its Node object names. Default: none is served. */
  readonly endpoints?: EndpointOptions;
}

/** Told when a node's kubelet falls silent or speaks again; stands for missed heartbeats where none are sent. */
export type LivenessListener = (nodeName: string, isAlive: boolean) => void;

/** One stand-in for the kubelets of all nodes. Pod keys are `namespace/name`. */
export interface Kubelet extends StandIn {
  /** Registers a node, ready to take pods. A node of that name that exists already is taken over. */
  addNode(spec: NodeSpec): Promise<void>;
  /** The machine is gone or cut off: its pods stop at once and nothing is reported any more. The Node object stays. */
  loseNode(name: string): void;
  /** A lost node comes back and goes on with the pods still bound to it; not one whose Node object was deleted. */
  recoverNode(name: string): Promise<void>;
  /** Graceful shutdown: the node is not ready and its pods end as Failed. The kubelet speaks on until {@link loseNode}. */
  shutDownNode(name: string): Promise<void>;
  /** Kills a container as the kernel does when it is out of memory. False when no such pod runs here. */
  oomKill(podKey: string, container: string): boolean;
  /** Ends a container's process. False when no such pod runs here. */
  endContainer(podKey: string, container: string, exitCode: number): boolean;
  /** Lets a container use this much memory; past its limit it is killed. False when no such pod runs here. */
  useMemory(podKey: string, container: string, bytes: number): boolean;
  /** Lets a container's readiness probe succeed or fail. False when no such pod runs here. */
  setReady(podKey: string, container: string, isReady: boolean): boolean;
  /** What each running container of a node has used until now; empty for a node that is not there. */
  usages(nodeName: string): readonly ContainerUsage[];
  /** The same with the node around it; undefined for one that is not there or cut off. */
  usage(nodeName: string): NodeUsage | undefined;
  /**
   * CPU its containers got when somebody last looked (the load's own beat does, every 15 s). Unlike {@link usages}, asking moves no
   * counter. Undefined where no container has a load, and for a node that is not there or cut off.
   */
  cpuInUse(nodeName: string): Millicores | undefined;
  onLiveness(listener: LivenessListener): void;
  isAlive(nodeName: string): boolean;
}

/** @param context its caches must be running before `run`; nodes may be added before and after. */
export function createKubelet(context: StandInContext, options: KubeletOptions = {}): Kubelet {
  const { api, caches, clock, random, log } = context;
  const { heartbeats = false, removesNotReadyTaint = true, resizeMillis = 45 } = options;
  const defaults: BehaviourDefaults = { ...DEFAULT_BEHAVIOUR, ...options.behaviour };
  const pods = caches.of(resources.pods);
  const machines = new Map<string, Machine>();
  const listeners = new Set<LivenessListener>();
  let isRunning = false;
  let machinesEver = 0;
  const load = createKubeletLoad({
    ...options.load,
    clock,
    machines: () => machines.values(),
    onInvalid: (problem) => log.warn({ problem }, 'The load of a simulated pod cannot be read'),
  });

  const usage = (nodeName: string): NodeUsage | undefined => {
    const machine = machines.get(nodeName);
    if (machine === undefined || !machine.isAlive) return undefined;
    return { ...load.usage(machine), node: nodeName, capacity: machine.spec, at: clock.now() };
  };
  const endpoints = options.endpoints === undefined ? undefined : createKubeletEndpoints(usage, options.endpoints);

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
    if (before !== undefined && (after === undefined || uidOf(after) !== uidOf(before))) forgetPod(before);
    const machine = machines.get(after?.spec?.nodeName ?? '');
    if (!isRunning || after === undefined || machine === undefined || !machine.isAlive) return;
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

  const onNode = (node: Node): void => {
    const machine = machines.get(nameOf(node));
    if (machine === undefined || !machine.isAlive) return;
    machine.allocatable = amountsOf(node.status?.allocatable);
    if (removesNotReadyTaint && (node.spec?.taints ?? []).some(({ key }) => key === NOT_READY_TAINT))
      void removeTaint(node);
  };

  const removeTaint = async (node: Node): Promise<void> => {
    const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== NOT_READY_TAINT);
    const body = { metadata: { resourceVersion: node.metadata?.resourceVersion }, spec: { taints } };
    try {
      await api.patch(resources.nodes, nameOf(node), { type: 'merge', body });
    } catch (error) {
      // Another change came first; its event brings us back here.
      log.debug({ node: nameOf(node), error }, 'Taking off the not-ready taint failed');
    }
  };

  const beginSilence = (machine: Machine): void => {
    if (!machine.isAlive) return;
    machine.isAlive = false;
    machine.heartbeat?.stop();
    for (const worker of machine.workers.values()) worker.close();
    machine.workers.clear();
    for (const listener of listeners) listener(machine.spec.name, false);
  };

  /** Without its Node object a silent machine does not come back. */
  const forgetNode = (node: Node | undefined): void => {
    const name = nameOf(node ?? {});
    if (machines.get(name)?.isAlive !== false) return;
    machines.delete(name);
    void endpoints?.closeOf(name);
  };

  const startPods = (machine: Machine): void => {
    for (const pod of caches.podsOnNode(machine.spec.name)) onPod(undefined, pod);
  };

  const writeConditions = async (name: string, isReady: boolean): Promise<void> => {
    const body = { status: { conditions: nodeConditions(isReady, clock.now()) } };
    await api.patch(resources.nodes, name, { type: 'strategic', body }, { subresource: 'status' });
  };

  const workerOf = (podKey: string): PodWorker | undefined => {
    const pod = pods.get(podKey);
    return pod === undefined ? undefined : machines.get(pod.spec?.nodeName ?? '')?.workers.get(uidOf(pod));
  };

  pods.onChange(onPod);
  caches.of(resources.nodes).onChange((before, after) => (after === undefined ? forgetNode(before) : onNode(after)));

  return {
    name: 'kubelet',
    async run(signal) {
      isRunning = true;
      for (const machine of machines.values()) {
        machine.heartbeat?.start();
        startPods(machine);
      }
      await aborted(signal);
      isRunning = false;
      load.stop();
      for (const machine of machines.values()) {
        machine.heartbeat?.stop();
        for (const worker of machine.workers.values()) worker.close();
        machine.workers.clear();
      }
      await endpoints?.close();
    },
    async addNode(spec) {
      const kubeletPort = spec.kubeletPort ?? (await endpoints?.open(spec.name));
      const node = nodeObject(kubeletPort === undefined ? spec : { ...spec, kubeletPort }, clock.now());
      const heartbeat = heartbeats ? createHeartbeat({ api, clock, log, node: spec.name }) : undefined;
      const machine = newMachine(spec, machinesEver++, node, heartbeat, clock.now());
      machines.set(spec.name, machine);
      try {
        await api.create(resources.nodes, node);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        await api.patch(resources.nodes, spec.name, {
          type: 'merge',
          body: { metadata: { labels: node.metadata?.labels ?? {} } },
        });
      }
      // Servers may drop the status of a new object; the kubelet's own report is what counts.
      const body = { status: node.status };
      await api.patch(resources.nodes, spec.name, { type: 'strategic', body }, { subresource: 'status' });
      if (isRunning) {
        heartbeat?.start();
        startPods(machine);
      }
      for (const listener of listeners) listener(spec.name, true);
    },
    loseNode(name) {
      const machine = machines.get(name);
      if (machine !== undefined) beginSilence(machine);
    },
    async recoverNode(name) {
      const machine = machines.get(name);
      if (machine === undefined || machine.isAlive) return;
      machine.isAlive = true;
      if (isRunning) machine.heartbeat?.start();
      // Whoever watches for silence must know first, or the report below looks like a stray one.
      for (const listener of listeners) listener(name, true);
      await writeConditions(name, true);
      if (isRunning) startPods(machine);
    },
    async shutDownNode(name) {
      const machine = machines.get(name);
      if (machine === undefined || !machine.isAlive) return;
      try {
        await writeConditions(name, false);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      for (const worker of machine.workers.values()) {
        worker.shutDown('Terminated', 'Pod was terminated in response to imminent node shutdown.');
      }
    },
    oomKill(podKey, container) {
      const worker = workerOf(podKey);
      worker?.endContainer(container, 137, 'OOMKilled');
      return worker !== undefined;
    },
    endContainer(podKey, container, exitCode) {
      const worker = workerOf(podKey);
      worker?.endContainer(container, exitCode, exitCode === 0 ? 'Completed' : 'Error');
      return worker !== undefined;
    },
    useMemory(podKey, container, bytes) {
      const worker = workerOf(podKey);
      worker?.useMemory(container, bytes);
      return worker !== undefined;
    },
    setReady(podKey, container, isReady) {
      const worker = workerOf(podKey);
      worker?.setReady(container, isReady);
      return worker !== undefined;
    },
    usage,
    usages: (nodeName) => usage(nodeName)?.containers ?? [],
    cpuInUse(nodeName) {
      const machine = machines.get(nodeName);
      return machine?.isAlive === true ? load.cpuInUse(machine) : undefined;
    },
    onLiveness(listener) {
      listeners.add(listener);
    },
    isAlive: (name) => machines.get(name)?.isAlive ?? false,
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
