/** The API group metrics.k8s.io, answered from a source of current usage: what `kubectl top` and autoscalers read. */
import { cloneJson, type Json, type JsonObject, toJson } from './json.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { serve } from './type-table.ts';

/** Usage of one node or container, as the API prints it: quantities, e.g. `{ cpu: '250m', memory: '128Mi' }`. */
export interface UsageAmounts {
  readonly cpu: string;
  readonly memory: string;
}

export interface NodeMetrics {
  readonly name: string;
  /** End of the measured window, RFC 3339. */
  readonly timestamp: string;
  /** Length of the window, e.g. `10s`. */
  readonly window: string;
  readonly usage: UsageAmounts;
}

export interface PodMetrics {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly timestamp: string;
  readonly window: string;
  readonly containers: readonly { readonly name: string; readonly usage: UsageAmounts }[];
}

/** What the API answers from; asked on every read. */
export interface ServedUsage {
  nodes(): readonly NodeMetrics[];
  /** Of all namespaces when none is given. */
  pods(namespace: string | undefined): readonly PodMetrics[];
}

const GROUP = { group: 'metrics.k8s.io', version: 'v1beta1' };
const READ_ONLY = { verbs: ['get', 'list'] };

function metricsObject(kind: string, metadata: JsonObject, content: Json): ApiObject {
  const body = typeof content === 'object' && content !== null && !Array.isArray(content) ? content : {};
  return { kind, apiVersion: `${GROUP.group}/${GROUP.version}`, metadata: cloneJson(metadata), ...body };
}

/** The served types; they store nothing. */
export function usageTypes(source: ServedUsage): ServedType[] {
  return [
    {
      ...serve({ ...GROUP, plural: 'nodes', kind: 'NodeMetrics', namespaced: false }, READ_ONLY),
      source: () =>
        source.nodes().map(({ name, ...content }) => metricsObject('NodeMetrics', { name }, toJson(content))),
    },
    {
      ...serve({ ...GROUP, plural: 'pods', kind: 'PodMetrics', namespaced: true }, READ_ONLY),
      source: (namespace) =>
        source
          .pods(namespace)
          .map(({ name, namespace: own, labels, ...content }) =>
            metricsObject(
              'PodMetrics',
              { name, namespace: own, ...(labels === undefined ? {} : { labels: { ...labels } }) },
              toJson(content),
            ),
          ),
    },
  ];
}
