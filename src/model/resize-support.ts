/**
 * Whether a pod can be resized in place, from what is observed (KEP-1287): never from a server version, whose gates are
 * unknown.
 */
import type { NodeRecord } from './records.ts';
import type { SizedPod } from './sizing-view.ts';

export type ResizeSupport =
  | { readonly kind: 'supported' }
  /** Not known yet: a later look may say more. */
  | { readonly kind: 'unknown'; readonly detail: string }
  | { readonly kind: 'unsupported'; readonly detail: string };

/**
 * @param servesResize `pods/resize` is in discovery; undefined while that is not known.
 * @param node of the pod; undefined where it is not known.
 */
export function resizeSupport(
  { pod, sizing }: SizedPod,
  node: NodeRecord | undefined,
  servesResize: boolean | undefined,
): ResizeSupport {
  if (servesResize === undefined)
    return { kind: 'unknown', detail: 'whether the API server serves pods/resize is not known yet' };
  if (!servesResize) return { kind: 'unsupported', detail: 'the API server does not serve pods/resize' };
  if (node === undefined) return { kind: 'unknown', detail: `node ${pod.nodeName ?? '(none)'} is not known` };
  const os = node.labels['kubernetes.io/os'] ?? 'linux';
  if (os !== 'linux') return { kind: 'unsupported', detail: `node ${node.name} runs ${os}` };
  // The API server's own test for the skew of kubelets. Source: isPodResizeRequestSupported in
  // pkg/apis/core/validation.
  const running = sizing.statuses.filter((status) => status.running);
  if (running.length === 0) return { kind: 'unknown', detail: 'none of its containers runs' };
  const silent = running.find(({ actual }) => actual === undefined);
  return silent === undefined
    ? { kind: 'supported' }
    : {
        kind: 'unsupported',
        detail: `the kubelet of node ${node.name} does not report the resources of container ${silent.name}`,
      };
}

/** Declared by kubelets that change the CPUs of Guaranteed pods that have some of their own (KEP-5554, KEP-5328). */
const RESIZES_EXCLUSIVE_CPUS = 'GuaranteedQoSPodCPUResize';

/**
 * Whether the node says by itself that exclusive CPUs can be changed. Features are declared only while they are new, so
 * that nothing follows where one is missing.
 */
export function declaresExclusiveCpuResize(node: NodeRecord | undefined): boolean {
  return node?.declaredFeatures?.includes(RESIZES_EXCLUSIVE_CPUS) === true;
}
