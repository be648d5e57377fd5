/** The overview: the fleet in figures, what blocks, and the decisions as they are made. */
import type { DecisionTold, NodeClassTold, OverviewAnswer } from '../answers.ts';
import { ask } from './api.ts';
import { dataTable, numbers } from './data-table.ts';
import { fill, h } from './dom.ts';
import { bytes, cores, count, counted, dollars, monthly, percent } from './format.ts';
import { onceAFrame } from './once-a-frame.ts';
import type { Page } from './page.ts';
import { badge, bar, blockBox, card, decisionItem, empty, scanNote, tile, workloadLink } from './parts.ts';
import { linkTo } from './route.ts';

/** Kept on the page: those it was told of at once, and those that came since. */
const MAX_DECISIONS = 100;

export function overviewPage(): Page {
  const tiles = h('dl', { class: 'tiles' });
  const mix = h('div');
  const nodes = h('div');
  const engines = h('div', { class: 'columns three' });
  const feed = h('ol', { class: 'decisions', 'aria-label': 'Decisions, newest first' });
  const feedNote = h('div');
  let decisions: DecisionTold[] = [];
  let now = 0;
  const drawFeed = (): void =>
    fill(
      feed,
      decisions.map((decision) => decisionItem(decision, now)),
    );
  // When a window closes, thousands of workloads are held back in one instant.
  const drawFeedSoon = onceAFrame(drawFeed, (callback) => window.requestAnimationFrame(callback));
  return {
    title: 'Overview',
    element: h(
      'div',
      { class: 'page' },
      h('h1', { tabindex: '-1' }, 'Overview'),
      tiles,
      h('div', { class: 'columns' }, card('Where replicas run', mix), card('Nodes', nodes)),
      engines,
      card('Decisions', feedNote, feed),
    ),
    show() {},
    async refresh(signal) {
      const answer = await ask<OverviewAnswer>('overview', undefined, signal);
      now = answer.at;
      decisions = [...answer.decisions];
      fill(tiles, tilesOf(answer));
      fill(mix, mixOf(answer), scanNote(answer));
      fill(nodes, nodesOf(answer.nodes));
      fill(engines, card('What waits, and for what', blocksOf(answer)), sizingCard(answer), allocationCard(answer));
      fill(feedNote, feedNoteOf(answer));
      drawFeed();
    },
    onDecision(decision) {
      // The operator's clock, not the browser's: between two refreshes decisions are all that tells it.
      now = Math.max(now, decision.at);
      decisions = [decision, ...decisions].slice(0, MAX_DECISIONS);
      fill(feedNote);
      drawFeedSoon();
    },
  };
}

function tilesOf({ counts, driftedReplicas, cost, sizing, actual }: OverviewAnswer): HTMLElement[] {
  const running = actual.spot + actual.onDemand + actual.unknown;
  const saved = cost === undefined ? 0 : cost.allOnDemand - cost.actual;
  return [
    tile(
      'Workloads placed',
      count(counts.managed),
      `of ${count(counts.all)}${counts.invalid > 0 ? `, ${count(counts.invalid)} with invalid settings` : ''}`,
      counts.invalid > 0 ? 'bad' : undefined,
    ),
    tile('On spot', percent(actual.spot, running), `${count(actual.spot)} of ${counted(running, 'replica')}`),
    tile(
      'To move',
      count(driftedReplicas),
      driftedReplicas === 0 ? 'every replica is on its side' : `in ${counted(counts.drifted, 'workload')}`,
      driftedReplicas > 0 ? 'warn' : 'good',
    ),
    tile(
      'Waiting',
      count(counts.blocked),
      counts.blocked === 0
        ? 'nothing is held back'
        : `${counts.blocked === 1 ? 'workload whose move is' : 'workloads whose moves are'} held back`,
      counts.blocked > 0 ? 'warn' : 'good',
    ),
    ...(cost === undefined
      ? []
      : [
          tile(
            'Cost',
            `${dollars(cost.actual)}/h`,
            `${saved >= 0 ? 'saves' : 'costs'} ${dollars(Math.abs(saved))}/h (${percent(Math.abs(saved), cost.allOnDemand)}), ${monthly(Math.abs(saved))} a month`,
            saved >= 0 ? 'good' : 'warn',
          ),
        ]),
    ...(sizing === undefined
      ? []
      : [tile('Advice frees', cores(sizing.saving.cpuMillis), `and ${bytes(sizing.saving.memoryBytes)} of memory`)]),
  ];
}

function mixOf({ actual, target, cost }: OverviewAnswer): HTMLElement {
  const { spot, onDemand, unknown, pending } = actual;
  const running = spot + onDemand + unknown;
  if (running === 0 && target.spot + target.onDemand === 0)
    return empty('No workload is placed yet. Label one, and its namespace, spotalis.io/enabled=true.');
  const whole = Math.max(running, target.spot + target.onDemand);
  const segments = (sides: { readonly spot: number; readonly onDemand: number }, more = 0) => [
    { size: sides.spot, look: 'spot', label: `${sides.spot} on spot` },
    { size: sides.onDemand, look: 'on-demand', label: `${sides.onDemand} on on-demand` },
    { size: more, look: 'unknown', label: `${more} on an unknown side` },
  ];
  return h(
    'div',
    { class: 'mix' },
    h(
      'div',
      { class: 'mix-row' },
      h('span', {}, 'Now'),
      bar(segments(actual, unknown), whole, `Now ${spot} on spot, ${onDemand} on on-demand`, 'thick'),
    ),
    h(
      'div',
      { class: 'mix-row' },
      h('span', {}, 'Wanted'),
      bar(segments(target), whole, `Wanted ${target.spot} on spot, ${target.onDemand} on on-demand`, 'thick'),
    ),
    h(
      'ul',
      { class: 'legend' },
      h('li', {}, h('span', { class: 'dot spot' }), `spot: ${count(spot)} of ${count(target.spot)} wanted`),
      h(
        'li',
        {},
        h('span', { class: 'dot on-demand' }),
        `on-demand: ${count(onDemand)} of ${count(target.onDemand)} wanted`,
      ),
      unknown > 0 && h('li', {}, h('span', { class: 'dot unknown' }), `unknown side: ${count(unknown)}`),
      pending > 0 && h('li', {}, h('span', { class: 'dot' }), `without a node: ${count(pending)}`),
    ),
    cost !== undefined &&
      h(
        'p',
        { class: 'muted' },
        `All on demand the same pods cost ${dollars(cost.allOnDemand)} an hour.`,
        cost.floors >= 0.0001 && ` The floors cost ${dollars(cost.floors)} of it.`,
        cost.pricedPods < cost.pods &&
          ` Prices of ${count(cost.pods - cost.pricedPods)} of ${counted(cost.pods, 'pod')} are not known.`,
      ),
  );
}

function nodesOf(classes: readonly NodeClassTold[]): HTMLElement {
  if (classes.length === 0) return empty('No node can be read.');
  return dataTable(
    'Nodes by class',
    ['Class', numbers('Nodes'), numbers('Pods'), 'CPU', 'Memory'],
    classes.map(({ class: side, nodes, usable, pods, cpuRequested, cpuMillis, memoryRequested, memoryBytes }) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, badge(side, side)),
        h('td', { class: 'number' }, usable === nodes ? count(nodes) : `${count(usable)} of ${count(nodes)}`),
        h('td', { class: 'number' }, count(pods)),
        h('td', {}, shareBar(cpuRequested, cpuMillis, side, cores)),
        h('td', {}, shareBar(memoryRequested, memoryBytes, side, bytes)),
      ),
    ),
  );
}

function shareBar(part: number, whole: number, look: string, format: (amount: number) => string): HTMLElement {
  const label = `${format(part)} of ${format(whole)}`;
  return h(
    'span',
    { class: 'with-bar' },
    bar([{ size: part, look, label }], whole, label),
    h('span', { class: 'muted', title: label }, percent(part, whole)),
  );
}

function blocksOf({ blocks, storm }: OverviewAnswer): HTMLElement[] {
  if (blocks.length === 0) return [storm === undefined ? empty('Nothing is held back.') : blockBox(storm)];
  return [
    ...(storm === undefined ? [] : [blockBox(storm)]),
    ...blocks.map(({ count: times, example, ...block }) =>
      blockBox(block, h('p', {}, `${counted(times, 'workload')}, such as `, workloadLink(example))),
    ),
    h(
      'p',
      {},
      h('a', { href: linkTo('workloads', '', { state: 'blocked' }), 'data-key': 'all blocked' }, 'Show all that wait'),
    ),
  ];
}

function sizingCard({ sizing }: OverviewAnswer): HTMLElement | undefined {
  if (sizing === undefined) return undefined;
  const { policies, workloads, results, saving, unread } = sizing;
  return card(
    'Rightsizing',
    policies === 0
      ? empty('No OptimizationPolicy yet.')
      : [
          h(
            'p',
            {},
            `${policies === 1 ? '1 policy sizes' : `${count(policies)} policies size`} ${counted(workloads, 'workload')}. Following all advice frees ${cores(saving.cpuMillis)} and ${bytes(saving.memoryBytes)} of memory.`,
          ),
          unread !== undefined &&
            h(
              'p',
              { class: 'notice warn' },
              `Usage of ${counted(unread.workloads, 'workload')} cannot be read, and nothing is changed there: ${unread.why}`,
            ),
          badges(results, { Applied: 'good', Recommended: 'info', Pending: 'warn', Error: 'bad' }),
          h(
            'p',
            {},
            h(
              'a',
              { href: linkTo('workloads', '', { sort: 'saving', order: 'desc' }), 'data-key': 'savings' },
              'Where most can be saved',
            ),
          ),
        ],
  );
}

function allocationCard({ allocation }: OverviewAnswer): HTMLElement | undefined {
  if (allocation === undefined) return undefined;
  const { pods, nodes, congested, overloaded, phases } = allocation;
  return card(
    'Allocation',
    pods === 0
      ? empty('No pod takes part yet.')
      : [
          h(
            'p',
            {},
            `${counted(pods, 'pod')} on ${counted(nodes, 'node')} share CPU. ${scarcity(congested, overloaded)}`,
          ),
          badges(phases, { Applied: 'good', Pending: 'warn', Failed: 'bad' }),
          h(
            'p',
            {},
            h(
              'a',
              { href: linkTo('nodes', '', { sort: 'cpu', order: 'desc' }), 'data-key': 'shares' },
              'How nodes are shared',
            ),
          ),
        ],
  );
}

function scarcity(congested: number, overloaded: number): string {
  if (congested + overloaded === 0) return 'Everybody has what they can use.';
  return [
    ...(congested > 0 ? [`On ${counted(congested, 'node')} there is less than pods could use.`] : []),
    ...(overloaded > 0 ? [`On ${counted(overloaded, 'node')} there is less than they are owed.`] : []),
  ].join(' ');
}

function badges(
  amounts: Readonly<Record<string, number>>,
  tones: Readonly<Record<string, 'good' | 'info' | 'warn' | 'bad'>>,
): HTMLElement {
  return h(
    'p',
    { class: 'badges' },
    Object.entries(amounts).map(([name, amount]) => badge(`${name} ${count(amount)}`, tones[name] ?? 'muted')),
  );
}

function feedNoteOf({ operator, decisions }: OverviewAnswer): HTMLElement | undefined {
  if (!operator.isLeader) {
    return h(
      'p',
      { class: 'notice' },
      'Only the leader remembers decisions',
      operator.leader !== undefined && [': ', h('code', {}, operator.leader)],
      '.',
    );
  }
  return decisions.length === 0 ? empty('Nothing has been decided since this replica leads.') : undefined;
}
