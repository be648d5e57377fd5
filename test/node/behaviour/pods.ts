/** Pods of the behaviour suites, and looking into them. */
import type { Pod } from '../../../src/api/core.ts';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { resources } from '../../../src/api/resources.ts';
import { LOAD_IMAGE } from '../image/images.ts';
import type { KubeletUnderTest } from './kubelet-under-test.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = Spec['containers'][number];
export type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
export type Resources = NonNullable<Container['resources']>;

export interface LoadContainer {
  readonly name: string;
  readonly resources?: Resources;
  readonly resizePolicy?: Container['resizePolicy'];
  readonly isSidecar?: boolean;
  /** Held from the start. */
  readonly memoryMebibytes?: number;
  /** From SIGTERM to the end; `never` ignores it. Default: at once. */
  readonly stopMillis?: number | 'never';
}

export interface LoadPod {
  readonly name: string;
  readonly containers: readonly LoadContainer[];
  readonly graceSeconds?: number;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  /** Default: the kubelet's ordinary node. */
  readonly node?: string;
}

/** Each container of a pod needs a port of its own. */
export function portOf(pod: Pod, container: string): number {
  const names = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].map(({ name }) => name);
  return 8080 + names.indexOf(container);
}

/** The annotations steer the embedded kubelet's containers as the variables steer the real ones. */
export function loadPod(kubelet: KubeletUnderTest, spec: LoadPod): Pod {
  const { containers, name, node = kubelet.node } = spec;
  const ordered = [...containers.filter((each) => !each.isSidecar), ...containers.filter((each) => each.isSidecar)];
  const container = (each: LoadContainer): Container => {
    const stop = each.stopMillis === 'never' ? -1 : (each.stopMillis ?? 0);
    const port = 8080 + ordered.indexOf(each);
    const env = { PORT: port, MEM_MIB: each.memoryMebibytes ?? 0, STOP_MS: stop };
    return {
      name: each.name,
      image: LOAD_IMAGE,
      imagePullPolicy: 'Never',
      env: Object.entries(env).map(([key, value]) => ({ name: key, value: String(value) })),
      readinessProbe: { httpGet: { path: '/ready', port }, periodSeconds: 1 },
      ...(each.resources === undefined ? {} : { resources: each.resources }),
      ...(each.resizePolicy === undefined ? {} : { resizePolicy: each.resizePolicy }),
      ...(each.isSidecar ? { restartPolicy: 'Always' } : {}),
    };
  };
  const [stop] = containers.flatMap(({ stopMillis }) => stopMillis ?? []);
  return {
    metadata: {
      name,
      ...(stop === undefined
        ? {}
        : { annotations: { 'stowage.test/stop-after': stop === 'never' ? stop : `${stop}ms` } }),
    },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      tolerations: [{ key: 'stowage.test/pinned', operator: 'Exists' }],
      terminationGracePeriodSeconds: spec.graceSeconds ?? 2,
      automountServiceAccountToken: false,
      restartPolicy: spec.restartPolicy ?? 'Always',
      containers: containers.filter((each) => !each.isSidecar).map(container),
      initContainers: containers.filter((each) => each.isSidecar).map(container),
    },
  };
}

/** CPU in millicores and memory in MiB as resources; a pair is request and limit. */
export function amounts(cpu: readonly [number, number], memory: readonly [number, number]): Resources {
  return {
    requests: { cpu: `${cpu[0]}m`, memory: `${memory[0]}Mi` },
    limits: { cpu: `${cpu[1]}m`, memory: `${memory[1]}Mi` },
  };
}

export function statusOf(pod: Pod, container: string): ContainerStatus {
  const all = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
  const found = all.find(({ name }) => name === container);
  if (found === undefined) throw new Error(`pod ${pod.metadata?.name} has no status of ${container}`);
  return found;
}

export function conditionOf(pod: Pod, type: string) {
  return pod.status?.conditions?.find((each) => each.type === type);
}

export function resizeConditions(
  pod: Pod,
): { type: string; reason: string | undefined; message: string | undefined }[] {
  return (pod.status?.conditions ?? [])
    .filter(({ type }) => type.startsWith('PodResize'))
    .map(({ type, reason, message }) => ({ type, reason, message }));
}

/** PATCH of the resize subresource. */
export function resize(
  api: KubeApi,
  namespace: string,
  name: string,
  next: Readonly<Record<string, Resources>>,
  kind: 'containers' | 'initContainers' = 'containers',
): Promise<Pod> {
  const containers = Object.entries(next).map(([container, each]) => ({ name: container, resources: each }));
  const patch = { type: 'strategic', body: { spec: { [kind]: containers } } } as const;
  return api.patch(resources.pods, name, patch, { namespace, subresource: 'resize' });
}

/** Of a pod's status or one of its conditions (Kubernetes 1.34, not in the types yet). */
export function observedGenerationOf(part: object | undefined): unknown {
  return part === undefined ? undefined : Reflect.get(part, 'observedGeneration');
}
