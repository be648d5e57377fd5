/** Checks the spec of one OptimizationPolicy and tells every problem as what, where, and what is accepted. */
import type { z } from 'zod';
import { type DisruptionWindow, parseWindow } from '../lib/schedule.ts';
import { type ParsedPolicySpec, policySpecSchema } from './optimization-policy-schema.ts';

export type CheckedPolicySpec =
  | { readonly ok: true; readonly spec: ParsedPolicySpec; readonly window: DisruptionWindow | undefined }
  | { readonly ok: false; readonly problems: readonly [string, ...string[]] };

export interface PolicySpecLimits {
  /** Highest safety factor the organisation allows; undefined is no limit. */
  readonly maxSafetyFactor?: number | undefined;
}

/** The order in which OptiPod checks: the first problem is the one it would tell. What is not listed comes last. */
const order: readonly string[] = [
  'spec.mode',
  'spec.selector',
  'spec.metricsConfig.provider',
  'spec.resourceBounds',
  'spec.metricsConfig.safetyFactor',
  'spec.weight',
];

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Never throws, whatever `spec` is. */
export function checkPolicySpec(spec: unknown, limits: PolicySpecLimits = {}): CheckedPolicySpec {
  const parsed = policySpecSchema.safeParse(spec, { reportInput: true });
  if (!parsed.success) return refuse(parsed.error.issues.map(toProblem));
  const { window, problems } = readSchedule(parsed.data.updateStrategy.schedule ?? []);
  const found = [...factorsBeyond(parsed.data.metricsConfig, limits), ...problems];
  return found.length > 0 ? refuse(found) : { ok: true, spec: parsed.data, window };
}

function refuse(problems: readonly Problem[]): CheckedPolicySpec {
  const rank = ({ path }: Problem): number => {
    const at = order.findIndex((prefix) => path.startsWith(prefix));
    return at < 0 ? order.length : at;
  };
  const [first = 'spec: is not valid', ...rest] = problems
    .toSorted((a, b) => rank(a) - rank(b))
    .map(({ path, message }) => `${path}: ${message}`);
  return { ok: false, problems: [first, ...rest] };
}

function toProblem(issue: z.core.$ZodIssue): Problem {
  const path = issue.path.reduce<string>(
    (before, part) => (typeof part === 'number' ? `${before}[${part}]` : `${before}.${String(part)}`),
    'spec',
  );
  return { path, message: sentenceOf(issue) };
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  const isMissing = issue.input === undefined;
  // Our own messages are whole sentences, or begin with the verb and go on from the value.
  if (issue.message.startsWith('is not '))
    return isMissing ? `is missing;${issue.message.split(';')[1]}` : `${describeInput(issue.input)} ${issue.message}`;
  const given = isMissing ? 'is missing' : `${describeInput(issue.input)} is not valid`;
  switch (issue.code) {
    case 'invalid_value':
      return `${given}; accepted: ${issue.values.map(String).join(', ')}`;
    case 'invalid_type':
      return `${given}; accepted: ${nouns[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `${given}; accepted: ${issue.origin === 'string' ? `a text of at least ${issue.minimum} characters` : `at least ${issue.minimum}`}`;
    case 'too_big':
      return `${given}; accepted: at most ${issue.maximum}${units[issue.origin] ?? ''}`;
    default:
      return issue.message;
  }
}

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

const nouns: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  record: 'an object of texts',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

const MAX_SHOWN = 80;

function describeInput(input: unknown): string {
  const text = JSON.stringify(input) ?? String(input);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function factorsBeyond(
  { safetyFactor, safetyFactors }: ParsedPolicySpec['metricsConfig'],
  { maxSafetyFactor }: PolicySpecLimits,
): Problem[] {
  if (maxSafetyFactor === undefined) return [];
  const factors = {
    'spec.metricsConfig.safetyFactor': safetyFactor,
    'spec.metricsConfig.safetyFactors.cpu': safetyFactors?.cpu,
    'spec.metricsConfig.safetyFactors.memory': safetyFactors?.memory,
  };
  return Object.entries(factors)
    .filter(([, factor]) => factor !== undefined && factor > maxSafetyFactor)
    .map(([path, factor]) => ({
      path,
      message: `the safety factor ${factor} is above what this cluster allows; accepted: 1 to ${maxSafetyFactor} (rightsizing.limits.maxSafetyFactor)`,
    }));
}

function readSchedule(windows: readonly { readonly cron: string; readonly duration: string }[]): {
  readonly window: DisruptionWindow | undefined;
  readonly problems: readonly Problem[];
} {
  if (windows.length === 0) return { window: undefined, problems: [] };
  const problems = windows.flatMap(({ cron, duration }, index) => {
    const path = `spec.updateStrategy.schedule[${index}]`;
    const isOne = !cron.includes(';') && !duration.includes(';');
    const result = isOne ? parseWindow(cron, duration) : undefined;
    if (result === undefined) return [{ path, message: 'is not valid; accepted: one cron schedule with one duration' }];
    if (result.ok) return [];
    return result.problems.map(({ part, value, accepted }) => ({
      path: `${path}.${part === 'schedule' ? 'cron' : 'duration'}`,
      message: `${JSON.stringify(value)} is not valid; accepted: ${accepted}`,
    }));
  });
  if (problems.length > 0) return { window: undefined, problems };
  const all = parseWindow(windows.map(({ cron }) => cron).join(';'), windows.map(({ duration }) => duration).join(';'));
  if (!all.ok) throw new Error('windows that are valid one by one are valid together');
  return { window: all.window, problems: [] };
}
