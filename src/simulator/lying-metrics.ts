/** A metrics API that tells something else than what is: what rightsizing must not be led astray by. */
import type { PodMetrics, ServedUsage } from '../cluster/apiserver/usage-metrics.ts';

/** Nothing of some pods; what was true when the lie began; or no numbers, and numbers that cannot be. */
export type MetricsLie = 'part' | 'old' | 'nonsense';

/** @param lieNow undefined: the truth. */
export function lieAbout(truth: ServedUsage, lieNow: () => MetricsLie | undefined): ServedUsage {
  let frozen: ServedUsage | undefined;
  const now = (): ServedUsage => {
    const lie = lieNow();
    if (lie === 'old') frozen ??= freeze(truth);
    else frozen = undefined;
    return frozen ?? truth;
  };
  return {
    nodes: () => now().nodes(),
    pods(namespace) {
      const pods = now().pods(namespace);
      switch (lieNow()) {
        case 'part':
          return pods.filter((_, index) => index % 2 === 0);
        case 'nonsense':
          return pods.map((pod, index) => withUsage(pod, NONSENSE[index % NONSENSE.length] ?? { cpu: '', memory: '' }));
        default:
          return pods;
      }
    },
  };
}

const NONSENSE = [
  { cpu: 'NaN', memory: 'NaN' },
  { cpu: '-5m', memory: '-1Mi' },
  { cpu: '', memory: '' },
  { cpu: '+Inf', memory: '1e400' },
];

function freeze(truth: ServedUsage): ServedUsage {
  const [nodes, pods] = [truth.nodes(), truth.pods(undefined)];
  return {
    nodes: () => nodes,
    pods: (namespace) => pods.filter((pod) => namespace === undefined || pod.namespace === namespace),
  };
}

function withUsage(pod: PodMetrics, usage: { readonly cpu: string; readonly memory: string }): PodMetrics {
  return { ...pod, containers: pod.containers.map(({ name }) => ({ name, usage })) };
}
