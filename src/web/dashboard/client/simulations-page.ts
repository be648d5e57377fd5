/** Reports of simulations: which there are, and how each ended. */
import type { ReportFileTold, SimulationSummary, SimulationsAnswer } from '../simulation-answer.ts';
import { ask } from './api.ts';
import { dataTable, numbers } from './data-table.ts';
import { type Child, fill, h } from './dom.ts';
import { counted } from './format.ts';
import type { Page } from './page.ts';
import { card, timeAgo } from './parts.ts';
import { linkTo } from './route.ts';
import { figureText, figureValue, verdict } from './simulation-part.ts';

export function simulationsPage(): Page {
  const content = h('div', { class: 'stack' });
  return {
    title: 'Simulations',
    element: h('div', { class: 'page' }, h('h1', { tabindex: '-1' }, 'Simulations'), content),
    show() {},
    async refresh(signal) {
      fill(content, partsOf(await ask<SimulationsAnswer>('simulations', undefined, signal)));
    },
  };
}

function partsOf({ folder, problem, files, omitted, at }: SimulationsAnswer): Child[] {
  if (folder === undefined) {
    return [
      card(
        'No folder of reports is set',
        h('p', {}, 'A simulation plays a scenario on a cluster in memory, days in seconds, with this operator on it.'),
        howTo('DIRECTORY'),
        h('p', {}, 'Then set ', h('code', {}, 'web.reports'), ' to that directory.'),
      ),
    ];
  }
  if (problem !== undefined) return [h('p', { class: 'notice bad' }, h('code', {}, folder), ': ', problem)];
  if (files.length === 0) return [card('No report yet', howTo(folder))];
  const unreadable = files.filter((file) => file.problem !== undefined);
  return [
    unreadable.map((file) => h('p', { class: 'notice bad' }, h('code', {}, file.file), ': ', file.problem)),
    unreadable.length < files.length && table(files, at),
    omitted > 0 && h('p', { class: 'muted' }, `${counted(omitted, 'older report')} in the folder are not listed.`),
    h('p', { class: 'muted' }, 'Reports are read from ', h('code', {}, folder), '.'),
  ];
}

function howTo(folder: string): HTMLElement {
  return h('p', {}, h('code', {}, `stowage simulate spot-storm -o json > ${folder}/spot-storm.json`));
}

function table(files: readonly ReportFileTold[], now: number): HTMLElement {
  const columns = [
    'Report',
    'Result',
    'Scenario',
    numbers('Seed'),
    numbers('Hours'),
    numbers('Saved'),
    numbers('On spot'),
    numbers('Evictions'),
    'Written',
  ];
  const rows = files.flatMap(({ file, writtenAt, runs }) =>
    runs.map((run, index) => row(file, run, index === 0, timeAgo(writtenAt, now))),
  );
  return h('section', { class: 'card rows' }, dataTable('Reports of simulations', columns, rows));
}

function row(file: string, run: SimulationSummary, isFirst: boolean, written: Child): HTMLElement {
  const { scenario, description, seed, hasPassed, figures } = run;
  const percents = (name: string): string => {
    const value = figureValue(figures, name);
    return value === undefined ? '-' : `${value.toFixed(1)} %`;
  };
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      isFirst && h('a', { href: linkTo('simulation', file), 'data-key': `report ${file}` }, file),
    ),
    h('td', {}, verdict(hasPassed)),
    h('td', {}, scenario, h('span', { class: 'kind' }, description)),
    h('td', { class: 'number' }, seed),
    h('td', { class: 'number' }, figureText(figures, 'hours')),
    h('td', { class: 'number' }, percents('savingPercent')),
    h('td', { class: 'number' }, percents('spotPercent')),
    h('td', { class: 'number' }, figureText(figures, 'evictions')),
    h('td', { class: 'nowrap' }, isFirst && written),
  );
}
