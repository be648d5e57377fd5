/** Replays what a Prometheus knows of workloads: one workload after the other, so that no more than one is in memory. */
import { formatDuration } from '../../../lib/duration.ts';
import type { EpochMillis, Millis } from '../../../lib/units.ts';
import { workloadKey, workloadText } from '../../../model/cluster-view.ts';
import type { UsageProblem } from '../../../observe/usage/usage-source.ts';
import { createCpuComparing } from '../../../simulator/backtest/compare.ts';
import {
  createMemoryComparing,
  type MemoryComparison,
  memoryStrategies,
} from '../../../simulator/backtest/compare-memory.ts';
import { CommandError } from '../../cli-error.ts';
import { counted } from '../../plural.ts';
import type { CpuComparison, MemoryOfSource } from '../backtest-document.ts';
import type { Rows } from '../strategies.ts';
import { type ContainerHistory, createHistoryGathering } from './container-history.ts';
import { type FoundWorkload, findWorkloads, type Requested, type WhichWorkloads } from './find-workloads.ts';
import { historyError, type UsageHistory } from './open-history.ts';

export interface HistoryReplayOptions extends WhichWorkloads {
  readonly sinceMillis: Millis;
  readonly rows: Rows;
}

export interface ReplayedHistory {
  readonly cpu: CpuComparison;
  readonly memory: MemoryOfSource;
  /** What was left out, and why, and what is wrong with what was not; a sentence each. */
  readonly problems: readonly string[];
}

/** Shorter than this there is nothing to judge after the warm-up of a day. */
const MIN_SPAN_MILLIS: Millis = 2 * 86_400_000;
const DAY: Millis = 86_400_000;
/** What is asked for at once is made of samples as objects, so it is cut to this many by time. */
const SLICE_SAMPLES = 400_000;
/** A workload with more would take minutes, and memory by the gigabyte. */
const MAX_SAMPLES = 2_000_000;

/** @throws CommandError when Prometheus cannot be asked, or knows no usage that can be replayed. */
export async function replayHistory(
  history: UsageHistory,
  options: HistoryReplayOptions,
  now: EpochMillis,
  signal: AbortSignal,
): Promise<ReplayedHistory> {
  const { sinceMillis, rows } = options;
  const found = await findWorkloads(history, options, now, signal);
  const cpu = createCpuComparing(rows.cpu);
  const memory = createMemoryComparing(memoryStrategies(rows.policyMemory, true));
  const perContainer: MemoryComparison[] = [];
  const unrequested = { cpu: 0, memory: 0 };
  const problems = [...found.problems];
  for (const one of found.workloads) {
    signal.throwIfAborted();
    const label = workloadText(one.workload);
    const read = await readWorkload(history, one, found.ownerOf, { from: now - sinceMillis, to: now }, signal);
    problems.push(...read.warnings.map((warning) => `${label}: ${warning}`));
    if (read.why !== undefined) problems.push(`${label} is left out: ${read.why}`);
    for (const { container, ...usage } of read.containers) {
      const name = `${label} ${container}`;
      const requested: Requested = one.requested.get(container) ?? { cpu: undefined, memory: undefined };
      const hasCpu = usage.cpu !== undefined && spanOf(usage.cpu.at) >= MIN_SPAN_MILLIS;
      const hasMemory = spanOf(usage.memory.map(({ at }) => at)) >= MIN_SPAN_MILLIS;
      if (!hasCpu && !hasMemory) problems.push(`${name} is left out: it covers less than two days`);
      else if (!hasCpu || !hasMemory)
        problems.push(`${name}: ${hasCpu ? 'memory' : 'CPU'} is left out: it covers less than two days`);
      if (hasCpu && usage.cpu !== undefined) {
        cpu.add({ name, ...usage.cpu, requested: requested.cpu });
        if (requested.cpu === undefined) unrequested.cpu++;
      }
      if (hasMemory) {
        perContainer.push(memory.add({ name, points: usage.memory, requested: requested.memory }));
        if (requested.memory === undefined) unrequested.memory++;
      }
    }
  }
  const source = `${history.name}, ${sinceMillis % DAY === 0 ? `${sinceMillis / DAY}d` : formatDuration(sinceMillis)}`;
  if (cpu.series() === 0 && perContainer.length === 0) {
    const why = problems.find((problem) => problem.includes('is left out')) ?? 'no workload is known';
    throw new CommandError(
      `--data prometheus: ${source}: no usage that can be replayed: ${why}; check that kubelet metrics carry the labels namespace, pod and container, and go back for more than two days`,
    );
  }
  if (found.problems.length === 0) problems.push(...notAsIs(unrequested));
  return {
    cpu: { source, series: cpu.series(), strategies: cpu.figures() },
    memory: { source, ...memory.pooled('all containers'), perContainer },
    problems,
  };
}

interface ReadWorkload {
  readonly containers: readonly ContainerHistory[];
  readonly warnings: readonly string[];
  /** Why there is none. */
  readonly why: string | undefined;
}

async function readWorkload(
  history: UsageHistory,
  { workload, pods }: FoundWorkload,
  ownerOf: ReadonlyMap<string, string>,
  range: { readonly from: EpochMillis; readonly to: EpochMillis },
  signal: AbortSignal,
): Promise<ReadWorkload> {
  const { stepMillis, scrapeMillis } = history;
  const key = workloadKey(workload);
  const gathering = createHistoryGathering();
  const warnings = new Set<string>();
  const none = (why: string): ReadWorkload => ({ containers: [], warnings: [], why });
  // Two resources, and as many pods may have come and gone as there are.
  const perDay = (4 * Math.max(1, pods.length) * DAY) / stepMillis;
  const slice = DAY * Math.max(1, Math.floor(SLICE_SAMPLES / perDay));
  const begin = Math.floor(range.from / stepMillis) * stepMillis;
  for (let from = begin; from < range.to; from += slice) {
    const to = Math.min(range.to, from + slice + scrapeMillis);
    const request = { workload, pods, containers: [], from: { cpu: from, memory: from }, to };
    const answer = await history.fetch(request, signal);
    if (!answer.ok) {
      if (isAboutSource(answer.problem)) throw historyError(answer.problem, history.name);
      return none(answer.problem.message);
    }
    for (const warning of answer.warnings) warnings.add(warning);
    // `web-api-x7k2p` could be of the Deployment `web`: a pod that is known decides.
    gathering.add(answer.series.filter(({ pod }) => (ownerOf.get(`${workload.namespace}/${pod}`) ?? key) === key));
    if (gathering.samples() > MAX_SAMPLES)
      return none(`it has more than ${MAX_SAMPLES} samples; go back for less time: --since`);
  }
  if (gathering.samples() === 0) return { ...none('no usage is known of it'), warnings: [...warnings] };
  return { containers: gathering.containers(), warnings: [...warnings], why: undefined };
}

const isAboutSource = ({ reason }: UsageProblem): boolean =>
  reason === 'Unreachable' || reason === 'TimedOut' || reason === 'Unauthorized' || reason === 'Misconfigured';

const spanOf = (instants: ArrayLike<EpochMillis>): Millis =>
  instants.length === 0 ? 0 : (instants[instants.length - 1] ?? 0) - (instants[0] ?? 0);

function notAsIs({ cpu, memory }: { readonly cpu: number; readonly memory: number }): string[] {
  if (cpu + memory === 0) return [];
  const parts = [
    ...(cpu > 0 ? [`${counted(cpu, 'container', 'containers')} without a CPU request`] : []),
    ...(memory > 0 ? [`${counted(memory, 'container', 'containers')} without a memory request`] : []),
  ];
  return [`the row "as is" leaves out ${parts.join(' and ')}`];
}
