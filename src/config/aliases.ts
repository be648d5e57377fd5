/** Keys of other shapes of the file that are understood, and keys of the Helm chart that never had an effect. */

import { quoted } from '../lib/shortened.ts';
import { flagOf } from './flag-text.ts';

export interface ConfigAlias {
  /** The path as people write it. */
  readonly from: string;
  /** The path of the key it means. */
  readonly to: string;
  /** Turns the value into one of the key; undefined means it is left as it is not given. */
  readonly convert?: (value: unknown) => unknown;
  /** What is wrong with a value as written here, and what is accepted here; undefined: the key itself judges. */
  readonly problemOf?: (value: unknown) => string | undefined;
}

/** Other shapes of the file: first that of Spotalis's design (mission/000). */
export const configAliases: readonly ConfigAlias[] = [
  { from: 'controller.resyncPeriod', to: 'controllers.reconcileInterval' },
  // There, 0 workers meant the default.
  {
    from: 'controller.workers',
    to: 'controllers.maxConcurrentReconciles',
    convert: (value) => (value === 0 ? undefined : value),
  },
  { from: 'controller.namespaceSelector', to: 'controllers.namespaceSelector' },
  { from: 'controller.leaderElection.enabled', to: 'operator.leaderElection.enabled' },
  { from: 'controller.leaderElection.id', to: 'operator.leaderElection.id' },
  { from: 'controller.leaderElection.name', to: 'operator.leaderElection.id' },
  { from: 'controller.leaderElection.namespace', to: 'operator.leaderElection.namespace' },
  { from: 'controller.leaderElection.leaseDuration', to: 'operator.leaderElection.leaseDuration' },
  { from: 'controller.leaderElection.renewDeadline', to: 'operator.leaderElection.renewDeadline' },
  { from: 'controller.leaderElection.retryPeriod', to: 'operator.leaderElection.retryPeriod' },
  { from: 'nodeLabels.spot', to: 'controllers.nodeClassifier.spotLabels', ...labelAndValue('spot') },
  { from: 'nodeLabels.onDemand', to: 'controllers.nodeClassifier.onDemandLabels', ...labelAndValue('on-demand') },
  { from: 'logging.level', to: 'observability.logging.level' },
  { from: 'logging.format', to: 'observability.logging.format' },
  { from: 'metrics.enabled', to: 'observability.metrics.enabled' },
  { from: 'metrics.bindAddress', to: 'observability.metrics.bindAddress' },
  { from: 'metrics.port', to: 'observability.metrics.bindAddress', convert: portToAddress },
  { from: 'health.enabled', to: 'observability.health.enabled' },
  { from: 'health.bindAddress', to: 'observability.health.bindAddress' },
  { from: 'health.port', to: 'observability.health.bindAddress', convert: portToAddress },
  // OptiPod's file: by its design (mission/003), and by its shipped ConfigMap with flat keys.
  { from: 'dryRun', to: 'rightsizing.dryRun', convert: textToFlag },
  { from: 'dry-run', to: 'rightsizing.dryRun', convert: textToFlag },
  { from: 'metricsProvider', to: 'rightsizing.provider', convert: (value) => optipodProvider(value) },
  { from: 'metrics-provider', to: 'rightsizing.provider', convert: (value) => optipodProvider(value) },
  { from: 'prometheusURL', to: 'rightsizing.prometheus.url' },
  { from: 'prometheus-url', to: 'rightsizing.prometheus.url' },
  { from: 'reconciliationInterval', to: 'rightsizing.reconcileInterval' },
  { from: 'reconciliation-interval', to: 'rightsizing.reconcileInterval' },
  { from: 'leaderElection', to: 'operator.leaderElection.enabled', convert: textToFlag },
  { from: 'leader-election', to: 'operator.leaderElection.enabled', convert: textToFlag },
  { from: 'metrics-bind-address', to: 'observability.metrics.bindAddress' },
  { from: 'health-probe-bind-address', to: 'observability.health.bindAddress' },
];

/** Accepted with a warning. Each says why it has no effect. */
export const unusedKeys: ReadonlyMap<string, string> = new Map([
  ['webhook.certName', 'the file is tls.crt'],
  ['webhook.keyName', 'the file is tls.key'],
  ['observability.logging.output', 'logs go to standard error'],
  ['observability.logging.addCaller', 'records name their logger'],
  ['observability.logging.development', 'set observability.logging.format to text'],
  ['logging.output', 'logs go to standard error'],
  ['observability.metrics.path', 'the path is /metrics'],
  ['observability.health.path', 'the paths are /healthz and /readyz'],
]);

/** `key=value` as a list of one selector. Other shapes are those of the key, whose own check judges them. */
function labelAndValue(example: string): Pick<ConfigAlias, 'convert' | 'problemOf'> {
  const partsOf = (value: unknown): readonly string[] =>
    (typeof value === 'string' ? /^([^=]+)=([^=]*)$/.exec(value) : null)?.slice(1) ?? [];
  return {
    convert(value) {
      const [key, labelValue] = partsOf(value);
      return key === undefined || labelValue === undefined
        ? value
        : [{ matchLabels: { [key.trim()]: labelValue.trim() } }];
    },
    problemOf: (value) =>
      typeof value !== 'string' || partsOf(value).length > 0
        ? undefined
        : `is not a label and its value: ${quoted(value)}; accepted: key=value, such as karpenter.sh/capacity-type=${example}, or a list as of the key itself`,
  };
}

/**
 * OptiPod's `custom` is no source but a place for one. Here custom sources have names, and only policies name them:
 * nothing to fall back to.
 */
export function optipodProvider<T>(value: T): T | 'none' {
  return value === 'custom' ? 'none' : value;
}

/** The values of a ConfigMap are text, and mean what they mean behind the flag. */
function textToFlag(value: unknown): unknown {
  return typeof value === 'string' ? (flagOf(value) ?? value) : value;
}

function portToAddress(value: unknown): unknown {
  return typeof value === 'number' ? `:${value}` : value;
}
