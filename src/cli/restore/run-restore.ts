/** Runs `stowage restore` on the cluster of the context and tells what became of each pod, as it is done. */
import { type CliContext, printLines, printNotes } from '../cli-context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { DOCUMENT_VERSION, isForMachines, type ResultDocument, renderDocument } from '../output.ts';
import { counted } from '../plural.ts';
import { RIGHTS_PAGE, withCluster } from '../with-cluster.ts';
import { changedTemplates } from './changed-templates.ts';
import type { RestoreCommandOptions } from './restore-command.ts';
import { type RestoredPod, restorePods } from './restore-pods.ts';

interface RestoreDocument extends ResultDocument {
  readonly kind: 'Restore';
  /** Nothing was changed. */
  readonly dryRun: boolean;
  readonly pods: readonly RestoredPod[];
  /** Templates that stay as rightsizing wrote them, and how to take that back. */
  readonly problems: readonly string[];
}

/** @returns 1 where a pod could not be given back now */
export async function runRestore(
  context: CliContext,
  { engine, dryRun, selector }: RestoreCommandOptions,
): Promise<ExitCode> {
  const { io, global } = context;
  const { namespace } = global;
  const engines = engine === undefined ? (['allocation', 'rightsizing'] as const) : [engine];
  // A document is written at the end: until then what was done is told beside it, should the end not come.
  const tell = isForMachines(global.output) ? printNotes : printLines;
  const onTold = (pod: RestoredPod): void => tell(context, [lineOf(pod)]);
  const isDryRun = dryRun === true;
  const request = { engines, namespace, selector, isDryRun, onTold };
  const hints = namespace === undefined ? { rights: `Choose a namespace with -n: ${RIGHTS_PAGE}` } : {};
  const { pods, templates } = await withCluster(
    context,
    async (api, source) => ({
      pods: await restorePods(api, { ...request, onFound: tellWhere(context, source) }, io.clock, io.signal),
      templates:
        engine === 'allocation' || selector !== undefined
          ? []
          : await changedTemplates({ api, signal: io.signal }, namespace),
    }),
    hints,
  );
  const document: RestoreDocument = {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Restore',
    dryRun: isDryRun,
    pods,
    problems: templates,
  };
  const text = renderDocument(document, global.output);
  if (text !== undefined) io.out.write(text);
  else {
    printLines(context, [summaryOf(pods)]);
    printNotes(
      context,
      templates.map((template) => `note: ${template}`),
    );
  }
  return pods.every(isWell) ? exitCodes.ok : exitCodes.failure;
}

/** Before anything is changed: the context may be another than was meant. */
const tellWhere =
  (context: CliContext, source: string) =>
  (pods: number): void =>
    printNotes(context, [`note: ${counted(pods, 'pod')} with sizes of Stowage in the cluster at ${source}`]);

const isWell = ({ result }: RestoredPod): boolean => result === 'restored' || result === 'would' || result === 'gone';

export function lineOf({ pod, engine, result, message }: RestoredPod): string {
  return `${pod}  ${engine}  ${result}  ${message}`;
}

/** One that both engines changed is told twice. */
const countPods = (told: readonly RestoredPod[]): number => new Set(told.map(({ pod }) => pod)).size;

export function summaryOf(all: readonly RestoredPod[]): string {
  const there = all.filter(({ result }) => result !== 'gone');
  const pods = countPods(there);
  if (pods === 0) return 'No pod has sizes of Stowage.';
  const left = countPods(there.filter((each) => !isWell(each)));
  if (left > 0) return `${counted(left, 'pod')} of ${pods} could not be given back now; run the command again.`;
  const isDryRun = there.some(({ result }) => result === 'would');
  return `${counted(pods, 'pod')} ${isDryRun ? 'would be' : pods === 1 ? 'was' : 'were'} given back.`;
}
