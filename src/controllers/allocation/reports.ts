/** Writes what passes found out into the statuses of PodAllocations, where it is news. */
import type { WriteAllocationStatus } from '../../act/allocation-status.ts';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import { type AllocationGuidance, type PodAllocationStatus, podAllocations } from '../../api/pod-allocation.ts';
import { OUTDATED_DEFINITION } from '../../api/pruned-field.ts';
import { sizeOf } from '../../decide/allocation/allocation-pod.ts';
import { quotaRoom } from '../../decide/allocation/integrations/resource-quota.ts';
import { readAllocation } from '../../decide/allocation/read-allocation.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import type { EpochMillis, Millicores, Millis } from '../../lib/units.ts';
import { parseOriginals } from '../../model/original-sizes.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import { createAllocatedRequests } from './allocated-requests.ts';
import type { AllocatedPod, AllocationFacts } from './facts.ts';
import { guidanceOf } from './guidance.ts';
import { isSameStatus, statusDigest, statusOf } from './outcome.ts';
import type { PodReport } from './pass.ts';
import type { QuietPods } from './quiet-pods.ts';
import type { AllocationSettings } from './settings.ts';

/** Statuses are read by agents (guidance), by people, and by the next leader: a write that changes nothing is none. */
export interface AllocationReports {
  /** Of one node, by its last pass. @returns whether all that is news was written. */
  write(reports: readonly PodReport[], signal: AbortSignal): Promise<boolean>;
  /** An allocation whose pod does not exist. */
  writeLost(record: AllocationRecord, signal: AbortSignal): Promise<boolean>;
}

export interface AllocationReportsOptions {
  readonly view: SizingView;
  readonly stores: AllocationStores;
  readonly facts: Pick<AllocationFacts, 'of'>;
  readonly quiet: Pick<QuietPods, 'note'>;
  readonly writeStatus: WriteAllocationStatus;
  readonly settings: () => AllocationSettings;
  /** What rightsizing advises the pod to request in all. */
  readonly adviceOf: (pod: SizedPod) => Millicores | undefined;
  readonly lastWriteAt: (podUid: string) => EpochMillis | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Watches that break are back within seconds. What is not known meanwhile is no news: where an API server ends, it would
 * be told of all pods of the cluster, and a moment later taken back.
 */
const PASSING: Millis = 15_000;

const podAllocationDefinition = `${podAllocations.plural}.${podAllocations.group}`;

/** A report with its pod as it is now. */
interface KnownReport extends PodReport {
  readonly known: AllocatedPod;
}

/** Read once: a record puts its spec together each time it is asked for it. */
type Spec = AllocationRecord['spec'];

export function createAllocationReports(options: AllocationReportsOptions): AllocationReports {
  const { view, stores, facts, settings, clock, log } = options;
  const allocatedRequests = createAllocatedRequests(options);
  let lastTrouble = '';
  /** By uid, what was written where the definition of the kind dropped a part of it: the object never shows it. */
  const pruned = new Map<string, string>();
  let lastPruned: string | undefined;
  const notePruned = (uid: string, digest: string, field: string): void => {
    pruned.set(uid, digest);
    if (field === lastPruned) return;
    lastPruned = field;
    log.warn({ definition: podAllocationDefinition, field }, OUTDATED_DEFINITION);
  };
  /** By uid of an allocation, since when what bounds its pod is not known. */
  const unknownSince = new Map<string, EpochMillis>();
  const isPassing = ({ record: { uid }, outcome }: PodReport, { isUnknown }: AllocationGuidance): boolean => {
    if (isUnknown !== true && !(outcome.kind === 'held' && outcome.reason === 'DataUnknown')) {
      unknownSince.delete(uid);
      return false;
    }
    const since = unknownSince.get(uid) ?? clock.now();
    unknownSince.set(uid, since);
    return clock.now() - since < PASSING;
  };
  stores.onChange((before, after) => {
    if (before === undefined || before.uid === after?.uid) return;
    pruned.delete(before.uid);
    unknownSince.delete(before.uid);
  });

  /** Nothing where the pod is gone: its allocation is lost then, and told so. */
  const withPod = (report: PodReport): KnownReport[] => {
    const { namespace, name, uid } = report.pod;
    const found = view.pod(namespace, name);
    return found?.pod.uid === uid ? [{ ...report, known: facts.of(found) }] : [];
  };

  /** Of each namespace the share of its allocated requests that is on this node, on the pod that tells it. */
  const quotaOf = (report: KnownReport, reports: readonly KnownReport[]) => {
    const { namespace, uid } = report.known.pod;
    const quotas = view.quotas(namespace);
    if (quotas.length === 0) return undefined;
    const here = reports.filter(({ known }) => known.pod.namespace === namespace);
    if (here.some(({ known }) => known.pod.uid < uid)) return undefined;
    const requested = (pods: readonly AllocatedPod['pod'][]): number =>
      pods.reduce((sum, pod) => sum + sizeOf(pod).request, 0);
    const all = allocatedRequests(namespace);
    const pods = here.map(({ known }) => known.pod);
    const share = requested(pods);
    return { room: quotaRoom(quotas, pods), nodeShare: all === 0 ? 1 : Math.min(1, share / all) };
  };

  const guidance = (
    report: KnownReport,
    spec: Spec,
    reports: readonly KnownReport[],
    advice: Millicores | undefined,
  ) => {
    const { known } = report;
    const text = known.pod.marks[sizingKeys.allocationOriginals];
    return guidanceOf({
      known,
      advice,
      original: text === undefined ? undefined : parseOriginals(text),
      noted: text === undefined ? undefined : tryParseMillicores(spec.originalCPURequest),
      quota: quotaOf(report, reports),
      rules: settings().rules,
      now: clock.now(),
    });
  };

  /** @returns whether the status said it before, says it now, or could not be written. */
  const put = async (
    record: AllocationRecord,
    make: (before: PodAllocationStatus) => PodAllocationStatus,
    signal: AbortSignal,
  ): Promise<'said' | 'written' | 'failed'> => {
    // The newest: a pass takes time, and what it found may have been told meanwhile.
    const current = stores.get(record.namespace, record.name);
    if (current?.uid !== record.uid) return 'written';
    const before = current.status;
    const status = make(before);
    if (isSameStatus(before, status)) return 'said';
    const dropped = pruned.get(record.uid);
    if (dropped !== undefined && dropped === statusDigest(status)) return 'said';
    const outcome = await options.writeStatus(record, status, signal);
    if (outcome.result === 'written' && outcome.pruned !== undefined)
      notePruned(record.uid, statusDigest(status), outcome.pruned);
    else pruned.delete(record.uid);
    const trouble = 'message' in outcome ? outcome.message : '';
    if (trouble !== '' && trouble !== lastTrouble) {
      log.warn({ allocation: `${record.namespace}/${record.name}`, error: trouble }, 'A status could not be written');
    }
    lastTrouble = trouble;
    return trouble === '' ? 'written' : 'failed';
  };

  return {
    async write(found, signal) {
      let isDone = true;
      const reports = found.flatMap(withPod);
      for (const report of reports) {
        signal.throwIfAborted();
        const { record, pod, outcome, sight, known } = report;
        const { spec } = record;
        const read = readAllocation({ spec });
        const advice = options.adviceOf(known.found);
        const guided = guidance(report, spec, reports, advice);
        if (isPassing(report, guided)) {
          isDone = false;
          continue;
        }
        const ended = await put(
          record,
          (before) =>
            statusOf({
              spec,
              generation: record.generation,
              outcome,
              desired: read.ok ? read.desired : undefined,
              known,
              guidance: guided,
              lastWriteAt: options.lastWriteAt(known.pod.uid),
              before,
              now: clock.now(),
            }),
          signal,
        );
        isDone &&= ended !== 'failed';
        if (ended === 'said' && sight !== undefined && known.found.pod === pod)
          options.quiet.note({ ...sight, pod, record, advice });
      }
      return isDone;
    },
    async writeLost(record, signal) {
      const { podName, podUID } = record;
      const which = podUID === undefined ? '' : ` with uid ${podUID}`;
      const message = `There is no pod ${record.namespace}/${podName}${which}`;
      const ended = await put(
        record,
        (before) =>
          statusOf({
            spec: record.spec,
            generation: record.generation,
            outcome: { kind: 'no-pod', message },
            desired: undefined,
            known: undefined,
            guidance: before.guidance,
            lastWriteAt: undefined,
            before,
            now: clock.now(),
          }),
        signal,
      );
      return ended !== 'failed';
    },
  };
}
