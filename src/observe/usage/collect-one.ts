/** One workload's turn: asks its source, sorts out what is not its own, and enters the rest into the book. */

import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey, workloadText } from '../../model/cluster-view.ts';
import { isRunning } from '../../model/owners.ts';
import { replicaRef } from '../../model/replica.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { UsageBook } from '../../model/usage-book.ts';
import { isWithinStart } from '../../model/usage-profile.ts';
import type { UsagePoint, UsageSeries } from '../../model/usage-series.ts';
import type { UsageSettings, UsageTarget } from '../../model/usage-settings.ts';
import { percentilesOf, type WindowPercentiles } from '../../model/usage-window.ts';
import type { PodTimes } from './collector-port.ts';
import { type ReplicaPods, replicaPodsOf } from './replica-pods.ts';
import type { UsageAnswer, UsageProblem, UsageReading, UsageRequest, UsageSource } from './usage-source.ts';

/**
 * A series that begins this long after what was asked for belongs to a container that started then: its first samples
 * are those of a start-up, which count for memory only.
 */
const BEGINS_LATE_MILLIS: Millis = 120_000;
/** Exact windows are read anew this often in the course of one: every quarter of an hour for a day. */
const WINDOW_READS = 96;

/** What turns have in common. */
export interface CollectContext {
  readonly view: Pick<SizingView, 'podsOf' | 'pod' | 'workloadOf'>;
  readonly book: UsageBook;
  /** Of an instant source, by key of the workload: up to where each pod's samples were taken. Replaced by each turn. */
  readonly takenOfPods: Map<string, PodTimes>;
}

/** One workload, and whom it is asked of. */
interface Turn {
  readonly target: UsageTarget;
  readonly source: UsageSource;
  /** When the turn began: what is asked for ends there. */
  readonly now: EpochMillis;
  /** As they are when it begins: the answer is about these. */
  readonly pods: readonly SizedPod[];
  /** Of whom usage is remembered beside that of all. */
  readonly replicas: ReplicaPods;
}

/** Of an answer, what is the workload's own. */
interface OwnReading extends UsageReading {
  /** When containers started; undefined where nobody knows. */
  readonly startedAt: (pod: string, container: string) => EpochMillis | undefined;
}

/** What one turn came to. `samples` are those that are the workload's own; `isNew`: some of them were not known. */
export interface CollectResult {
  readonly problem: UsageProblem | undefined;
  readonly warnings: readonly string[];
  readonly isNew: boolean;
  readonly missing: readonly { readonly container: string; readonly resource: 'cpu' | 'memory' }[];
  readonly samples: number;
  /** Left out where the attempt failed. */
  readonly measured?: PodTimes;
}

/**
 * One attempt. Enters what was answered into the book, also where it is only a part. A failed answer leaves the book as
 * it is: a source that is down must not make usage fall. Rejects only with the signal's reason.
 */
export async function collectOne(
  context: CollectContext,
  asked: Pick<Turn, 'target' | 'source' | 'now'>,
  signal: AbortSignal,
): Promise<CollectResult> {
  const { target, source } = asked;
  const pods = context.view.podsOf(target.workload);
  const replicas = replicaPodsOf(target, pods);
  for (const replica of replicas.present) {
    context.book.see({ ...target.workload, ...replicaRef(target.workload, replica) }, target.settings, asked.now);
  }
  const turn: Turn = { ...asked, pods, replicas };
  const { request, isWholeWindow } = requestFor(context.book, turn);
  const answer: UsageAnswer = await source.fetch(request, signal);
  if (!answer.ok) return { problem: answer.problem, warnings: [], isNew: false, missing: [], samples: 0 };
  const series = answer.series.filter(({ pod }) => isOwn(context.view, target, pod));
  const reading = { ...answer, series, startedAt: startsOf(series, pods, request) };
  const taken = takenTo(context, turn, reading);
  const isNew = enter(context, turn, reading);
  if (source.kind === 'instant') context.takenOfPods.set(workloadKey(target.workload), taken);
  if (isWholeWindow) {
    for (const page of pagesOf(turn, reading)) setWindows(context, turn, page, request);
  }
  const running = pods.some(({ pod }) => isRunning(pod));
  const samples = series.reduce((sum, { cpu, memory }) => sum + cpu.length + memory.length, 0);
  return {
    problem: samples === 0 && running ? noData(target, source) : undefined,
    warnings: answer.warnings,
    isNew,
    missing: running ? missingOf(target, series) : [],
    samples,
    measured: taken,
  };
}

/** Up to where samples of each pod that is there are known with this answer; none of a pod that it says nothing of. */
function takenTo({ takenOfPods }: CollectContext, { target, pods }: Turn, { series }: OwnReading): PodTimes {
  const before = mapOf(takenOfPods.get(workloadKey(target.workload)));
  const taken = new Map<string, EpochMillis>();
  for (const { pod, cpu, memory } of series) {
    const at = Math.max(cpu.at(-1)?.at ?? 0, memory.at(-1)?.at ?? 0, taken.get(pod) ?? before.get(pod) ?? 0);
    taken.set(pod, at);
  }
  // Names as the pods have them: those of the answer would be kept beside them.
  const names = pods.flatMap(({ pod }) => (taken.has(pod.name) ? pod.name : []));
  return { pods: names, times: names.map((name) => taken.get(name) ?? 0) };
}

/** Asks for what came since the last turn; where exact windows are due, for the whole window. */
function requestFor(
  book: UsageBook,
  { target: { workload, settings }, source, now, pods, replicas }: Turn,
): { readonly request: UsageRequest; readonly isWholeWindow: boolean } {
  const earliest = now - settings.rollingWindowMillis;
  const containers = [
    ...new Set([...workload.containers, ...pods.flatMap(({ sizing }) => sizing.containers)].map(({ name }) => name)),
  ];
  const isWholeWindow = source.kind === 'range' && settings.needsWindow && isWindowOld(book, workload, settings, now);
  const readTo = book.readTo(workload);
  const ofReplicas = [...replicas.present].map((replica) => book.readTo(replicaRef(workload, replica)));
  // When replicas begin to be told apart, the past is asked for once; one that comes later has none to be asked for.
  const since = (resource: 'cpu' | 'memory'): EpochMillis => {
    if (isWholeWindow) return earliest;
    const known = ofReplicas.flatMap((own) => own[resource] ?? []);
    const isFirst = ofReplicas.length > 0 && known.length === 0;
    return Math.max(earliest, Math.min(isFirst ? earliest : (readTo[resource] ?? earliest), ...known));
  };
  const { kind, namespace, name } = workload;
  return {
    request: {
      workload: { kind, namespace, name },
      pods: pods.map(({ pod }) => pod.name),
      containers,
      from: { cpu: since('cpu'), memory: since('memory') },
      to: now,
    },
    isWholeWindow,
  };
}

/** The newest counts: a container that is never measured must not have all the others read anew at every turn. */
function isWindowOld(book: UsageBook, workload: SizedWorkload, settings: UsageSettings, now: EpochMillis): boolean {
  const ends = workload.containers.flatMap(({ name }) => book.windowOf(workload, name, now)?.to ?? []);
  return ends.length === 0 || now - Math.max(...ends) >= settings.rollingWindowMillis / WINDOW_READS;
}

/**
 * Names of pods are ambiguous: `web-api-x7k2p` could be of the Deployment `web`. A pod that is known decides; one that
 * is gone is believed to be the workload's, as the pattern is as narrow as names allow.
 */
function isOwn(view: CollectContext['view'], { workload }: UsageTarget, podName: string): boolean {
  const known = view.pod(workload.namespace, podName);
  if (known === undefined) return true;
  const owner = view.workloadOf(known.pod);
  return owner === undefined || owner.uid === workload.uid;
}

/** What one page of the book is given of an answer. */
interface PageReading {
  readonly ref: WorkloadRef;
  readonly reading: OwnReading;
}

/** The workload's page has all of the answer; that of a replica what its pods used. */
function pagesOf({ target: { workload }, replicas }: Turn, reading: OwnReading): readonly PageReading[] {
  const ofReplica = Map.groupBy(reading.series, ({ pod }) => replicas.replicaOf(pod));
  return [
    { ref: workload, reading },
    ...[...replicas.present].map((replica) => ({
      ref: replicaRef(workload, replica),
      reading: { ...reading, series: ofReplica.get(replica) ?? [] },
    })),
  ];
}

/** @returns whether the book took anything new. */
function enter({ book, takenOfPods }: CollectContext, turn: Turn, reading: OwnReading): boolean {
  const { target, source, now } = turn;
  const { workload, settings } = target;
  const pages = pagesOf(turn, reading);
  if (source.kind === 'range') {
    return pages.map((page) => book.take(page.ref, settings, page.reading, now)).some((isNew) => isNew);
  }
  const before = mapOf(takenOfPods.get(workloadKey(workload)));
  const takes = pages.map((page) => {
    const { series, startedAt } = page.reading;
    const readTo = { ...latest('cpu', series), ...latest('memory', series) };
    return book.take(page.ref, settings, { series, readTo, takenOf: (pod) => before.get(pod), startedAt }, now);
  });
  return takes.some((isNew) => isNew);
}

function mapOf(kept: PodTimes | undefined): ReadonlyMap<string, EpochMillis> {
  return new Map(kept?.pods.map((pod, index) => [pod, kept.times[index] ?? 0]));
}

function latest(resource: 'cpu' | 'memory', series: readonly UsageSeries[]): { cpu?: number; memory?: number } {
  const instants = series.flatMap((one) => one[resource].at(-1)?.at ?? []);
  return instants.length === 0 ? {} : { [resource]: Math.max(...instants) };
}

/** When containers started: by the pod's status, or where the pod is gone, by where its series begins. */
function startsOf(
  series: readonly UsageSeries[],
  pods: readonly SizedPod[],
  request: UsageRequest,
): OwnReading['startedAt'] {
  const known = new Map(pods.map((pod) => [pod.pod.name, pod]));
  const begins = new Map<string, EpochMillis>();
  for (const { pod, container, memory } of series) {
    const first = memory[0]?.at;
    if (first !== undefined && first - request.from.memory > BEGINS_LATE_MILLIS)
      begins.set(`${pod}/${container}`, first);
  }
  return (pod, container) => {
    const sized = known.get(pod);
    if (sized === undefined) return begins.get(`${pod}/${container}`);
    return sized.sizing.statuses.find(({ name }) => name === container)?.startedAt;
  };
}

/** Of one resource of one container. */
interface WindowSamples {
  readonly values: number[];
  since: EpochMillis | undefined;
}

/** Percentiles of all samples of the window; the start of a container counts for memory only. */
function setWindows(
  { book }: CollectContext,
  { target: { settings } }: Turn,
  { ref, reading }: PageReading,
  request: UsageRequest,
): void {
  const samples = new Map<string, Readonly<Record<'cpu' | 'memory', WindowSamples>>>();
  const none = (): WindowSamples => ({ values: [], since: undefined });
  const { startupExclusionMillis } = settings.profile;
  for (const { pod, container, cpu, memory } of reading.series) {
    const own = samples.get(container) ?? { cpu: none(), memory: none() };
    const start = reading.startedAt(pod, container);
    push(own.cpu, cpu, (at) => at > request.from.cpu && !isWithinStart(at, start, startupExclusionMillis));
    push(own.memory, memory, (at) => at > request.from.memory);
    samples.set(container, own);
  }
  for (const container of request.containers) {
    const before = book.windowOf(ref, container, request.to);
    const own = samples.get(container);
    // What could not be read keeps what was known; its age is told by the profile.
    const [cpu, cpuSince] =
      reading.readTo.cpu === undefined ? [before?.cpu, before?.since?.cpu] : figuresOf(own?.cpu ?? none());
    const [memory, memorySince] =
      reading.readTo.memory === undefined ? [before?.memory, before?.since?.memory] : figuresOf(own?.memory ?? none());
    if (cpu === undefined && memory === undefined && before === undefined) continue;
    const since = {
      ...(cpuSince !== undefined && { cpu: cpuSince }),
      ...(memorySince !== undefined && { memory: memorySince }),
    };
    book.setWindow(ref, container, { from: request.from.cpu, to: request.to, cpu, memory, since });
  }
}

function figuresOf({ values, since }: WindowSamples): [WindowPercentiles | undefined, EpochMillis | undefined] {
  return [percentilesOf(values), since];
}

function push(into: WindowSamples, points: readonly UsagePoint<number>[], isMeant: (at: EpochMillis) => boolean): void {
  for (const { at, value } of points) {
    if (!isMeant(at)) continue;
    into.values.push(value);
    into.since = Math.min(into.since ?? at, at);
  }
}

/** Containers of the template of which the answer had nothing, by resource: partial advice says so. */
function missingOf({ workload }: UsageTarget, series: readonly UsageSeries[]): CollectResult['missing'] {
  return workload.containers.flatMap(({ name }) => {
    const own = series.filter(({ container }) => container === name);
    return (['cpu', 'memory'] as const)
      .filter((resource) => own.every((one) => one[resource].length === 0))
      .map((resource) => ({ container: name, resource }));
  });
}

function noData({ workload }: UsageTarget, source: UsageSource): UsageProblem {
  return {
    reason: 'NoData',
    message: `${source.name} knows no usage of the containers of ${workloadText(workload)}, although pods run: check that its kubelet metrics carry the labels namespace, pod and container, and that pods of this namespace are measured`,
  };
}
