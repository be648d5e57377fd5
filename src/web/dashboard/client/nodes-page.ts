/** Nodes: how much of each is promised to whom, and what one more core would be worth. */
import type { NodePage, NodePodTold, NodeTold } from '../answers.ts';
import { ask } from './api.ts';
import { dataTable, numbers } from './data-table.ts';
import { fill, h } from './dom.ts';
import { filterButtons, NO_FILTER } from './filter-buttons.ts';
import { bytes, cores, count, counted, cpu, percent } from './format.ts';
import { listQuery } from './list-query.ts';
import type { Host, Page } from './page.ts';
import { badge, bar, empty, pager, type Tone } from './parts.ts';

const orders = [
  { label: 'Name', sort: 'name', order: '' },
  { label: 'CPU, fullest first', sort: 'cpu', order: 'desc' },
  { label: 'Memory, fullest first', sort: 'memory', order: 'desc' },
  { label: 'Most pods first', sort: 'pods', order: 'desc' },
  { label: 'Zone', sort: 'zone', order: '' },
] as const;

const stateTones: Readonly<Record<NodeTold['state'], Tone>> = {
  ready: 'good',
  cordoned: 'warn',
  'not ready': 'bad',
  leaving: 'warn',
};
/** Neighbours in a bar differ; there is no more meaning in it. */
const SHADES = 6;

export function nodesPage(host: Host): Page {
  const query = listQuery('nodes', host);
  const { change } = query;
  const search = h('input', {
    type: 'search',
    placeholder: 'Name, zone or instance type',
    'aria-label': 'Search nodes',
    oninput: () => change({ q: search.value }),
  });
  const order = h(
    'select',
    {
      'aria-label': 'Order',
      onchange: () =>
        change({ sort: orders[order.selectedIndex]?.sort ?? '', order: orders[order.selectedIndex]?.order ?? '' }),
    },
    orders.map(({ label }) => h('option', {}, label)),
  );
  const filters = h('div', { class: 'filters', role: 'group', 'aria-label': 'Class' });
  const list = h('ul', { class: 'nodes' });
  const foot = h('div');
  return {
    title: 'Nodes',
    element: h(
      'div',
      { class: 'page' },
      h('h1', { tabindex: '-1' }, 'Nodes'),
      h('div', { class: 'toolbar' }, h('search', {}, search), filters, order),
      list,
      foot,
    ),
    show(route) {
      query.show(route);
      search.value = query.get('q');
      order.selectedIndex = Math.max(
        0,
        orders.findIndex(({ sort }) => sort === query.get('sort')),
      );
    },
    async refresh(signal) {
      const answer = await ask<NodePage>('nodes', query.params(), signal);
      const chosen = query.get('class') || NO_FILTER;
      const all = answer.classes.reduce((sum, { nodes }) => sum + nodes, 0);
      const unusable = answer.classes.reduce((sum, { nodes, usable }) => sum + nodes - usable, 0);
      const classes = [
        { name: NO_FILTER, amount: all },
        ...answer.classes.map((each) => ({ name: each.class, amount: each.nodes })),
        ...(unusable > 0 || chosen === 'not-usable' ? [{ name: 'not-usable', amount: unusable }] : []),
      ];
      fill(
        filters,
        filterButtons('class', classes, chosen, (value) => change({ class: value })),
      );
      fill(list, answer.nodes.map(nodeItem), answer.nodes.length === 0 && h('li', {}, empty('No node matches.')));
      fill(
        foot,
        pager(answer, 'node', (page) => change({ page: page === 1 ? '' : String(page) })),
      );
    },
  };
}

function nodeItem(node: NodeTold): HTMLElement {
  const {
    name,
    class: side,
    zone,
    instanceType,
    state,
    cpuMillis,
    cpuRequested,
    memoryBytes,
    memoryRequested,
    podCount,
    pods,
    allocation,
  } = node;
  const places = [zone, instanceType].filter((text) => text !== undefined).join(', ');
  const cpuLabel = `${cores(cpuRequested)} of ${cores(cpuMillis)} requested`;
  const memoryLabel = `${bytes(memoryRequested)} of ${bytes(memoryBytes)} of memory requested`;
  const segments = pods.map(({ namespace, pod, cpuMillis: size }, index) => ({
    size,
    look: `shade-${index % SHADES}`,
    label: `${namespace}/${pod}: ${cores(size)}`,
  }));
  // Of the smallest pods the operator tells only the sum.
  const told = pods.reduce((sum, { cpuMillis: size }) => sum + size, 0);
  return h(
    'li',
    { class: 'card node' },
    h(
      'div',
      { class: 'node-head' },
      h('h2', {}, name),
      badge(side, side),
      state !== 'ready' && badge(state, stateTones[state]),
      h('span', { class: 'muted' }, places),
    ),
    h(
      'div',
      { class: 'with-bar' },
      bar(
        [
          ...segments,
          { size: cpuRequested - told, look: 'unknown', label: `other pods: ${cores(cpuRequested - told)}` },
        ],
        cpuMillis,
        cpuLabel,
        'thick',
      ),
      h('span', {}, `CPU ${percent(cpuRequested, cpuMillis)}`),
    ),
    h(
      'div',
      { class: 'with-bar' },
      bar([{ size: memoryRequested, look: 'memory', label: memoryLabel }], memoryBytes, memoryLabel),
      h('span', {}, `Memory ${percent(memoryRequested, memoryBytes)}`),
    ),
    h('p', { class: 'muted' }, `${cpuLabel}; ${memoryLabel}.`),
    allocation !== undefined && allocationLine(allocation),
    h(
      'details',
      { 'data-key': `pods of ${name}` },
      h('summary', {}, counted(podCount, 'pod')),
      podTable(name, pods, allocation !== undefined),
      podCount > pods.length &&
        h('p', { class: 'muted' }, `${count(podCount - pods.length)} smaller ones are not shown.`),
    ),
  );
}

function allocationLine({ pods, mode, shadowPrice, agent }: NonNullable<NodeTold['allocation']>): HTMLElement {
  return h(
    'p',
    {},
    badge(mode ?? 'no plan yet', mode === 'overloaded' ? 'bad' : mode === 'congested' ? 'warn' : 'good'),
    ` ${counted(pods, 'pod')} share CPU`,
    shadowPrice !== undefined && shadowPrice > 0 && `; shadow price ${shadowPrice.toFixed(2)} a core`,
    agent !== 'alive' && [' ', badge(`agent ${agent}`, 'bad')],
  );
}

function podTable(node: string, pods: readonly NodePodTold[], isShared: boolean): HTMLElement {
  const columns = [
    numbers('CPU request'),
    ...(isShared ? [numbers('Share'), numbers('Uses')] : []),
    numbers('Memory request'),
  ];
  const rows = pods.map(({ namespace, pod, cpuMillis, memoryBytes, shareMillis, usageMillis }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, `${namespace}/${pod}`),
      h('td', { class: 'number' }, cpu(cpuMillis)),
      isShared &&
        [shareMillis, usageMillis].map((value) => h('td', { class: 'number' }, value === undefined ? '-' : cpu(value))),
      h('td', { class: 'number' }, bytes(memoryBytes)),
    ),
  );
  return dataTable(`Pods of ${node}`, ['Pod', ...columns], rows);
}
