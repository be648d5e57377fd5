/** Stand-in of the kubelets of many nodes: registers nodes and runs the pods bound to them. An API client only. */
import type { Node } from '../../api/core.ts';
import { isAlreadyExists, isConflict, isNotFound, unless } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createWorkQueue } from '../../kube/queue.ts';
import { aborted } from '../../lib/until-aborted.ts';
import { patchesOf } from '../object-patches.ts';
import { nameOf } from '../objects.ts';
import { amountsOf } from '../pod-requests.ts';
import type { StandInContext } from '../stand-in.ts';
import { DEFAULT_BEHAVIOUR } from './behaviour.ts';
import { createKubeletEndpoints } from './endpoint.ts';
import { createHeartbeat } from './heartbeat.ts';
import type { Kubelet, KubeletOptions, LivenessListener } from './kubelet-api.ts';
import { createKubeletLoad } from './kubelet-load.ts';
import { createKubeletPods } from './kubelet-pods.ts';
import { type Machine, newMachine } from './machine.ts';
import { nodeConditions, nodeObject } from './node-object.ts';
import type { NodeUsage } from './node-usage.ts';

const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';

/** @param context its caches must be running before `run`; nodes may be added before and after. */
export function createKubelet(context: StandInContext, options: KubeletOptions = {}): Kubelet {
  const { api, caches, clock, random, log } = context;
  const nodes = caches.of(resources.nodes);
  const patches = patchesOf(api, resources.nodes);
  const { heartbeats = false, removesNotReadyTaint = true, resizeMillis = 45 } = options;
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
  const behaviour = { ...DEFAULT_BEHAVIOUR, ...options.behaviour };
  const pods = createKubeletPods(context, { machines, load, behaviour, resizeMillis });

  const usage = (nodeName: string): NodeUsage | undefined => {
    const machine = machines.get(nodeName);
    if (machine === undefined || !machine.isAlive) return undefined;
    return { ...load.usage(machine), node: nodeName, capacity: machine.spec };
  };
  const endpoints = options.endpoints === undefined ? undefined : createKubeletEndpoints(usage, options.endpoints);

  /** Names of nodes with the taint. Tried again until it is off: a node at rest brings no further event. */
  const tainted = createWorkQueue({ clock, random, log, name: 'kubelet-taints' });
  const onNode = (node: Node): void => {
    const machine = machines.get(nameOf(node));
    if (machine === undefined || !machine.isAlive) return;
    machine.allocatable = amountsOf(node.status?.allocatable);
    if (removesNotReadyTaint && hasNotReadyTaint(node)) tainted.add(nameOf(node));
  };
  const removeTaint = async (name: string): Promise<void> => {
    const node = nodes.get(name);
    if (node === undefined || !hasNotReadyTaint(node) || machines.get(name)?.isAlive !== true) return;
    const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== NOT_READY_TAINT);
    const body = { metadata: { resourceVersion: node.metadata?.resourceVersion }, spec: { taints } };
    // Where another change came first its event brings us back here.
    const isLate = (error: unknown): boolean => isNotFound(error) || isConflict(error);
    await unless(isLate, patches.merge(node, body));
  };

  const beginSilence = (machine: Machine): void => {
    if (!machine.isAlive) return;
    machine.isAlive = false;
    machine.heartbeat?.stop();
    pods.closeOn(machine);
    for (const listener of listeners) listener(machine.spec.name, false);
  };

  /** Without its Node object a silent machine does not come back. */
  const forgetNode = (node: Node | undefined): void => {
    const name = nameOf(node ?? {});
    if (machines.get(name)?.isAlive !== false) return;
    machines.delete(name);
    void endpoints?.closeOf(name);
  };

  const beginWork = (machine: Machine): void => {
    machine.heartbeat?.start();
    pods.startOn(machine);
  };

  const writeConditions = async (name: string, isReady: boolean): Promise<void> => {
    await patches.status({ metadata: { name } }, { status: { conditions: nodeConditions(isReady, clock.now()) } });
  };

  nodes.onChange((before, after) => (after === undefined ? forgetNode(before) : onNode(after)));

  return {
    name: 'kubelet',
    async run(signal) {
      isRunning = true;
      pods.start();
      for (const machine of machines.values()) beginWork(machine);
      const untainting = tainted.run(2, removeTaint, signal);
      await aborted(signal);
      isRunning = false;
      load.stop();
      for (const machine of machines.values()) machine.heartbeat?.stop();
      pods.stop();
      await endpoints?.close();
      await untainting;
    },
    async addNode(spec) {
      const kubeletPort = spec.kubeletPort ?? (await endpoints?.open(spec.name));
      const node = nodeObject(kubeletPort === undefined ? spec : { ...spec, kubeletPort }, clock.now());
      const heartbeat = heartbeats ? createHeartbeat({ api, clock, log, node: spec.name }) : undefined;
      const machine = newMachine(spec, machinesEver++, node, heartbeat, clock.now());
      machines.set(spec.name, machine);
      const created = await unless(isAlreadyExists, api.create(resources.nodes, node));
      if (created === undefined) await patches.merge(node, { metadata: { labels: node.metadata?.labels ?? {} } });
      // Servers may drop the status of a new object; the kubelet's own report is what counts.
      await patches.status(node, { status: node.status });
      if (isRunning) beginWork(machine);
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
      if (isRunning) pods.startOn(machine);
    },
    async shutDownNode(name) {
      const machine = machines.get(name);
      if (machine === undefined || !machine.isAlive) return;
      await unless(isNotFound, writeConditions(name, false));
      for (const worker of machine.workers.values()) {
        worker.shutDown('Terminated', 'Pod was terminated in response to imminent node shutdown.');
      }
    },
    oomKill: pods.oomKill,
    endContainer: pods.endContainer,
    useMemory: pods.useMemory,
    setReady: pods.setReady,
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

function hasNotReadyTaint({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === NOT_READY_TAINT);
}
