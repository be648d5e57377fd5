/** Pods that share a node's CPU, and what each has of it: by the API, and by the kernel. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../../../src/api/core.ts';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { resources } from '../../../src/api/resources.ts';
import { tryParseMillicores } from '../../../src/lib/quantity.ts';
import type { Millicores } from '../../../src/lib/units.ts';
import { isUnified } from '../host/cgroups.ts';
import { LOAD_IMAGE } from '../image/images.ts';

export interface SharedPod {
  readonly name: string;
  readonly request: Millicores;
  readonly limit?: Millicores | undefined;
  readonly claim: Millicores;
  readonly weight: number;
  readonly isBatch: boolean;
  /** Burnt from the start; can be changed while it runs. */
  readonly burns?: Millicores;
  /** Units of work at a time, for a pod that serves. */
  readonly workers?: number;
}

export interface PodSize {
  readonly request: Millicores;
  readonly limit: Millicores | undefined;
}

const milli = (value: Millicores): string => `${value}m`;

export function sharedPod(node: string, spec: SharedPod): Pod {
  const { name, request, limit, claim, weight, isBatch, burns = 0, workers = 0 } = spec;
  const env = { CPU_MILLI: burns, WORKERS: workers };
  return {
    metadata: {
      name,
      annotations: {
        'mbcas.io/weight': `${weight}`,
        'mbcas.io/min-cpu': milli(claim),
        ...(isBatch && { 'mbcas.io/workload-type': 'batch' }),
      },
    },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      tolerations: [{ key: 'stowage.test/shared', operator: 'Exists' }],
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'main',
          image: LOAD_IMAGE,
          imagePullPolicy: 'Never',
          env: Object.entries(env).map(([key, value]) => ({ name: key, value: `${value}` })),
          readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1, timeoutSeconds: 5 },
          resources: {
            requests: { cpu: milli(request), memory: '16Mi' },
            limits: { memory: '128Mi', ...(limit !== undefined && { cpu: milli(limit) }) },
          },
        },
      ],
    },
  };
}

export async function createPods(api: KubeApi, namespace: string, pods: readonly Pod[]): Promise<void> {
  for (const pod of pods) await api.create(resources.pods, pod, { namespace });
}

/** What the spec says, in all. */
export function sizeOf({ spec }: Pod): PodSize {
  const { requests, limits } = spec?.containers[0]?.resources ?? {};
  return { request: tryParseMillicores(requests?.['cpu']) ?? 0, limit: tryParseMillicores(limits?.['cpu']) };
}

/** What the pod takes of its node: for each container the largest of spec, allocated and in force. */
export function heldBy({ spec, status }: Pod): Millicores {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
  return (spec?.containers ?? []).reduce((sum, { name, resources: own }) => {
    const found = status?.containerStatuses?.find((each) => each.name === name);
    const parts = [own?.requests?.['cpu'], found?.allocatedResources?.['cpu'], found?.resources?.requests?.['cpu']];
    return sum + Math.max(...parts.map((part) => tryParseMillicores(part) ?? 0));
  }, 0);
}

export interface KernelCounters {
  readonly usedMicros: number;
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledMicros: number;
}

/** Control group of the pod below that of its node, and of its container. */
function groupsOf(cgroup: string, pod: Pod): { readonly pod: string; readonly container: string } {
  const id = pod.status?.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? '';
  const group = join(cgroup, 'kubepods', 'burstable', `pod${pod.metadata?.uid}`);
  return { pod: group, container: join(group, id) };
}

/** Takes the CPU quotas of the pod and its container away, as a reload of systemd's units can. */
export function takeQuotaAway(cgroup: string, pod: Pod): void {
  const groups = groupsOf(cgroup, pod);
  // The pod's first: nothing inside may have more than what it is in.
  for (const group of [groups.pod, groups.container]) {
    if (isUnified()) writeFileSync(join('/sys/fs/cgroup', group, 'cpu.max'), 'max');
    else writeFileSync(join('/sys/fs/cgroup/cpu', group, 'cpu.cfs_quota_us'), '-1');
  }
}

/** CPU that the quota of the pod's container allows; infinite without one. */
export function quotaInForce(cgroup: string, pod: Pod): Millicores {
  const { container } = groupsOf(cgroup, pod);
  const read = (tree: string, file: string): string =>
    readFileSync(join('/sys/fs/cgroup', tree, container, file), 'utf8').trim();
  const [quota, period] = isUnified()
    ? read('', 'cpu.max').split(' ')
    : [read('cpu', 'cpu.cfs_quota_us'), read('cpu', 'cpu.cfs_period_us')];
  return quota === 'max' || quota === '-1' ? Number.POSITIVE_INFINITY : (1000 * Number(quota)) / Number(period);
}

/** Of the pod's container by its control group. @throws Error while the container does not run. */
export function kernelCounters(cgroup: string, pod: Pod): KernelCounters {
  const within = groupsOf(cgroup, pod).container;
  const read = (tree: string, file: string): string => readFileSync(join('/sys/fs/cgroup', tree, within, file), 'utf8');
  const stat = read(isUnified() ? '' : 'cpu', 'cpu.stat');
  const value = (key: string): number => Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0);
  return {
    usedMicros: isUnified() ? value('usage_usec') : Number(read('cpuacct', 'cpuacct.usage')) / 1000,
    periods: value('nr_periods'),
    throttledPeriods: value('nr_throttled'),
    throttledMicros: isUnified() ? value('throttled_usec') : value('throttled_time') / 1000,
  };
}
