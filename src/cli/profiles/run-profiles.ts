/** Exports and imports remembered usage through the ConfigMaps of the operator. */
import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { createProfileStore, importObjects } from '../../act/save-profiles.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { configTree } from '../../config/schema.ts';
import { loadConnection } from '../../kube/auth/load-connection.ts';
import { createKubeApi } from '../../kube/client.ts';
import { describeError, hasErrorCode, StowageError } from '../../lib/errors.ts';
import { createLogger, createStderrWriter } from '../../lib/log.ts';
import { type CliContext, printLines } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { counted } from '../plural.ts';
import { formatProfilesFile, parseProfilesFile } from './profiles-file.ts';

const FIELD_MANAGER = 'stowage-cli';

/** @param file `-` for standard output; an existing file is replaced. @throws CommandError when nothing is saved */
export async function runExport(context: CliContext, file: string): Promise<ExitCode> {
  const { io } = context;
  const text = await withApi(context, (api, namespace) => exportProfiles(context, api, namespace));
  if (file === '-') {
    io.out.write(text.content);
    return exitCodes.ok;
  }
  await writeFile(file, text.content).catch((cause: unknown) => {
    throw new CommandError(`${file} cannot be written: ${describeError(cause)}`, { cause });
  });
  printLines(context, [`usage of ${counted(text.containers, 'container')} written to ${file}`]);
  return exitCodes.ok;
}

/** @param file `-` for standard input. A file is taken as a whole or not at all. */
export async function runImport(context: CliContext, file: string): Promise<ExitCode> {
  const text = file === '-' ? await context.io.readStdin() : await readProfiles(file);
  const items = parseProfilesFile(text, file === '-' ? 'standard input' : file);
  await withApi(context, (api, namespace) => importProfiles(api, namespace, items, context.io.signal));
  printLines(context, [
    `usage of ${counted(items.length, 'container')} handed to the operator: it is taken over at its next save`,
  ]);
  return exitCodes.ok;
}

async function readProfiles(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const why = hasErrorCode(cause, 'ENOENT') ? 'there is no such file' : describeError(cause);
    throw new CommandError(`${file} cannot be read: ${why}; give a file that \`stowage profiles export\` wrote`, {
      cause,
    });
  }
}

/** @throws CommandError when nothing is saved. */
export async function exportProfiles(
  { io }: Pick<CliContext, 'io'>,
  api: KubeApi,
  namespace: string,
): Promise<{ readonly content: string; readonly containers: number }> {
  const log = createLogger({ level: 'warn', format: 'text', clock: io.clock, write: (line) => io.err.write(line) });
  const items = await createProfileStore({ api, namespace, isLeader: () => false, log }).load(io.signal);
  if (items.length === 0) {
    throw new CommandError(
      `no usage is saved in the namespace ${namespace}: give the operator's with -n, and wait for its first save (rightsizing.saveInterval)`,
    );
  }
  return { content: formatProfilesFile(items), containers: items.length };
}

/** Leaves the profiles to the operator: written into ConfigMaps of their own, which it takes over and removes. */
export async function importProfiles(
  api: KubeApi,
  namespace: string,
  items: ReturnType<typeof parseProfilesFile>,
  signal: AbortSignal,
): Promise<void> {
  for (const { name, object } of await importObjects(items, namespace)) {
    const options = { namespace, signal, fieldManager: FIELD_MANAGER };
    await api.patch(resources.configMaps, name, { type: 'apply', body: object, force: true }, options);
  }
}

async function withApi<Result>(
  { io, global }: CliContext,
  work: (api: KubeApi, namespace: string) => Promise<Result>,
): Promise<Result> {
  const { clock, random, env } = io;
  const { kubeconfig, context, debug } = global;
  const connection = await loadConnection({
    env,
    homeDirectory: homedir(),
    clock,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  });
  const level = debug ? 'debug' : 'error';
  const log = createLogger({ level, format: 'text', clock, write: createStderrWriter() });
  const api = createKubeApi({ connection, clock, random, log });
  try {
    return await work(api, global.namespace ?? String(configTree.operator.namespace.defaultValue));
  } catch (error) {
    if (error instanceof StowageError || io.signal.aborted) throw error;
    const message = `the cluster at ${connection.server.href} (${connection.description}) refused: ${describeError(error)}`;
    throw new CommandError(message, { cause: error });
  } finally {
    api.close();
  }
}
