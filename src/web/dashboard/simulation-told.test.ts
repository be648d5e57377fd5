import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { figureMeanings } from '../../simulator/figures.ts';
import type { SimulationTold } from './simulation-answer.ts';
import { type ReadReport, readReport } from './simulation-told.ts';
import { comparisonText, reportObject, reportText } from './testing/reports.ts';

function runsOf(report: ReadReport): readonly SimulationTold[] {
  if (!report.ok) throw new Error(report.problem);
  return report.runs;
}

describe('reading a report', () => {
  test('tells its figures with what they mean, in the order of the command', () => {
    const [run] = runsOf(readReport(reportText()));
    expect(run).toMatchObject({ scenario: 'storm', seed: 7, hasPassed: true, checks: 30, problems: [] });
    expect(run?.figures.map(({ name }) => name)).toEqual(Object.keys(figureMeanings));
    expect(run?.figures[0]).toEqual({ name: 'hours', value: 6, meaning: 'simulated time, hours' });
    expect(run?.reasons).toEqual([
      { reason: 'ReturnedToSpot', count: 3 },
      { reason: 'StormCalm', count: 1 },
    ]);
  });

  test('takes both of a comparison', () => {
    expect(runsOf(readReport(comparisonText())).map(({ scenario }) => scenario)).toEqual(['before', 'after']);
  });

  test.each([
    ['an assertion that fails', { asserts: [{ text: 'evictions == 0', actual: 1, limit: 0, ok: false }] }],
    ['an invariant that broke', { violations: [{ invariant: 'floor', at: 5, detail: 'two short' }] }],
  ])('%s is no success', (_name, fields) => {
    expect(runsOf(readReport(reportText(fields)))[0]?.hasPassed).toBe(false);
  });

  test('of another version: figures and invariants that are not known are shown without their meaning', () => {
    const fields = {
      figures: { ...reportObject.figures, rainfall: 4 },
      violations: [
        { invariant: 'floor', at: 5, detail: 'two short' },
        { invariant: 'weather', at: 6, detail: 'it rained' },
      ],
    };
    const [run] = runsOf(readReport(reportText(fields)));
    expect(run?.figures.at(-1)).toEqual({ name: 'rainfall', value: 4, meaning: undefined });
    expect(run?.violations.map(({ meaning }) => meaning?.slice(0, 22))).toEqual(['no eviction by Stowage', undefined]);
  });

  test.each([
    ['no JSON', '{', 'it is no JSON'],
    ['nothing', '', 'it is no JSON'],
    ['a list', '[]', 'it is neither Simulation nor SimulationComparison'],
    ['another document', '{"kind":"Plan"}', 'kind is neither Simulation nor SimulationComparison'],
    ['a figure in words', reportText({ figures: { cost: 'much' } }), 'figures.cost is not a number'],
    [
      'a time that no calendar has',
      reportText({ violations: [{ invariant: 'floor', at: 1e300, detail: 'two short' }] }),
      'violations.0.at is no instant',
    ],
    ['no figures', reportText({ figures: undefined }), 'figures is not there'],
    ['no pools', reportText({ pools: 4 }), 'pools is not a list'],
    ['an empty comparison', '{"kind":"SimulationComparison","reports":[]}', 'reports is empty'],
    ['half a comparison', '{"kind":"SimulationComparison","reports":[{}]}', 'reports.0.scenario is not text'],
  ])('%s: what is wrong, and how to mend it', (_name, text, problem) => {
    expect(readReport(text)).toEqual({
      ok: false,
      problem: `This is no report of a simulation: ${problem}. Write one with \`stowage simulate NAME -o json\`.`,
    });
  });

  test('for any JSON, and for any text, there is an answer', () => {
    const value = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record({ kind: fc.constantFrom('Simulation', 'SimulationComparison'), reports: fc.jsonValue() })
        .map((each) => JSON.stringify(each)),
      fc
        .constantFrom(...Object.keys(reportObject))
        .chain((key) => fc.jsonValue().map((other) => reportText({ [key]: other }))),
    );
    fc.assert(
      fc.property(value, (text) => {
        const report = readReport(text);
        expect(report.ok ? report.runs.length : report.problem.length).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });
});
