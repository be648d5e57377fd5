/** Runs `stowage restore` on the cluster of the context and tells what became of each pod. */
import { type CliContext, printLines } from '../cli-context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { counted } from '../plural.ts';
import { RIGHTS_PAGE, withCluster } from '../with-cluster.ts';
import type { RestoreCommandOptions } from './restore-command.ts';
import { type RestoredPod, restorePods } from './restore-pods.ts';

/** @returns 1 where a pod could not be given back now */
export async function runRestore(context: CliContext, { engine, dryRun }: RestoreCommandOptions): Promise<ExitCode> {
  const { io, global } = context;
  const engines = engine === undefined ? (['allocation', 'rightsizing'] as const) : [engine];
  const request = { engines, namespace: global.namespace, isDryRun: dryRun === true };
  const hints = global.namespace === undefined ? { rights: `Choose a namespace with -n: ${RIGHTS_PAGE}` } : {};
  const pods = await withCluster(context, (api) => restorePods(api, request, io.clock, io.signal), hints);
  printLines(context, renderRestored(pods));
  return pods.every(({ result }) => result === 'restored' || result === 'would') ? exitCodes.ok : exitCodes.failure;
}

export function renderRestored(pods: readonly RestoredPod[]): readonly string[] {
  if (pods.length === 0) return ['No pod has sizes of Stowage.'];
  const lines = pods.map(({ pod, engine, result, message }) => `${pod}  ${engine}  ${result}  ${message}`);
  const left = pods.filter(({ result }) => result !== 'restored' && result !== 'would').length;
  return left === 0 ? lines : [...lines, `${counted(left, 'pod')} could not be given back now.`];
}
