/** How the pods of a workload share the CPU of their nodes, for people. */
import { printable } from '../../lib/printable.ts';
import type { OperatorAllocation } from '../operator-client.ts';
import type { Style } from '../style.ts';
import { type Column, renderTable, type TableOptions } from '../table.ts';

export function renderAllocation(pods: readonly OperatorAllocation[], style: Style, options: TableOptions): string[] {
  const notes = pods.flatMap(({ pod, clamps }) => clamps.map((clamp) => `  ${printable(pod)}: ${printable(clamp)}`));
  return [
    style('heading', 'CPU by allocation'),
    ...renderTable(columns, pods, options),
    ...(notes.length === 0 ? [] : ['Bounds:', ...notes]),
  ];
}

const columns: readonly Column<OperatorAllocation>[] = [
  { header: 'POD', value: ({ pod }) => pod },
  { header: 'NODE', value: ({ node, agent }) => (agent === 'alive' ? node : `${node} (agent ${agent})`) },
  { header: 'SHARE', value: ({ share }) => share, align: 'right' },
  { header: 'IN FORCE', value: ({ applied }) => applied ?? '-', align: 'right' },
  { header: 'CEILING', value: ({ ceiling }) => ceiling ?? '-', align: 'right' },
  { header: 'USAGE', value: ({ usage }) => usage ?? '-', align: 'right' },
  { header: 'CLAIM', value: ({ claim }) => claim ?? '-', align: 'right' },
  { header: 'WANT', value: ({ want }) => want ?? '-', align: 'right' },
  { header: 'WEIGHT', value: ({ weight }) => weight ?? '-', align: 'right' },
  { header: 'PRICE', value: ({ shadowPrice }) => shadowPrice ?? '-', align: 'right', wide: true },
  { header: 'MODE', value: ({ mode }) => mode ?? '-', wide: true },
  { header: 'STATE', value: ({ phase, reason }) => (reason === '' ? phase : `${phase}: ${reason}`) },
];
