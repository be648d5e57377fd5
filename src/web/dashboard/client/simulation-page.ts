/** One report of a simulation: what it cost, what broke, what Stowage did; two of a comparison side by side. */
import type { SimulationAnswer, SimulationTold } from '../simulation-answer.ts';
import { ask } from './api.ts';
import { dataTable, numbers } from './data-table.ts';
import { type Child, fill, h } from './dom.ts';
import { count, counted } from './format.ts';
import type { Page } from './page.ts';
import { badge, bar, card, tile, timeAgo } from './parts.ts';
import { linkTo, type Route } from './route.ts';
import { differenceOf, figureOf, figureText, figureValue, verdict } from './simulation-part.ts';

export function simulationPage(): Page {
  let file = '';
  const heading = h('h1', { tabindex: '-1' });
  const content = h('div', { class: 'stack' });
  return {
    title: 'Simulation',
    element: h(
      'div',
      { class: 'page' },
      h('nav', { class: 'crumbs', 'aria-label': 'Breadcrumb' }, h('a', { href: linkTo('simulations') }, 'Simulations')),
      heading,
      content,
    ),
    show(route: Route) {
      file = route.subject;
      fill(heading, file);
    },
    async refresh(signal) {
      const answer = await ask<SimulationAnswer>('simulation', new URLSearchParams({ of: file }), signal);
      const { runs, writtenAt, at } = answer;
      fill(
        heading,
        runs.map(({ scenario }) => scenario).join(' and '),
        h('span', { class: 'kind' }, file, ', written ', timeAgo(writtenAt, at)),
      );
      const [first, second] = runs;
      fill(content, second !== undefined && first !== undefined && comparison(first, second), runs.map(runParts));
    },
  };
}

function runParts(run: SimulationTold, _index: number, all: readonly SimulationTold[]): Child[] {
  const { scenario, description, seed, hasPassed, checks, violations, pools, asserts, reasons, problems } = run;
  return [
    all.length > 1 && h('h2', {}, scenario),
    h('p', {}, verdict(hasPassed), ' ', description),
    h(
      'p',
      { class: 'muted' },
      `Seed ${seed}. `,
      violations.length === 0
        ? `Every invariant held in ${counted(checks, 'check')}.`
        : `${counted(figureValue(run.figures, 'violations') ?? violations.length, 'violation')} of invariants; run it again with --seed ${seed}.`,
    ),
    h('dl', { class: 'tiles' }, tilesOf(run)),
    violations.length > 0 && violationsCard(violations),
    problems.length > 0 &&
      card(
        'Not as written',
        h(
          'ul',
          { class: 'notes' },
          problems.map((problem) => h('li', {}, problem)),
        ),
      ),
    h('div', { class: 'columns' }, assertsCard(asserts), poolsCard(pools)),
    reasons.length > 0 &&
      card(
        'Events by reason',
        h(
          'p',
          { class: 'badges' },
          reasons.map((each) => badge(`${each.reason} ${count(each.count)}`, 'muted')),
        ),
      ),
    all.length === 1 && figuresCard(run),
  ];
}

/** Without those of which this version of a report says nothing. */
function tilesOf({ figures }: SimulationTold): HTMLElement[] {
  const text = (name: string): string => figureText(figures, name);
  const percents = (value: number): string => `${value.toFixed(1)} %`;
  const minutes = (value: number): string => `${value.toFixed(1)} min`;
  const of = (name: string, title: string, format: (value: number) => string, more: string, isHarm = false) => {
    const value = figureValue(figures, name);
    return value === undefined ? [] : [tile(title, format(value), more, isHarm && value > 0 ? 'warn' : undefined)];
  };
  return [
    of('savingPercent', 'Saved', percents, `cost ${text('cost')}, on demand ${text('costOnDemand')}`),
    of('spotPercent', 'On spot', percents, `of ${text('spotPossiblePercent')} % that were possible`),
    of('evictions', 'Evictions', figureOf, `changes explain up to ${text('evictionsBound')}`),
    of('interruptions', 'Nodes taken', figureOf, `and ${text('nodesLost')} lost without notice`),
    of('floorShortMinutes', 'Below the floor', minutes, 'of workloads, whatever the cause', true),
    of('downMinutes', 'Without a ready pod', minutes, 'of workloads', true),
  ].flat();
}

function violationsCard(violations: SimulationTold['violations']): HTMLElement {
  return card(
    'Invariants broken',
    dataTable(
      'Invariants broken',
      ['Invariant', 'When', 'What was seen'],
      violations.map(({ invariant, meaning, at, detail }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, badge(invariant, 'bad'), h('span', { class: 'kind' }, meaning)),
          h('td', { class: 'nowrap' }, new Date(at).toISOString()),
          h('td', {}, detail),
        ),
      ),
    ),
  );
}

function assertsCard(asserts: SimulationTold['asserts']): HTMLElement {
  return card(
    'Assertions',
    asserts.length === 0
      ? h('p', { class: 'empty' }, 'The scenario asserts nothing.')
      : dataTable(
          'Assertions',
          ['Result', 'Assertion', numbers('Seen')],
          asserts.map(({ ok, text, actual }) =>
            h(
              'tr',
              {},
              h('td', {}, ok ? badge('holds', 'good') : badge('fails', 'bad')),
              h('th', { scope: 'row' }, h('code', {}, text)),
              h('td', { class: 'number' }, figureOf(actual)),
            ),
          ),
        ),
  );
}

function poolsCard(pools: SimulationTold['pools']): HTMLElement {
  const most = Math.max(...pools.map(({ costOnDemand, cost }) => Math.max(costOnDemand, cost)));
  return card(
    'Pools',
    dataTable(
      'Pools',
      ['Pool', numbers('Node hours'), 'Cost'],
      pools.map(({ name, class: side, instanceType, nodeHours, cost, costOnDemand }) => {
        const label = `${cost.toFixed(2)}, on demand ${costOnDemand.toFixed(2)}`;
        return h(
          'tr',
          {},
          h('th', { scope: 'row' }, name, h('span', { class: 'kind' }, instanceType)),
          h('td', { class: 'number' }, figureOf(nodeHours)),
          h(
            'td',
            {},
            bar([{ size: cost, look: side === 'spot' ? 'spot' : 'on-demand', label }], most, label),
            h('span', { class: 'muted' }, label),
          ),
        );
      }),
    ),
  );
}

function figuresCard({ figures }: SimulationTold): HTMLElement {
  return card(
    'All figures',
    dataTable(
      'All figures',
      ['Figure', numbers('Value'), 'Meaning'],
      figures.map(({ name, value, meaning }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, name),
          h('td', { class: 'number' }, figureOf(value)),
          h('td', {}, meaning ?? ''),
        ),
      ),
    ),
  );
}

function comparison(left: SimulationTold, right: SimulationTold): HTMLElement {
  const rows = left.figures.map(({ name, value, meaning }) => {
    const other = figureValue(right.figures, name);
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, name),
      h('td', { class: 'number' }, figureOf(value)),
      h('td', { class: 'number' }, other === undefined ? '-' : figureOf(other)),
      h('td', { class: 'number' }, other === undefined ? '' : differenceOf(value, other)),
      h('td', {}, meaning ?? ''),
    );
  });
  const columns = ['Figure', numbers('First'), numbers('Second'), numbers('Difference'), 'Meaning'];
  return card('Side by side', dataTable('Figures side by side', columns, rows));
}
