/** Runs `stowage journal`. */
import type { JournalQuery } from '../../act/journal-query.ts';
import { isAskedFor } from '../../act/journal-query.ts';
import { ascending } from '../../lib/ascending.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { type CliContext, printLines, printNotes } from '../cli-context.ts';
import { UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { JournalCommandOptions } from '../journal-command.ts';
import { fetchJournal, type OperatorJournal } from '../operator-client.ts';
import { DOCUMENT_VERSION, renderDocument } from '../output.ts';
import { NOT_LEADER } from '../status/with-operator.ts';
import { allKinds, parseWorkloadReference } from '../workload-reference.ts';
import { readLogs } from './read-log.ts';
import { type JournalDocument, type JournalRow, renderJournal } from './render-journal.ts';
import { parseTimeRange } from './time-range.ts';

/** @throws UsageError, CommandError where the operator cannot be asked or the log not be read. */
export async function runJournal(
  context: CliContext,
  options: JournalCommandOptions,
  words: readonly string[],
): Promise<ExitCode> {
  const { io, global } = context;
  const { operator, filename } = options;
  if ((operator === undefined) === (filename === undefined)) {
    throw new UsageError(
      'say whom to ask: --operator http://localhost:8080 (kubectl port-forward to port 8080 of the pod that leads), or -f with its log; one of them',
    );
  }
  const ref = words.length === 0 ? undefined : parseWorkloadReference(words, global.namespace, allKinds);
  const query: JournalQuery = {
    ...parseTimeRange(options, io.clock.now()),
    namespace: ref?.namespace ?? global.namespace,
    workload: ref === undefined ? undefined : workloadKey(ref),
    engine: options.engine,
    onlyDone: options.done,
  };
  const told =
    operator === undefined ? await logged(filename ?? [], query, context) : await asked(operator, query, context);
  const document = toDocument(told, query);
  const text = renderDocument(document, global.output);
  if (text !== undefined) io.out.write(text);
  else {
    printLines(context, renderJournal(document, context));
    printNotes(
      context,
      document.problems.map((problem) => `note: ${problem}`),
    );
  }
  return exitCodes.ok;
}

interface Told {
  readonly source: string;
  readonly entries: OperatorJournal['entries'];
  readonly omitted: number;
  readonly problems: readonly string[];
}

async function asked(url: URL, query: JournalQuery, { io }: CliContext): Promise<Told> {
  const parameters = new URLSearchParams();
  const { from, to, namespace, workload, engine, onlyDone } = query;
  for (const [name, value] of Object.entries({ from, to, namespace, workload, engine }))
    if (value !== undefined) parameters.set(name, String(value));
  if (onlyDone === true) parameters.set('done', 'true');
  const told = await fetchJournal({ url, io }, parameters);
  return { source: `the operator at ${url.href}`, ...told, problems: problemsOf(told, from) };
}

/** What cannot be known of the range that was asked for, and where it is. */
function problemsOf(
  { isLeader, leadingSince, forgottenUntil, omitted }: OperatorJournal,
  from: EpochMillis = 0,
): readonly string[] {
  const log = 'its log has what was done: kubectl logs POD | stowage journal -f -';
  const problems: string[] = [];
  if (!isLeader) problems.push(NOT_LEADER);
  else if (leadingSince !== undefined && leadingSince > from) {
    problems.push(
      `this replica leads since ${textOf(leadingSince)} and knows nothing from before; of the leader before it, ${log} (--previous where its container ended)`,
    );
  }
  if (forgottenUntil !== undefined && forgottenUntil >= from) {
    problems.push(`some of what was done up to ${textOf(forgottenUntil)} is no longer kept; ${log}`);
  }
  if (omitted > 0)
    problems.push(`${omitted} older entries are not told; ask for less: --from, --to, -n, --engine, --done`);
  return problems;
}

const NONE_LOGGED =
  'no entry of the journal is in there, of any time; only the log of a leader has them, with observability.logging.level: info (or debug: also what was advised and held back)';

async function logged(paths: readonly string[], query: JournalQuery, { io }: CliContext): Promise<Told> {
  const all = await readLogs(paths, io);
  const entries = all
    .filter(({ workload, ...entry }) => isAskedFor({ workload, entry }, query))
    .sort((a, b) => ascending(a.lastAt, b.lastAt));
  return {
    source: paths.map((path) => (path === '-' ? 'standard input' : path)).join(', '),
    entries,
    omitted: 0,
    problems: all.length === 0 ? [NONE_LOGGED] : [],
  };
}

function toDocument({ source, entries, omitted, problems }: Told, { from, to }: JournalQuery): JournalDocument {
  return {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Journal',
    source,
    ...(from !== undefined && { from: textOf(from) }),
    ...(to !== undefined && { to: textOf(to) }),
    entries: entries.map(toRow),
    omitted,
    problems,
  };
}

function toRow({ firstAt, lastAt, engine, pod, numbers, ...same }: OperatorJournal['entries'][number]): JournalRow {
  return {
    at: textOf(lastAt),
    firstAt: textOf(firstAt),
    ...same,
    ...(engine !== undefined && { engine }),
    ...(pod !== undefined && { pod }),
    ...(numbers !== undefined && { numbers }),
  };
}

const textOf = (at: EpochMillis): string => new Date(at).toISOString();
