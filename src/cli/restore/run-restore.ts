/** Runs `stowage restore` on the cluster of the context and tells what became of each pod. */
import { homedir } from 'node:os';
import { loadConnection } from '../../kube/auth/load-connection.ts';
import { createKubeApi } from '../../kube/client.ts';
import { describeError } from '../../lib/errors.ts';
import { createLogger, createStderrWriter } from '../../lib/log.ts';
import { type CliContext, printLines } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { counted } from '../plural.ts';
import type { RestoreCommandOptions } from './restore-command.ts';
import { type RestoredPod, restorePods } from './restore-pods.ts';

/** @returns 1 where a pod could not be given back now */
export async function runRestore(context: CliContext, { engine, dryRun }: RestoreCommandOptions): Promise<ExitCode> {
  const { io, global } = context;
  const { clock, random, env, signal } = io;
  const { kubeconfig, context: name, debug, namespace } = global;
  const connection = await loadConnection({
    env,
    homeDirectory: homedir(),
    clock,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(name !== undefined && { context: name }),
  });
  const log = createLogger({ level: debug ? 'debug' : 'error', format: 'text', clock, write: createStderrWriter() });
  const api = createKubeApi({ connection, clock, random, log });
  const engines = engine === undefined ? (['allocation', 'rightsizing'] as const) : [engine];
  try {
    const pods = await restorePods(api, { engines, namespace, isDryRun: dryRun === true }, clock, signal);
    printLines(context, renderRestored(pods));
    return pods.every(({ result }) => result === 'restored' || result === 'would') ? exitCodes.ok : exitCodes.failure;
  } catch (error) {
    if (signal.aborted) throw error;
    const where = `${connection.server.href} (${connection.description})`;
    throw new CommandError(`the cluster at ${where} refused: ${describeError(error)}`, { cause: error });
  } finally {
    api.close();
  }
}

export function renderRestored(pods: readonly RestoredPod[]): readonly string[] {
  if (pods.length === 0) return ['No pod has sizes of Stowage.'];
  const lines = pods.map(({ pod, engine, result, message }) => `${pod}  ${engine}  ${result}  ${message}`);
  const left = pods.filter(({ result }) => result !== 'restored' && result !== 'would').length;
  return left === 0 ? lines : [...lines, `${counted(left, 'pod')} could not be given back now.`];
}
