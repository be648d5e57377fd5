/** The Node object a kubelet registers. Pure. */
import type { Node } from '../../api/core.ts';
import { formatQuantity, fromBytes, fromMillicores } from '../../lib/quantity.ts';
import type { Bytes, Millicores } from '../../lib/units.ts';
import { timestampOf } from '../objects.ts';
import type { Taint } from '../scheduler/node-matching.ts';

/** A machine to be; amounts are of the whole machine. */
export interface NodeSpec {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly cpuMillis: Millicores;
  readonly memoryBytes: Bytes;
  /** Kept back for the system, taken off to get what pods can have. */
  readonly reserved?: { readonly cpuMillis: Millicores; readonly memoryBytes: Bytes };
  /** Default 110. */
  readonly maxPods?: number;
  /** Cloud identity, e.g. `aws:///eu-central-1a/i-0123`. */
  readonly providerId?: string;
  /** Port the kubelet's metrics are served at, for metrics-server. */
  readonly kubeletPort?: number;
  /** `static`: Guaranteed pods get CPUs of their own, which a resize cannot change. Default: none do. */
  readonly cpuManagerPolicy?: 'static';
  /** Default 127.0.0.1, on which every simulated kubelet listens. */
  readonly address?: string;
}

/** Of the Kubernetes whose rules are followed. */
export const KUBELET_VERSION = 'v1.37.2';

/** Ready from the start: the taint of a node that has not reported yet is the server's to add. */
export function nodeObject(spec: NodeSpec, nowMillis: number): Node {
  const { name, reserved, address = '127.0.0.1', maxPods = 110 } = spec;
  const amounts = (cpuMillis: number, memoryBytes: number): Record<string, string> => ({
    cpu: formatQuantity(fromMillicores(cpuMillis)),
    memory: formatQuantity(fromBytes(memoryBytes)),
    pods: String(maxPods),
  });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...spec.labels,
      },
    },
    spec: {
      ...(spec.providerId === undefined ? {} : { providerID: spec.providerId }),
      ...(spec.taints === undefined ? {} : { taints: [...spec.taints] }),
    },
    status: {
      capacity: amounts(spec.cpuMillis, spec.memoryBytes),
      allocatable: amounts(
        spec.cpuMillis - (reserved?.cpuMillis ?? 0),
        spec.memoryBytes - (reserved?.memoryBytes ?? 0),
      ),
      conditions: nodeConditions(true, nowMillis),
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ],
      ...(spec.kubeletPort === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: spec.kubeletPort } } }),
      nodeInfo: {
        architecture: 'amd64',
        bootID: name,
        containerRuntimeVersion: 'simulated://1',
        kernelVersion: 'simulated',
        kubeProxyVersion: KUBELET_VERSION,
        kubeletVersion: KUBELET_VERSION,
        machineID: name,
        operatingSystem: 'linux',
        osImage: 'simulated',
        systemUUID: name,
      },
    },
  };
}

type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number];

/** The kubelet's conditions; a node going down on purpose reports itself not ready. */
export function nodeConditions(isReady: boolean, nowMillis: number): NodeCondition[] {
  const now = timestampOf(nowMillis);
  const condition = (type: string, status: boolean, reason: string, message: string): NodeCondition => ({
    type,
    status: status ? 'True' : 'False',
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return [
    condition('MemoryPressure', false, 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    condition('DiskPressure', false, 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', false, 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    isReady
      ? condition('Ready', true, 'KubeletReady', 'kubelet is posting ready status')
      : condition('Ready', false, 'KubeletNotReady', 'node is shutting down'),
  ];
}
