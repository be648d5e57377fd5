/** A folder of reports of simulations: files of plain names and bounded size in it, and nothing else. They are read when somebody looks. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ascending } from '../../lib/ascending.ts';
import { describeFileError, hasErrorCode } from '../../lib/errors.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ReportFileTold, SimulationAnswer, SimulationsAnswer, SimulationTold } from './simulation-answer.ts';
import { type ReadReport, readReport } from './simulation-told.ts';

export interface ReportFolder {
  list(now: EpochMillis): Promise<SimulationsAnswer>;
  /** Undefined for a name that is no report's, whether or not there is such a file. */
  read(file: string, now: EpochMillis): Promise<SimulationAnswer | { readonly problem: string } | undefined>;
}

/** A report has about 80 kilobytes, most of it the series that it has not more than 401 points of; a comparison twice that. */
const MAX_BYTES = 512 * 1024;
const MAX_FILES = 100;
/** No path, and nothing hidden: what Kubernetes mounts has folders such as `..data` beside the files. */
const FILE_NAME = /^[A-Za-z0-9][\w .+-]{0,120}\.json$/;

interface Entry {
  readonly file: string;
  readonly writtenAt: EpochMillis;
  readonly bytes: number;
}

/** @param folder empty: none is configured. */
export function createReportFolder(folder: string): ReportFolder {
  /** What the list tells of files that have not changed since. */
  const summaries = new Map<string, { readonly entry: Entry; readonly told: ReportFileTold }>();

  const entryOf = async (file: string): Promise<Entry | undefined> => {
    const found = await stat(join(folder, file)).catch(() => undefined);
    return found?.isFile() ? { file, writtenAt: found.mtimeMs, bytes: found.size } : undefined;
  };

  const open = async ({ file, bytes }: Entry): Promise<ReadReport> => {
    if (bytes > MAX_BYTES) {
      return { ok: false, problem: `It has ${bytes} bytes, and a report at most ${MAX_BYTES}.` };
    }
    try {
      return readReport(await readFile(join(folder, file), 'utf8'));
    } catch (error) {
      return { ok: false, problem: `It cannot be read: ${describeFileError(error)}.` };
    }
  };

  const summaryOf = async (entry: Entry): Promise<ReportFileTold> => {
    const known = summaries.get(entry.file);
    if (known !== undefined && isSame(known.entry, entry)) return known.told;
    const { file, writtenAt } = entry;
    const report = await open(entry);
    const told = report.ok
      ? { file, writtenAt, runs: report.runs.map(summarized) }
      : { file, writtenAt, runs: [], problem: report.problem };
    summaries.set(file, { entry, told });
    return told;
  };

  return {
    async list(now) {
      if (folder === '') return { at: now, files: [], omitted: 0 };
      let names: readonly string[];
      try {
        names = (await readdir(folder)).filter((name) => FILE_NAME.test(name));
      } catch (error) {
        return { at: now, folder, problem: folderProblem(error), files: [], omitted: 0 };
      }
      const found: Entry[] = [];
      for (const name of names) {
        const entry = await entryOf(name);
        if (entry !== undefined) found.push(entry);
      }
      found.sort((a, b) => b.writtenAt - a.writtenAt || ascending(a.file, b.file));
      const listed = found.slice(0, MAX_FILES);
      const files: ReportFileTold[] = [];
      for (const entry of listed) files.push(await summaryOf(entry));
      const kept = new Set(listed.map(({ file }) => file));
      for (const file of summaries.keys()) if (!kept.has(file)) summaries.delete(file);
      return { at: now, folder, files, omitted: found.length - files.length };
    },
    async read(file, now) {
      const entry = folder !== '' && FILE_NAME.test(file) ? await entryOf(file) : undefined;
      if (entry === undefined) return undefined;
      const report = await open(entry);
      return report.ok ? { at: now, file, writtenAt: entry.writtenAt, runs: report.runs } : { problem: report.problem };
    },
  };
}

const isSame = (a: Entry, b: Entry): boolean => a.writtenAt === b.writtenAt && a.bytes === b.bytes;

/** What the list shows of a run. */
const listedFigures: ReadonlySet<string> = new Set(['hours', 'savingPercent', 'spotPercent', 'evictions']);

function summarized({
  scenario,
  description,
  seed,
  hasPassed,
  figures,
}: SimulationTold): ReportFileTold['runs'][number] {
  return { scenario, description, seed, hasPassed, figures: figures.filter(({ name }) => listedFigures.has(name)) };
}

function folderProblem(error: unknown): string {
  if (hasErrorCode(error, 'ENOENT')) return 'There is no such folder; make it, or change web.reports.';
  if (hasErrorCode(error, 'ENOTDIR')) return 'It is no folder; change web.reports.';
  return `It cannot be read: ${describeFileError(error, 'folder')}.`;
}
