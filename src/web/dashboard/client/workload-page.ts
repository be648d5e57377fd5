/**
 * One workload: where its replicas are and why, what size they should have, what share of CPU they get, and what was
 * done.
 */
import type { DecisionTold } from '../answers.ts';
import type { WorkloadAnswer } from '../workload-answer.ts';
import { allocationPart } from './allocation-part.ts';
import { ask } from './api.ts';
import { dataTable, numbers } from './data-table.ts';
import { type Child, fill, h } from './dom.ts';
import { count } from './format.ts';
import type { Host, Page } from './page.ts';
import { badge, blockBox, card, empty, kindBadge, mixBar, timeAgo } from './parts.ts';
import { linkTo, type Route } from './route.ts';
import { sharesPart } from './shares-part.ts';
import { sizingPart } from './sizing-part.ts';
import { slotPicture, slotTable } from './slots-part.ts';

type Placement = NonNullable<WorkloadAnswer['placement']>;

export function workloadPage(host: Host): Page {
  let subject = '';
  const heading = h('h1', { tabindex: '-1' });
  const content = h('div', { class: 'stack' });
  return {
    title: 'Workload',
    element: h(
      'div',
      { class: 'page' },
      h('nav', { class: 'crumbs', 'aria-label': 'Breadcrumb' }, h('a', { href: linkTo('workloads') }, 'Workloads')),
      heading,
      content,
    ),
    show(route: Route) {
      ({ subject } = route);
      const [kind = '', namespace = '', name = ''] = subject.split('/');
      fill(heading, name, h('span', { class: 'kind' }, `${kind} in ${namespace}`));
    },
    async refresh(signal) {
      const answer = await ask<WorkloadAnswer>('workload', new URLSearchParams({ of: subject }), signal);
      fill(content, partsOf(answer));
    },
    // What the decision changed is more than it says: all is asked for anew.
    onDecision(decision: DecisionTold) {
      if (decision.workload === subject) host.news();
    },
  };
}

function partsOf(answer: WorkloadAnswer): Child[] {
  const { placement, sizing, allocation, shares, at } = answer;
  return [
    placement === undefined
      ? h('p', { class: 'notice' }, `Placement does not look after workloads of kind ${answer.kind}.`)
      : placementParts(placement, at),
    sizing !== undefined && sizingPart(sizing, at),
    allocation.length > 0 && allocationPart(allocation),
    shares !== undefined && sharesPart(shares, at),
    journalPart(answer),
  ];
}

function placementParts(placement: Placement, now: number): Child[] {
  const {
    headline,
    next,
    blocks,
    notes,
    policy,
    costLines,
    slots,
    actual,
    target,
    floor,
    lastDisruption,
    policyState,
  } = placement;
  // Why a workload is left alone is said once.
  const ownNotes = notes.filter((note) => !policy.includes(note));
  return [
    h('p', { class: 'headline' }, `${headline[0]?.toUpperCase() ?? ''}${headline.slice(1)}.`),
    blocks.map((block) => blockBox(block)),
    h(
      'div',
      { class: 'columns' },
      (target !== undefined || ownNotes.length > 0) &&
        card(
          'Placement',
          target !== undefined && [
            mixBar(actual),
            h(
              'dl',
              { class: 'facts' },
              fact(
                'Now',
                `${count(actual.spot)} on spot, ${count(actual.onDemand)} on on-demand${actual.unknown > 0 ? `, ${count(actual.unknown)} unknown` : ''}`,
              ),
              fact(
                'Wanted',
                `${count(target.spot)} on spot, ${count(target.onDemand)} on on-demand, at least ${count(floor)} there`,
              ),
              fact('Next', next),
              fact(
                'Last move',
                lastDisruption === undefined ? 'none since this replica leads' : timeAgo(lastDisruption, now),
              ),
            ),
          ],
          ownNotes.length > 0 &&
            h(
              'ul',
              { class: 'notes' },
              ownNotes.map((note) => h('li', {}, note)),
            ),
        ),
      card(
        policyState === 'managed' ? 'Policy' : 'Why it is left alone',
        h(
          'ul',
          { class: 'notes' },
          policy.map((line) => h('li', {}, line)),
        ),
        costLines.length > 0 && [
          h('h3', {}, 'Cost'),
          h(
            'ul',
            { class: 'notes' },
            costLines.map((line) => h('li', {}, line)),
          ),
        ],
      ),
    ),
    card('Replicas', slots.length === 0 ? empty('There is no pod.') : [slotPicture(slots), slotTable(slots)]),
  ];
}

const fact = (name: string, value: Child): Child => [h('dt', {}, name), h('dd', {}, value)];

function journalPart({ journal, isLeader, at }: WorkloadAnswer): HTMLElement {
  if (journal.length === 0) {
    return card(
      'Journal',
      empty(
        isLeader
          ? 'Nothing has been decided about it since this replica leads.'
          : 'Only the leader remembers what was decided.',
      ),
    );
  }
  const rows = journal.map(({ at: when, kind, reason, message, count: times }) =>
    h(
      'tr',
      {},
      h('td', { class: 'nowrap' }, timeAgo(when, at)),
      h('td', {}, kindBadge(kind)),
      h('td', {}, badge(reason, 'muted')),
      h('td', {}, message),
      h('td', { class: 'number' }, count(times)),
    ),
  );
  return card('Journal', dataTable('Journal', ['When', 'What', 'Reason', 'Message', numbers('Times')], rows));
}
