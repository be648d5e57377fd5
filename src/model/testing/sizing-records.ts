/** Sizing records for tests: each builder gives a valid record of an ordinary object, of which a test changes what it is about. */
import { sumOf } from '../pod-size.ts';
import type { PodRecord } from '../records.ts';
import type {
  ContainerSize,
  ContainerSpecRecord,
  ContainerStatusRecord,
  HpaRecord,
  LimitRangeRecord,
  PodSizing,
  QuotaRecord,
  SizedWorkload,
  VpaRecord,
} from '../sizing-records.ts';
import { aPod, GIB, NOON } from './records.ts';

export const MIB = 2 ** 20;

/** Burstable: requests below limits. */
export const smallSize: ContainerSize = {
  cpuRequest: 200,
  cpuLimit: 400,
  memoryRequest: 128 * MIB,
  memoryLimit: 256 * MIB,
};

export function aContainer(changes: Partial<ContainerSpecRecord> = {}): ContainerSpecRecord {
  return {
    name: 'app',
    isSidecar: false,
    size: smallSize,
    cpuRestart: 'NotRequired',
    memoryRestart: 'NotRequired',
    hasReadinessProbe: false,
    ...changes,
  };
}

/** Running since an hour with the size of its spec in force. */
export function aContainerStatus(
  container: Pick<ContainerSpecRecord, 'name' | 'size'>,
  changes: Partial<ContainerStatusRecord> = {},
): ContainerStatusRecord {
  const { cpuRequest, memoryRequest } = container.size;
  return {
    name: container.name,
    running: true,
    ready: true,
    startedAt: NOON - 3_600_000,
    restartCount: 0,
    lastTermination: undefined,
    actual: container.size,
    allocated: {
      ...(cpuRequest !== undefined && { cpuRequest }),
      ...(memoryRequest !== undefined && { memoryRequest }),
    },
    ...changes,
  };
}

/** A settled Burstable pod of one container; statuses follow `containers` unless given. */
export function aPodSizing(changes: Partial<PodSizing> = {}): PodSizing {
  const containers = changes.containers ?? [aContainer()];
  return {
    qos: 'Burstable',
    containers,
    statuses: containers.map((container) => aContainerStatus(container)),
    hasPodLevelResources: false,
    isStatic: false,
    os: 'linux',
    priority: 0,
    priorityClassName: '',
    resize: { pending: undefined, inProgress: undefined },
    generation: 1,
    observedGeneration: 1,
    marks: {},
    sizeManagers: [],
    ...changes,
  };
}

type Owner = Parameters<typeof aPod>[0];

/** A running pod on node `n1` whose requests are the sum of its containers'. */
export function aSizedPod(
  owner: Owner,
  name: string,
  sizing: Partial<PodSizing> = {},
  changes: Partial<PodRecord> = {},
): PodRecord & { readonly sizing: PodSizing } {
  const full = aPodSizing(sizing);
  const pod = aPod(owner, name, { nodeName: 'n1', ...changes });
  const requests = {
    cpuMillis: sumOf(full.containers, 'cpuRequest'),
    memoryBytes: sumOf(full.containers, 'memoryRequest'),
  };
  return { ...pod, template: { ...pod.template, requests, ...changes.template }, sizing: full };
}

/** A settled Deployment `shop/web` of one container. */
export function aSizedWorkload(changes: Partial<SizedWorkload> = {}): SizedWorkload {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    uid: 'uid-web',
    resourceVersion: '1',
    createdAt: NOON - 86_400_000,
    deleting: false,
    labels: { app: 'web' },
    annotations: {},
    replicas: 3,
    isRollingOut: false,
    selector: { matchLabels: { app: 'web' } },
    containers: [aContainer()],
    templateManagers: {},
    ...changes,
  };
}

export function aLimitRange(changes: Partial<LimitRangeRecord> = {}): LimitRangeRecord {
  return {
    namespace: 'shop',
    name: 'bounds',
    type: 'Container',
    min: {},
    max: {},
    defaultRequest: {},
    defaultLimit: {},
    maxLimitRequestRatio: {},
    ...changes,
  };
}

export function aQuota(changes: Partial<QuotaRecord> = {}): QuotaRecord {
  return {
    namespace: 'shop',
    name: 'compute',
    hard: { cpuRequest: 4000, memoryRequest: 8 * GIB },
    used: { cpuRequest: 1000, memoryRequest: GIB },
    scopes: undefined,
    ...changes,
  };
}

/** Three replicas and no metric. */
export function anHpa(changes: Partial<HpaRecord> = {}): HpaRecord {
  return {
    namespace: 'shop',
    name: 'web',
    target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 10,
    currentReplicas: 3,
    desiredReplicas: 3,
    utilization: {},
    containerUtilization: [],
    ...changes,
  };
}

export function aVpa(changes: Partial<VpaRecord> = {}): VpaRecord {
  return {
    namespace: 'shop',
    name: 'web-vpa',
    target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    updateMode: 'Auto',
    ...changes,
  };
}
