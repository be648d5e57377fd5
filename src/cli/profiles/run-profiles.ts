/** Exports and imports remembered usage through the ConfigMaps of the operator. */
import { readFile } from 'node:fs/promises';
import { createProfileStore, importObjects } from '../../act/save-profiles.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { configTree } from '../../config/schema.ts';
import { describeFileError, describeWriteError } from '../../lib/errors.ts';
import { createLogger } from '../../lib/log.ts';
import { isReplicaRef } from '../../model/replica.ts';
import type { SavedUsage } from '../../model/saved-usage.ts';
import { type CliContext, printLines } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { counted } from '../plural.ts';
import { withCluster } from '../with-cluster.ts';
import { writeWhole } from '../write-whole.ts';
import { formatProfilesFile, parseProfilesFile } from './profiles-file.ts';

const FIELD_MANAGER = 'stowage-cli';

/** @param file `-` for standard output; an existing file is replaced as a whole, or stays. @throws CommandError when nothing is saved */
export async function runExport(context: CliContext, file: string): Promise<ExitCode> {
  const { io } = context;
  const text = await withCluster(context, (api) => exportProfiles(context, api, operatorNamespaceOf(context)));
  if (file === '-') {
    io.out.write(text.content);
    return exitCodes.ok;
  }
  await writeWhole(file, text.content).catch((cause: unknown) => {
    throw new CommandError(`${file} cannot be written: ${describeWriteError(cause)}`, { cause });
  });
  printLines(context, [`usage of ${text.what} written to ${file}`]);
  return exitCodes.ok;
}

/** @param file `-` for standard input. A file is taken as a whole or not at all. */
export async function runImport(context: CliContext, file: string): Promise<ExitCode> {
  const text = file === '-' ? await context.io.readStdin() : await readProfiles(file);
  const items = parseProfilesFile(text, file === '-' ? 'standard input' : file);
  const where = await withCluster(context, async (api, source) => {
    await importProfiles(api, operatorNamespaceOf(context), items, context.io.signal);
    return source;
  });
  const what = `usage of ${whatIsIn(items)} handed to the operator`;
  printLines(context, [`${what} in the cluster at ${where}: it is taken over at its next save`]);
  return exitCodes.ok;
}

async function readProfiles(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const why = describeFileError(cause);
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
): Promise<{ readonly content: string; readonly what: string }> {
  const log = createLogger({ level: 'warn', format: 'text', clock: io.clock, write: (line) => io.err.write(line) });
  const items = await createProfileStore({ api, namespace, isLeader: () => false, log }).load(io.signal);
  if (items.length === 0) {
    throw new CommandError(
      `no usage is saved in the namespace ${namespace}: give the operator's with -n, and wait for its first save (rightsizing.saveInterval)`,
    );
  }
  return { content: formatProfilesFile(items), what: whatIsIn(items) };
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

/** A replica that is told apart has an entry of its own, beside that of all. */
function whatIsIn(items: readonly Pick<SavedUsage, 'workload'>[]): string {
  const replicas = items.filter(({ workload }) => isReplicaRef(workload)).length;
  return `${counted(items.length, 'container')}${replicas === 0 ? '' : `, ${replicas} of them of single replicas,`}`;
}

function operatorNamespaceOf({ global }: CliContext): string {
  return global.namespace ?? String(configTree.operator.namespace.defaultValue);
}
