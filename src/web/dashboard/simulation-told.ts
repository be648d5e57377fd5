/**
 * A file that `stowage simulate -o json` wrote, checked and in the words of the dashboard. Figures of other versions
 * are let pass.
 */
import * as z from 'zod';
import { tryParseJson } from '../../lib/try-parse-json.ts';
import { figureMeanings, isFigure } from '../../simulator/figures.ts';
import { type Invariant, invariants } from '../../simulator/invariant-names.ts';
import type { SimulationTold } from './simulation-answer.ts';

const amount = z.number('is not a number');
/** What JavaScript has a date for: another would break the page that shows it. */
const instant = z.number('is not a number').min(-8.64e15, 'is no instant').max(8.64e15, 'is no instant');
const text = z.string('is not text');
const list = <T extends z.ZodType>(of: T) => z.array(of, 'is not a list');

const simulation = z.object(
  {
    scenario: text,
    description: text.default(''),
    seed: amount,
    figures: z.record(text, amount, 'is not there'),
    pools: list(
      z.object({
        name: text,
        class: text,
        instanceType: text,
        nodeHours: amount,
        cost: amount,
        costOnDemand: amount,
      }),
    ),
    reasons: z.record(text, amount, 'is not there'),
    asserts: list(z.object({ text, actual: amount, limit: amount, ok: z.boolean('is neither true nor false') })),
    violations: list(z.object({ invariant: text, at: instant, detail: text })),
    checks: z.record(text, amount, 'is not there'),
    problems: list(text),
  },
  'is no report',
);

const document = z.discriminatedUnion(
  'kind',
  [
    simulation.extend({ kind: z.literal('Simulation') }),
    z.object({ kind: z.literal('SimulationComparison'), reports: list(simulation).min(1, 'is empty') }),
  ],
  { error: 'is neither Simulation nor SimulationComparison' },
);

export type ReadReport =
  | { readonly ok: true; readonly runs: readonly SimulationTold[] }
  | { readonly ok: false; readonly problem: string };

/** Whatever is in the file: never throws. */
export function readReport(json: string): ReadReport {
  const value = tryParseJson(json);
  if (value === undefined) return refusal('it is no JSON');
  const { success, data, error } = document.safeParse(value);
  if (success) return { ok: true, runs: ('reports' in data ? data.reports : [data]).map(told) };
  const [issue] = error.issues;
  const place = issue?.path.join('.') ?? '';
  return refusal(`${place === '' ? 'it' : place} ${issue?.message ?? 'is not as it should be'}`);
}

const refusal = (problem: string): ReadReport => ({
  ok: false,
  problem: `This is no report of a simulation: ${problem}. Write one with \`stowage simulate NAME -o json\`.`,
});

function told(report: z.output<typeof simulation>): SimulationTold {
  const { figures, checks, reasons, violations, asserts } = report;
  const names = [...Object.keys(figureMeanings), ...Object.keys(figures).filter((name) => !isFigure(name))];
  return {
    ...report,
    hasPassed: violations.length === 0 && asserts.every(({ ok }) => ok),
    checks: Object.values(checks).reduce((sum, count) => sum + count, 0),
    figures: names.flatMap((name) => {
      const value = figures[name];
      return value === undefined ? [] : [{ name, value, meaning: isFigure(name) ? figureMeanings[name] : undefined }];
    }),
    reasons: Object.entries(reasons)
      .map(([reason, count]) => ({ reason, count }))
      .sort((a, b) => b.count - a.count),
    violations: violations.map((violation) => ({
      ...violation,
      meaning: isInvariant(violation.invariant) ? invariants[violation.invariant] : undefined,
    })),
  };
}

const isInvariant = (name: string): name is Invariant => Object.hasOwn(invariants, name);
