/** Nodes without machines, and the kubelets that report their pods as running. */
import type { Pod } from '../../src/api/core.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { isNotFound, unless } from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';
import { createInformer } from '../../src/kube/informer.ts';
import { createWorkQueue } from '../../src/kube/queue.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Logger } from '../../src/lib/log.ts';
import type { Random } from '../../src/lib/random.ts';
import { isToldAlready, kubeletStatus } from './allocation-stand-ins.ts';

/** 2 cores to share out. */
export async function createNode(api: KubeApi, name: string, zone: string): Promise<void> {
  const labels = { 'topology.kubernetes.io/zone': zone, 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': name };
  await api.create(resources.nodes, { metadata: { name, labels } });
  const amounts = { cpu: '2', memory: '8Gi', pods: '110' };
  const status = { capacity: { ...amounts, cpu: '2200m' }, allocatable: amounts, conditions: nodeConditions({}) };
  await api.patch(resources.nodes, name, { type: 'merge', body: { status } }, { subresource: 'status' });
}

const CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** Those of a node that is well, but for what is given. */
export function nodeConditions(given: Readonly<Record<string, 'True' | 'False'>>) {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  return CONDITIONS.map((type) => ({
    type,
    status: given[type] ?? (type === 'Ready' ? 'True' : 'False'),
    reason: 'Test',
    message: '',
    lastTransitionTime,
  }));
}

export interface StandInKubelets {
  /** Follows the pods of the nodes until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Tells how the pod is doing, or confirms its end. */
  report(pod: Pod): Promise<void>;
}

export interface StandInKubeletsOptions {
  readonly api: KubeApi;
  readonly nodes: readonly string[];
  readonly isReady: (pod: Pod) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function createStandInKubelets(options: StandInKubeletsOptions): StandInKubelets {
  const { api, nodes, isReady } = options;
  const report = async (pod: Pod): Promise<void> => {
    const { name = '', namespace = '', deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp !== undefined) {
      await api.delete(resources.pods, name, { namespace, gracePeriodSeconds: 0 });
      return;
    }
    const status = kubeletStatus(pod, isReady(pod));
    if (isToldAlready(pod, status)) return;
    const body = { status };
    await api.patch(resources.pods, name, { type: 'strategic', body }, { namespace, subresource: 'status' });
  };
  const followers = nodes.map((node) => {
    const informer = createInformer<Pod, Pod>({
      ...options,
      type: resources.pods,
      project: (pod) => pod,
      selection: { fieldSelector: `spec.nodeName=${node}` },
    });
    // What fails is tried again: no event follows a report that did not arrive.
    const queue = createWorkQueue({ ...options, name: `kubelet of ${node}` });
    informer.subscribe({ onChange: (key) => queue.add(key) });
    const reportOn = async (key: string): Promise<void> => {
      const pod = informer.store.get(key);
      if (pod !== undefined) await unless(isNotFound, report(pod));
    };
    return (signal: AbortSignal) => Promise.all([informer.run(signal), queue.run(4, reportOn, signal)]);
  });
  return {
    report,
    run: async (signal) => {
      await Promise.all(followers.map((follow) => follow(signal)));
    },
  };
}
