/** The page docs/metrics.md, written from the tables of metrics. */
import type { MetricDefinition } from './metric-definition.ts';
import { metricTable } from './metrics.ts';
import { agentMetrics } from './metrics-agent.ts';
import { placementMetrics } from './metrics-placement.ts';
import { rightsizingMetrics } from './metrics-rightsizing.ts';
import { runtimeMetrics } from './metrics-runtime.ts';

/** The whole page in Markdown. */
export function renderMetricsPage(): string {
  const allocation = Object.entries<MetricDefinition>(metricTable).filter(([name]) => name.startsWith('mbcas_'));
  const parts = [
    '# Metrics',
    '<!-- Written by `npm run docs` from src/lib/metrics-*.ts; edit those. -->',
    'Prometheus text format at `/metrics`. No label is ever the name of a pod, but for `mbcas_pod_cpu_allocation_millicores`, `mbcas_pod_cpu_usage_millicores` and the node agent’s. Series of a workload that is deleted or no longer managed are dropped. Counters with known labels start at zero. Scrape with `honor_labels: true`, as the monitors of the chart do: the label `namespace` is that of the workload or policy, and alerts and dashboards go by it.',
    '## Placement',
    renderTable(placementMetrics),
    '## Rightsizing',
    'The label `policy` is the name of an OptimizationPolicy. Policies that share all labels of a series (a name in several namespaces, where there is no label `namespace`; a name in both API groups) are added up in it. Of the leader only.',
    renderTable(rightsizingMetrics),
    ...(allocation.length === 0 ? [] : ['## Allocation', renderTable(Object.fromEntries(allocation))]),
    '## Machinery',
    'Of the operator also `process_*` and `nodejs_*`, as the library for Node has them: `process_resident_memory_bytes` is its memory.',
    renderTable(runtimeMetrics),
    '## Node agent',
    'Served by each node’s agent on its own port (8082). Labels for pods are those of its node.',
    renderTable(agentMetrics),
  ];
  return `${parts.join('\n\n')}\n`;
}

function renderTable(table: Readonly<Record<string, MetricDefinition>>): string {
  const rows = Object.entries(table).map(([name, { type, labels, help }]) => {
    const labelText = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${labelText} | ${help} |`;
  });
  return ['| Metric | Type | Labels | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
