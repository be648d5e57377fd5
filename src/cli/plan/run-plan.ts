/** Runs `stowage plan`. */
import { type CliContext, printLines } from '../cli-context.ts';
import { UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { AssumedAnnotations } from '../input/assume-enabled.ts';
import { loadInput } from '../input/load-input.ts';
import { printInputNotes } from '../input/print-notes.ts';
import { renderDocument } from '../output.ts';
import { hasResize } from '../sizing/sizing-plan.ts';
import { buildPlan } from './build-plan.ts';
import type { PlanOptions } from './plan-command.ts';
import type { PlanDocument } from './plan-document.ts';
import { renderPlan } from './render-plan.ts';

/** Writes nothing to the cluster. @returns 3 with `--exit-code` where there is something to do */
export async function runPlan(context: CliContext, options: PlanOptions): Promise<ExitCode> {
  const { io, global, style } = context;
  const input = await loadInput(context, options, { assumed: assumedBy(options) });
  const plan = buildPlan(input, io.clock.now(), global.namespace);
  const text = renderDocument(plan, global.output);
  if (text !== undefined) io.out.write(text);
  else {
    printLines(context, renderPlan(plan, { style, wide: global.output === 'wide' }));
    printInputNotes(context, input);
  }
  return options.exitCode === true && hasWork(plan) ? exitCodes.differences : exitCodes.ok;
}

/** Whether any engine would change something, now or once nothing blocks it. Advice of a policy that only recommends is no work. */
function hasWork({ summary, sizing, allocation }: PlanDocument): boolean {
  return (
    summary.actions + summary.blocked > 0 ||
    (sizing?.isOn === true && sizing.workloads.some(hasResize)) ||
    (allocation?.isOn === true && allocation.resizes > 0)
  );
}

function assumedBy(options: PlanOptions): AssumedAnnotations | undefined {
  const { assumeEnabled = false, spotPercentage, minOnDemand } = options;
  if (assumeEnabled) return { spotPercentage, minOnDemand };
  if (spotPercentage === undefined && minOnDemand === undefined) return undefined;
  throw new UsageError('--spot-percentage and --min-on-demand need --assume-enabled');
}
