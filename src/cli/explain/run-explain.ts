/** Runs `stowage explain`. */

import { explainPlan, unplacedExplanation } from '../../decide/placement/explain.ts';
import { isMove } from '../../decide/placement/standing.ts';
import { inspectAll } from '../../guard/guard.ts';
import { printable } from '../../lib/printable.ts';
import { type WorkloadRef, workloadText } from '../../model/cluster-view.ts';
import { type CliContext, printLines, printNotes } from '../cli-context.ts';
import { CommandError, UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { planOne } from '../fleet.ts';
import { freeToAct } from '../guard-context.ts';
import { inputNotes } from '../input/input-notes.ts';
import { type LoadedInput, loadInput } from '../input/load-input.ts';
import { namedAlike } from '../input/named-alike.ts';
import { printInputNotes } from '../input/print-notes.ts';
import type { InputOptions, OperatorOption } from '../input-options.ts';
import { fetchExplanation } from '../operator-client.ts';
import { DOCUMENT_VERSION, renderDocument } from '../output.ts';
import { sizesTold } from '../sizing/sizes-told.ts';
import { planSizes } from '../sizing/sizing-plan.ts';
import { operatorProblems } from '../status/with-operator.ts';
import { allKinds, parseWorkloadReference } from '../workload-reference.ts';
import { type ExplanationDocument, renderExplanation } from './render-explanation.ts';

/** @param words the workload, in one word or two. @throws UsageError, CommandError where it is not there */
export async function runExplain(
  context: CliContext,
  options: InputOptions & OperatorOption,
  words: readonly string[],
): Promise<ExitCode> {
  const { io, global } = context;
  const ref = parseWorkloadReference(words, global.namespace, allKinds);
  const { operator, filename, config, prices } = options;
  if (operator !== undefined && (filename ?? config ?? prices) !== undefined) {
    throw new UsageError('with --operator everything comes from the operator: leave out -f, -c and --prices');
  }
  const input = operator === undefined ? await loadInput(context, options, { namespace: ref.namespace }) : undefined;
  const document =
    input === undefined
      ? await toldBy(operator, context, ref)
      : withOffNote(input, { ...(await workedOut(input, context, ref)), ...inputNotes(input) });
  const text = renderDocument(document, global.output);
  if (text !== undefined) io.out.write(text);
  else {
    printLines(context, renderExplanation(document, context));
    if (input !== undefined) printInputNotes(context, input);
    else printWarnings(context, document.problems ?? []);
  }
  return exitCodes.ok;
}

function printWarnings(context: CliContext, problems: readonly string[]): void {
  const warnings = problems.map((problem) => context.style('warning', `warning: ${printable(problem)}`));
  printNotes(context, warnings);
}

/** As an operator would see it that has just become free to act. */
async function workedOut(input: LoadedInput, context: CliContext, ref: WorkloadRef): Promise<ExplanationDocument> {
  const { io } = context;
  const workload = input.view.workload(ref);
  if (workload === undefined) return await unplaced(input, context, ref);
  const now = io.clock.now();
  const { plan, cost } = planOne(input.view, input.rules, now, workload);
  const ending = plan.decisions.find(isMove);
  const guards = freeToAct(input.view, input.rules, plan.policy, now);
  const blocks = ending === undefined ? [] : inspectAll(ending, guards);
  const explained = explainPlan(plan, blocks, now);
  return {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Explanation',
    ...explained,
    // Of a workload that is left alone the notes only repeat why.
    notes: plan.policy.state === 'managed' ? explained.notes : [],
    ...(cost !== undefined && { cost }),
    ...sizingOf(input, ref),
  };
}

/** A workload that is only sized. @throws CommandError where there is none */
async function unplaced(input: LoadedInput, context: CliContext, ref: WorkloadRef): Promise<ExplanationDocument> {
  const isThere = input.sizing.workloads.some(
    ({ kind, namespace, name }) => kind === ref.kind && namespace === ref.namespace && name === ref.name,
  );
  if (!isThere) {
    if (ref.kind === 'Rollout') throw new CommandError(`${workloadText(ref)}: ${ONLY_OPERATOR}`);
    const elsewhere = input.origin === 'cluster' ? await namedAlike(context, ref.name) : [];
    throw new CommandError(notFound(input, ref, elsewhere));
  }
  const sizing = sizingOf(input, ref);
  const notes = sizing.sizing === undefined ? ['no OptimizationPolicy selects it, so nothing is sized either'] : [];
  return { apiVersion: DOCUMENT_VERSION, kind: 'Explanation', ...unplacedExplanation(ref, notes), ...sizing };
}

const OFF = 'rightsizing is off in this configuration (engines.rightsizing): nobody changes its sizes';

function withOffNote({ sizing }: LoadedInput, document: ExplanationDocument): ExplanationDocument {
  return sizing.isOn || document.sizing === undefined ? document : { ...document, notes: [...document.notes, OFF] };
}

const ONLY_OPERATOR = 'Argo Rollouts are followed by the running operator only; ask it with --operator';

function sizingOf({ sizing, view, tenancy }: LoadedInput, ref: WorkloadRef): Pick<ExplanationDocument, 'sizing'> {
  const found = planSizes(sizing, view, tenancy, ref.namespace).workloads.find(
    ({ kind, name }) => kind === ref.kind && name === ref.name,
  );
  return found === undefined ? {} : { sizing: found };
}

async function toldBy(url: URL | undefined, { io }: CliContext, ref: WorkloadRef): Promise<ExplanationDocument> {
  if (url === undefined) throw new UsageError('--operator needs an address');
  const told = await fetchExplanation({ url, io }, ref);
  const { at, isLeader, lastDisruption, journal, story, cost, plan, sizing, allocation } = told;
  return {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Explanation',
    ...story,
    notes: plan.policy.state === 'managed' ? story.notes : [],
    ...(cost !== undefined && plan.policy.state === 'managed' && { cost }),
    ...(sizing !== undefined && { sizing: sizesTold(ref, sizing) }),
    ...(allocation !== undefined && allocation.length > 0 && { allocation }),
    operator: {
      at: new Date(at).toISOString(),
      isLeader,
      ...(lastDisruption !== undefined && { lastDisruption: new Date(lastDisruption).toISOString() }),
      journal,
    },
    problems: operatorProblems(told),
  };
}

/** Names what was meant, if something of that name is there under another kind or namespace. */
function notFound(input: LoadedInput, ref: WorkloadRef, elsewhere: readonly WorkloadRef[]): string {
  const here = [...input.view.workloads()].filter(({ name }) => name === ref.name);
  const others = [...new Set([...here, ...elsewhere].map(workloadText))];
  const hint =
    others.length > 0 ? `; there is ${others.slice(0, 3).join(', ')}` : '. `stowage status` lists the managed ones';
  return `${workloadText(ref)} is not in ${input.source}${hint}`;
}
