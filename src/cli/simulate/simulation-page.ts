/** Reports of simulations as one HTML page that needs nothing else: no script, no other file, nothing from the network. */
import { createHash } from 'node:crypto';
import { escapeMarkup } from '../../lib/escape-markup.ts';
import { type Figure, figureMeanings, isFigure } from '../../simulator/figures.ts';
import { invariants } from '../../simulator/invariant-names.ts';
import type { SimulationReport } from '../../simulator/report.ts';
import { PAGE_STYLE } from './page-style.ts';
import { formatFigure } from './render-simulation.ts';
import { plotSections } from './run-plots.ts';

/** One of the page's one or two runs. */
export interface PageRun {
  /** As given on the command line: a file, or a name of the library. */
  readonly source: string;
  readonly report: SimulationReport;
}

const allFigures = Object.keys(figureMeanings).filter(isFigure);
const tiles: readonly (readonly [Figure, string])[] = [
  ['cost', 'Cost'],
  ['savingPercent', 'Saved, percent'],
  ['spotPercent', 'On spot, percent'],
  ['evictions', 'Evictions'],
  ['waitingMinutes', 'Waiting, pod-minutes'],
  ['floorViolations', 'Floor violations'],
];

const e = escapeMarkup;

/** @param runs one, or two that are compared. Texts in them may be anything. */
export function simulationPage(runs: readonly PageRun[]): string {
  const names = namesOf(runs);
  const named = runs.map((run, index) => ({ ...run, name: names[index] ?? '' }));
  const title = `Simulation: ${names.join(' and ')}`;
  const plotted = named.flatMap(({ name, report: { series } }) => (series === undefined ? [] : [{ name, series }]));
  const plots = plotted.length === 0 ? [] : plotSections(plotted);
  const each = (render: (run: NamedRun) => string): string => sideBySide(named.map(render));
  const styleHash = createHash('sha256').update(PAGE_STYLE).digest('base64');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${e(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header><h1>${e(title)}</h1></header>
<main>
${each(summary)}
${plots.map(({ title: heading, figures }) => `<h2>${e(heading)}</h2>\n${sideBySide(figures)}`).join('\n')}
<h2>Assertions</h2>
${each(assertions)}
<h2>Pools</h2>
${each(pools)}
<h2>All figures</h2>
<div class="runs"><section class="card">${figures(named)}</section></div>
<h2>Run it again</h2>
${each(again)}
</main>
<footer><p>The same scenario and seed give the same figures. Times count from the beginning of the scenario.</p></footer>
</body>
</html>
`;
}

interface NamedRun extends PageRun {
  readonly name: string;
}

/** Two copies of a scenario may have one name. */
function namesOf(runs: readonly PageRun[]): string[] {
  const names = runs.map(({ report }) => report.scenario);
  return new Set(names).size === names.length ? names : names.map((name, index) => `${name} ${'AB'[index] ?? index}`);
}

function sideBySide(parts: readonly string[]): string {
  return `<div class="runs${parts.length > 1 ? ' two' : ''}">\n${parts.join('\n')}\n</div>`;
}

function summary({ name, report }: NamedRun): string {
  const { description, seed, figures: values, violations, asserts, problems } = report;
  const hasPassed = violations.length === 0 && asserts.every(({ ok }) => ok);
  return `<section class="card"><h2>${e(name)} ${badge(hasPassed, 'passed', 'failed')}</h2>
<p>${e(description)}</p>
<p class="muted">${formatFigure(values.hours)} hours, seed ${seed}</p>
<dl class="tiles">${tiles.map(([figure, label]) => `<div><dt>${label}</dt><dd>${formatFigure(values[figure])}</dd></div>`).join('')}</dl>
${problems.length === 0 ? '' : `<h3>Not as written</h3><ul>${problems.map((problem) => `<li>${e(problem)}</li>`).join('')}</ul>`}</section>`;
}

function assertions({ name, report: { figures, asserts, violations, checks } }: NamedRun): string {
  const rows = asserts.map(
    ({ ok, text, actual, limit }) =>
      `<tr><td>${badge(ok, 'holds', 'fails')}</td><th scope="row"><code>${e(text)}</code></th><td class="number">${formatFigure(actual)}</td><td class="number">${formatFigure(limit)}</td></tr>`,
  );
  const broken = violations.map(
    ({ invariant, at, detail }) =>
      `<tr><td>${badge(false, '', 'broken')}</td><th scope="row">${e(invariants[invariant])}</th><td>${new Date(at).toISOString()}</td><td>${e(detail)}</td></tr>`,
  );
  const unlisted = figures.violations - violations.length;
  const more = broken.length > 0 && unlisted > 0 ? `<p>And ${unlisted} more.</p>` : '';
  const count = Object.values(checks).reduce((sum, each) => sum + each, 0);
  return `<section class="card"><h3>${e(name)}</h3>
${rows.length === 0 ? '<p>The scenario asserts nothing.</p>' : table(`Assertions of ${name}`, ['Result', 'Assertion', '#Seen', '#Limit'], rows)}
${broken.length === 0 ? `<p>Every invariant held in ${count} checks.</p>` : table(`Invariants broken in ${name}`, ['Result', 'Invariant', 'At', 'Seen'], broken)}${more}</section>`;
}

function pools({ name, report }: NamedRun): string {
  const rows = report.pools.map(
    (pool) =>
      `<tr><th scope="row">${e(pool.name)}</th><td>${e(pool.class)}</td><td>${e(pool.instanceType)}</td><td class="number">${formatFigure(pool.nodeHours)}</td><td class="number">${pool.cost.toFixed(2)}</td><td class="number">${pool.costOnDemand.toFixed(2)}</td></tr>`,
  );
  return `<section class="card"><h3>${e(name)}</h3>${table(`Pools of ${name}`, ['Pool', 'Side', 'Type', '#Node hours', '#Cost', '#On on-demand'], rows)}</section>`;
}

function figures(runs: readonly NamedRun[]): string {
  const [left, right] = runs.map(({ report }) => report.figures);
  const rows = allFigures.map((figure) => {
    const values = runs.map(({ report }) => `<td class="number">${formatFigure(report.figures[figure])}</td>`).join('');
    const by = left === undefined || right === undefined ? 0 : right[figure] - left[figure];
    const difference =
      right === undefined ? '' : `<td class="number">${by === 0 ? '' : `${by > 0 ? '+' : ''}${formatFigure(by)}`}</td>`;
    return `<tr><th scope="row">${figure}</th>${values}${difference}<td>${e(figureMeanings[figure])}</td></tr>`;
  });
  const heads = right === undefined ? ['#Value'] : [...runs.map(({ name }) => `#${name}`), '#Difference'];
  return table('All figures', ['Figure', ...heads, 'Meaning'], rows);
}

function again({ name, source, report }: NamedRun): string {
  return `<section class="card"><h3>${e(name)}</h3><pre><code>stowage simulate ${e(shellWord(source))} --seed ${report.seed}</code></pre></section>`;
}

/** @param heads `#` before one of numbers. */
function table(label: string, heads: readonly string[], rows: readonly string[]): string {
  const cells = heads.map((head) =>
    head.startsWith('#')
      ? `<th scope="col" class="number">${e(head.slice(1))}</th>`
      : `<th scope="col">${e(head)}</th>`,
  );
  return `<div class="wide" role="region" aria-label="${e(label)}" tabindex="0"><table><thead><tr>${cells.join('')}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table></div>`;
}

function badge(isGood: boolean, good: string, bad: string): string {
  return isGood ? `<span class="badge good">${good}</span>` : `<span class="badge bad">${bad}</span>`;
}

function shellWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
