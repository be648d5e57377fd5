/** A simulation's report for people. */
import { type Figure, figureMeanings, isFigure } from '../../simulator/figures.ts';
import { invariants } from '../../simulator/invariant-names.ts';
import type { SimulationReport } from '../../simulator/report.ts';
import { counted } from '../plural.ts';
import type { Style } from '../style.ts';
import { renderTable } from '../table.ts';

const allFigures = Object.keys(figureMeanings).filter(isFigure);

export function renderSimulation(report: SimulationReport, style: Style, isWide: boolean): string[] {
  const { scenario, seed, figures, pools, violations, reasons, checks } = report;
  const counts = Object.entries(reasons);
  return [
    `${style('heading', scenario)}: ${formatFigure(figures.hours)} hours, seed ${seed}`,
    '',
    ...renderTable(
      [
        { header: 'FIGURE', value: (figure: Figure) => figure },
        { header: 'VALUE', value: (figure) => formatFigure(figures[figure]), align: 'right' },
        { header: 'MEANING', value: (figure) => figureMeanings[figure] },
      ],
      allFigures,
      { style },
    ),
    '',
    ...renderTable(
      [
        { header: 'POOL', value: ({ name }) => name },
        { header: 'TYPE', value: ({ instanceType }) => instanceType },
        { header: 'NODE HOURS', value: ({ nodeHours }) => formatFigure(nodeHours), align: 'right' },
        { header: 'COST', value: ({ cost }) => cost.toFixed(2), align: 'right' },
        { header: 'ON DEMAND', value: ({ costOnDemand }) => costOnDemand.toFixed(2), align: 'right' },
      ],
      pools,
      { style },
    ),
    ...(counts.length === 0 ? [] : ['', `Events: ${counts.map(([reason, count]) => `${reason} ${count}`).join(', ')}`]),
    ...findings(report, style),
    ...(isWide
      ? section(
          'Checks',
          Object.entries(checks).map(([name, count]) => `${name}  ${count}`),
        )
      : []),
    '',
    violations.length === 0
      ? `Every invariant held in ${counted(
          Object.values(checks).reduce((sum, each) => sum + each, 0),
          'check',
        )}.`
      : `Run it again with --seed ${seed}.`,
  ];
}

/** Two reports side by side, with the difference of each figure, and what each was found to be. */
export function renderComparison(left: SimulationReport, right: SimulationReport, style: Style): string[] {
  const difference = (figure: Figure): string => {
    const by = right.figures[figure] - left.figures[figure];
    return by === 0 ? '' : `${by > 0 ? '+' : ''}${formatFigure(by)}`;
  };
  // Two copies of a scenario may have one name.
  const [a, b] =
    left.scenario === right.scenario ? [`${left.scenario} A`, `${right.scenario} B`] : [left.scenario, right.scenario];
  const table = renderTable(
    [
      { header: 'FIGURE', value: (figure: Figure) => figure },
      { header: a.toUpperCase(), value: (figure) => formatFigure(left.figures[figure]), align: 'right' },
      { header: b.toUpperCase(), value: (figure) => formatFigure(right.figures[figure]), align: 'right' },
      { header: 'DIFFERENCE', value: difference, align: 'right' },
      { header: 'MEANING', value: (figure) => figureMeanings[figure] },
    ],
    allFigures,
    { style },
  );
  return [...table, ...findings(left, style, `, ${a}`), ...findings(right, style, `, ${b}`)];
}

/** What decides whether the run has passed, and what it was not. @param of which run, behind each title */
function findings({ figures, asserts, violations, problems }: SimulationReport, style: Style, of = ''): string[] {
  return [
    ...section(
      `Assertions${of}`,
      asserts.map(({ ok, text, actual, limit }) =>
        ok
          ? `${style('good', 'holds')}  ${text} (${formatFigure(actual)})`
          : `${style('bad', 'fails')}  ${text}: ${formatFigure(actual)}, and ${formatFigure(limit)} was the limit`,
      ),
    ),
    ...section(`Invariants broken${of}`, [
      ...violations.map(
        ({ invariant, at, detail }) =>
          `${style('bad', invariant)}  ${new Date(at).toISOString()}  ${detail} (${invariants[invariant]})`,
      ),
      ...(figures.violations > violations.length ? [`and ${figures.violations - violations.length} more`] : []),
    ]),
    ...section(
      `Not as written${of}`,
      problems.map((problem) => style('warning', problem)),
    ),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

/** Whole as it is, else to two places. */
export function formatFigure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
