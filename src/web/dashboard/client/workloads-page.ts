/** All workloads in a table: filtered, sorted and cut into pages by the operator. */
import type { WorkloadPage, WorkloadRow, WorkloadStateTold } from '../answers.ts';
import { ask } from './api.ts';
import { scrolling } from './data-table.ts';
import { fill, h } from './dom.ts';
import { filterButtons, NO_FILTER } from './filter-buttons.ts';
import { cores, count, dollars } from './format.ts';
import { listQuery } from './list-query.ts';
import type { Host, Page } from './page.ts';
import { badge, empty, mixBar, pager, scanNote, type Tone, timeAgo, workloadLink } from './parts.ts';
import { sortableHead } from './sortable-head.ts';

const states = [NO_FILTER, 'managed', 'blocked', 'drifted', 'incomplete', 'invalid', 'balanced', 'unmanaged'] as const;

const stateLooks: Readonly<Record<WorkloadStateTold, { readonly tone: Tone; readonly title: string }>> = {
  balanced: { tone: 'good', title: 'Every replica is on its side' },
  drifted: { tone: 'warn', title: 'Replicas are on the wrong side' },
  incomplete: { tone: 'info', title: 'Replicas are missing, too many, or on an unknown side' },
  invalid: { tone: 'bad', title: 'A setting cannot be used; the workload is left alone' },
  unmanaged: { tone: 'muted', title: 'Not enabled for placement' },
};

export const stateBadge = (state: WorkloadStateTold): HTMLElement =>
  badge(state, stateLooks[state].tone, stateLooks[state].title);

export function workloadsPage(host: Host): Page {
  const query = listQuery('workloads', host);
  const { change } = query;
  const search = h('input', {
    type: 'search',
    placeholder: 'Name, namespace, kind or reason',
    'aria-label': 'Search workloads',
    oninput: () => change({ q: search.value }),
  });
  const filters = h('div', { class: 'filters', role: 'group', 'aria-label': 'State' });
  const head = h('thead');
  const body = h('tbody');
  const foot = h('div');
  const note = h('div');
  return {
    title: 'Workloads',
    element: h(
      'div',
      { class: 'page' },
      h('h1', { tabindex: '-1' }, 'Workloads'),
      h('div', { class: 'toolbar' }, h('search', {}, search), filters),
      scrolling('Workloads', h('table', { class: 'rows' }, head, body)),
      note,
      foot,
    ),
    show(route) {
      query.show(route);
      search.value = query.get('q');
    },
    async refresh(signal) {
      const answer = await ask<WorkloadPage>('workloads', query.params(), signal);
      const chosen = query.get('state') || NO_FILTER;
      const shown = states
        .filter((state) => state === NO_FILTER || state === chosen || answer.counts[state] > 0)
        .map((state) => ({ name: state, amount: answer.counts[state] }));
      fill(
        filters,
        filterButtons('state', shown, chosen, (state) => change({ state })),
      );
      const hasCost = answer.rows.some(({ cost }) => cost !== undefined);
      const hasSize = answer.rows.some(({ size }) => size !== undefined);
      fill(head, sortableHead(columnsOf(hasCost, hasSize), query.params(), change));
      fill(
        body,
        answer.rows.map((row) => rowOf(row, answer.at, hasCost, hasSize)),
      );
      fill(note, answer.rows.length === 0 && empty('No workload matches.'), scanNote(answer));
      fill(
        foot,
        pager(answer, 'workload', (page) => change({ page: page === 1 ? '' : String(page) })),
      );
    },
  };
}

const columnsOf = (hasCost: boolean, hasSize: boolean) => [
  { name: 'Workload', sort: 'name' },
  { name: 'Namespace', sort: 'namespace' },
  { name: 'State', sort: 'attention' },
  { name: 'Spot / on-demand' },
  { name: 'Ready', sort: 'replicas', isNumber: true },
  { name: 'To move', sort: 'drift', isNumber: true },
  ...(hasCost ? [{ name: 'Cost an hour', sort: 'cost', isNumber: true }] : []),
  ...(hasSize ? [{ name: 'Size', sort: 'saving' }] : []),
  { name: 'Last move' },
];

function rowOf(row: WorkloadRow, now: number, hasCost: boolean, hasSize: boolean): HTMLElement {
  const {
    kind,
    namespace,
    name,
    state,
    replicas,
    ready,
    actual,
    target,
    pending,
    drift,
    blockedBy,
    cost,
    lastDisruption,
  } = row;
  const isPlaced = target !== undefined;
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, workloadLink(`${kind}/${namespace}/${name}`, name), h('span', { class: 'kind' }, kind)),
    h('td', {}, namespace),
    h(
      'td',
      {},
      stateBadge(state),
      blockedBy !== undefined && [' ', badge(blockedBy.reason, 'warn', blockedBy.message)],
    ),
    h(
      'td',
      { class: 'mix-cell' },
      isPlaced && [mixBar(actual, pending), h('span', { class: 'muted' }, mixText(actual, target))],
    ),
    h('td', { class: 'number' }, `${count(ready)} / ${count(replicas)}`),
    h('td', { class: 'number' }, isPlaced ? count(drift) : ''),
    hasCost && h('td', { class: 'number' }, cost !== undefined && dollars(cost.actual)),
    hasSize && h('td', {}, sizeOf(row)),
    h('td', { class: 'muted' }, lastDisruption !== undefined && timeAgo(lastDisruption, now)),
  );
}

function mixText(actual: WorkloadRow['actual'], target: WorkloadRow['target']): string {
  const now = `${actual.spot} / ${actual.onDemand}`;
  return target === undefined || (target.spot === actual.spot && target.onDemand === actual.onDemand)
    ? now
    : `${now}, wanted ${target.spot} / ${target.onDemand}`;
}

const sizeTones: Readonly<Record<string, Tone>> = {
  Applied: 'good',
  Recommended: 'info',
  Pending: 'warn',
  Error: 'bad',
};

function sizeOf({ size }: WorkloadRow): (HTMLElement | string)[] {
  if (size === undefined) return [];
  const { status = 'no look yet', reason, policy, saving } = size;
  const freed =
    saving === undefined || Math.abs(saving.cpuMillis) < 1
      ? ''
      : saving.cpuMillis > 0
        ? `frees ${cores(saving.cpuMillis)}`
        : `needs ${cores(-saving.cpuMillis)} more`;
  return [
    badge(status, sizeTones[status] ?? 'muted', `${reason === undefined ? '' : `${reason}, `}policy ${policy}`),
    h('span', { class: 'muted' }, freed),
  ];
}
