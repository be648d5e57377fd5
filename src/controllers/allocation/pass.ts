/**
 * One pass over a node: every allocation is judged on what holds at that moment and sent at once, decreases first, so a
 * raise is only ever asked for into what is free by what scheduler and kubelet charge. Raises that do not fit wait for
 * the next pass.
 */

import type { Events } from '../../act/events.ts';
import type { ForgetOriginals } from '../../act/restore.ts';
import type { AllocationClamp } from '../../api/pod-allocation.ts';
import { type Admission, admitAllocation } from '../../decide/allocation/admit.ts';
import { sizeOf } from '../../decide/allocation/allocation-pod.ts';
import { type ReadAllocation, readAllocation } from '../../decide/allocation/read-allocation.ts';
import { planRestore } from '../../decide/restore-size.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import { ascending } from '../../lib/ascending.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { hasEnded } from '../../model/owners.ts';
import type { PodRecord } from '../../model/records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import { createInterner } from '../../observe/intern.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import type { AllocationActuator, AllocationAttempt } from './actuator.ts';
import type { AllocationAgents } from './agents.ts';
import type { AllocatedPod, AllocationFacts } from './facts.ts';
import { type AllocationOutcome, clampsOf, clampText } from './outcome.ts';
import type { QuietPods, Sight } from './quiet-pods.ts';
import { type CpuGrowth, cpuGrowth, type QuotaReading, type QuotaReadings, READING_LIFE } from './quota-readings.ts';
import { createMissing, createReturns, type RestoreCause, restoreCause } from './restore.ts';
import type { AllocationSettings } from './settings.ts';
import { tellLasting } from './tell-lasting.ts';

/**
 * What a pass found out about one pod with an allocation. Thousands wait to be written at times: the pod is looked up
 * again then.
 */
export interface PodReport {
  readonly record: AllocationRecord;
  readonly pod: PodRecord;
  readonly outcome: AllocationOutcome;
  /** Where the pod has what is wanted, until one of these changes. */
  readonly sight: Sight | undefined;
}

/** What is left to say and to do after one pass. */
export interface PassReport {
  /** Without those that are quiet. */
  readonly pods: readonly PodReport[];
  /** Look again after this time at the latest. */
  readonly againAfterMillis: Millis | undefined;
}

/** Passes over one node must not overlap; over different nodes they may. */
export interface AllocationPass {
  over(nodeName: string, signal: AbortSignal): Promise<PassReport>;
  forget(podUid: string): void;
}

export interface AllocationPassOptions {
  readonly view: SizingView;
  readonly stores: AllocationStores;
  readonly agents: AllocationAgents;
  readonly facts: AllocationFacts;
  readonly actuator: AllocationActuator;
  readonly quiet: Pick<QuietPods, 'awake' | 'sightOf'>;
  readonly isResizing: (podUid: string) => boolean;
  readonly quotaReadings: QuotaReadings;
  readonly forgetOriginals: ForgetOriginals;
  readonly settings: () => AllocationSettings;
  readonly events: Pick<Events, 'onPod'>;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Time alone helps where a guard objects without saying how long. */
const LOOK_AGAIN: Millis = 5000;

interface Candidate {
  readonly record: AllocationRecord;
  readonly known: AllocatedPod;
  readonly read: ReadAllocation;
  /** The node whose agent wrote it; undefined for objects of MBCAS. */
  readonly writtenBy: string | undefined;
}

/** Outcomes that are told alike. */
const MAX_SHARED = 500;

export function createAllocationPass(options: AllocationPassOptions): AllocationPass {
  const { view, stores, agents, facts, actuator, quiet, quotaReadings, settings, events, metrics, clock } = options;
  const missing = createMissing();
  const returns = createReturns();
  // Most pods fare alike, and thousands of reports may wait to be written: equal outcomes are one.
  const outcomes = createInterner<AllocationOutcome>(MAX_SHARED);

  const attempt = async (
    { known, record }: Candidate,
    { decision, clamps }: Extract<Admission, { kind: 'resize' }>,
    signal: AbortSignal,
  ): Promise<AllocationOutcome> => {
    const told = withRules(decision, clampsOf(record.spec, clamps));
    const outcome = outcomeOf(await actuator.send(told, signal), known, clamps);
    if (outcome.kind === 'asked') {
      for (const { reason } of clamps) metrics.inc('mbcas_controller_clamp_total', { reason });
    }
    return outcome;
  };

  const judge = async (candidate: Candidate, signal: AbortSignal): Promise<AllocationOutcome> => {
    const { known, read } = candidate;
    if (!read.ok) return { kind: 'invalid', message: read.message };
    const foreign = ofForeignNode(candidate);
    if (foreign !== undefined) return foreign;
    // One at a time a pod: the latest size wins, and would hide how the earlier one ended (kubernetes#125205).
    if (options.isResizing(known.pod.uid)) return { kind: 'asked', clamps: [] };
    const { namespace } = known.pod;
    const admit = (reading: QuotaReading): Admission => admitAllocation(read.desired, facts.admission(known, reading));
    const quotas = facts.quotas(namespace);
    // By what is known here first: most are settled, and quotas need not be read for them.
    const first = admit({ quotas, unseen: NOTHING_UNSEEN });
    if (first.kind !== 'resize') return first;
    const isLimited = quotas !== undefined && quotas.length > 0;
    if (!isLimited || first.decision.isWithdrawal === true || !isRaise(growthIn(first.decision, known))) {
      return await attempt(candidate, first, signal);
    }
    const block = actuator.objection(first.decision);
    if (block !== undefined) return outcomeOf({ kind: 'blocked', block }, known, first.clamps);
    const second = admit(await quotaReadings.of(namespace, signal));
    if (second.kind === 'resize') {
      quotaReadings.note(known.pod, growthIn(second.decision, known));
      return await attempt(candidate, second, signal);
    }
    // The view has room where the server has none: it will have heard by then.
    return second.kind === 'held' && second.reason === 'QuotaExceeded'
      ? { ...second, retryAfterMillis: READING_LIFE }
      : second;
  };

  /** @returns whether the pod is being given back, so that nobody sizes it meanwhile. */
  const restore = async (known: AllocatedPod, cause: RestoreCause, signal: AbortSignal): Promise<boolean> => {
    const { found, node, workload, pod } = known;
    if (options.isResizing(pod.uid)) return true;
    const plan = planRestore(found, 'allocation', node, workload);
    if (plan.kind === 'unreadable') return false;
    if (plan.kind === 'unknown') return true;
    if (plan.kind === 'nothing') {
      if (!plan.isKept) return false;
      const forgotten = await options.forgetOriginals(pod, 'allocation', signal);
      if (forgotten.result === 'restored') metrics.inc('mbcas_controller_restore_total', { cause });
      return true;
    }
    await actuator.send(plan.decision, signal);
    return true;
  };

  /** Gives back what is due on the node. @returns uids of those, which are nobody's to size now. */
  const restoreDue = async (
    pods: readonly AllocatedPod[],
    nodeName: string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> => {
    const { rules, staleMillis, size } = settings();
    const isBack = returns.isBack(view.node(nodeName), clock.now());
    const isAgentGone = isBack && agents.stateOf(nodeName) === 'gone';
    const due = new Set<string>();
    for (const known of pods) {
      const { pod } = known;
      // Those before it were given back, which takes time: of one that has gone meanwhile nothing is to be noted.
      if (view.pod(pod.namespace, pod.name)?.pod.uid !== pod.uid) continue;
      const hasAllocation = stores.of(pod) !== undefined;
      const missingMillis = missing.millisFor(pod.uid, hasAllocation, clock.now());
      const cause = restoreCause({ known, hasAllocation, isAgentGone, rules });
      if (cause === undefined || size.dryRun || size.readOnly) continue;
      if (cause === 'no-allocation' && (!stores.isFresh() || missingMillis < staleMillis)) continue;
      if (cause === 'agent-gone') {
        events.onPod(pod, { reason: 'AgentGone', message: renderReason('AgentGone', { node: nodeName }), lasts: true });
      }
      if (await restore(known, cause, signal)) due.add(pod.uid);
    }
    return due;
  };

  return {
    async over(nodeName, signal) {
      const running = view.podsOnNode(nodeName).filter(({ pod }) => !hasEnded(pod));
      const pods = quiet.awake(nodeName, running).map(facts.of);
      // First: what pods give back is room for the raises below.
      const restored = await restoreDue(pods, nodeName, signal);
      const candidates = pods
        .flatMap((known): Candidate[] => {
          const record = stores.of(known.pod);
          if (record === undefined) return [];
          return [{ record, known, read: readAllocation(record), writtenBy: record.nodeName }];
        })
        // A total order, so that two passes over the same state ask for the same things in the same order.
        .sort((left, right) => growthOf(left) - growthOf(right) || ascending(left.known.pod.uid, right.known.pod.uid));
      const reports: PodReport[] = [];
      for (const candidate of candidates) {
        signal.throwIfAborted();
        const { record } = candidate;
        const { namespace, name, uid } = candidate.known.pod;
        // Writes take time: what is decided now stands on what is known now.
        const found = view.pod(namespace, name);
        if (found?.pod.uid !== uid) continue;
        const known = facts.of(found);
        const sight = quiet.sightOf(known);
        const outcome: AllocationOutcome = restored.has(uid)
          ? { kind: 'held', reason: 'Stale', message: 'The pod gets back what it had', retryAfterMillis: undefined }
          : await judge({ ...candidate, known }, signal);
        tellLasting(events, known, outcome);
        reports.push({
          record,
          pod: found.pod,
          outcome: outcomes.intern(outcome),
          sight: outcome.kind === 'settled' ? sight : undefined,
        });
      }
      const waits = reports.flatMap(({ outcome }) => waitOf(outcome) ?? []);
      return { pods: reports, againAfterMillis: waits.length === 0 ? undefined : Math.min(...waits) };
    },
    forget: missing.forget,
  };
}

/** Admission holds agents to their node, and cannot see which node a pod is on (adr/0028). */
function ofForeignNode({ known, writtenBy }: Candidate): AllocationOutcome | undefined {
  const { nodeName } = known.found.pod;
  if (writtenBy === undefined || writtenBy === nodeName) return undefined;
  const message = `The allocation is of the agent of node ${writtenBy}, the pod is on ${nodeName}: it is not obeyed`;
  return { kind: 'held', reason: 'ForeignNode', message, retryAfterMillis: undefined };
}

/** Millicores of request it would gain; negative where it gives some back. */
function growthOf({ known, read }: Candidate): number {
  if (!read.ok) return 0;
  const { request, limit } = sizeOf(known.pod);
  const growth = read.desired.request - request;
  // Equal requests: a limit that falls before one that rises.
  return growth === 0 && limit !== undefined ? Math.sign(read.desired.limit - limit) / 2 : growth;
}

/** For the journal, which keeps the figures behind each resize. */
function withRules(decision: ResizeDecision, clamps: readonly AllocationClamp[]): ResizeDecision {
  if (clamps.length === 0) return decision;
  const { why } = decision;
  return { ...decision, why: { ...why, numbers: { ...why.numbers, rules: clampText(clamps) } } };
}

/** What the view has is all there is to know. */
const NOTHING_UNSEEN: QuotaReading['unseen'] = new Map();

const growthIn = ({ changes }: ResizeDecision, { found }: AllocatedPod): CpuGrowth =>
  cpuGrowth(found.sizing.containers, changes);
const isRaise = ({ cpuRequest, cpuLimit }: CpuGrowth): boolean => cpuRequest > 0 || cpuLimit > 0;

function outcomeOf(
  attempt: AllocationAttempt,
  { pod }: AllocatedPod,
  clamps: Extract<Admission, { kind: 'resize' }>['clamps'],
): AllocationOutcome {
  switch (attempt.kind) {
    case 'asked':
      return { kind: 'asked', clamps };
    case 'blocked':
      return { kind: 'blocked', reason: attempt.block.reason, message: attempt.block.message };
    case 'gone':
      return { kind: 'no-pod', message: `There is no pod ${pod.namespace}/${pod.name} with uid ${pod.uid}` };
    case 'refused': {
      const { reason, message, action } = attempt.answer;
      const isForNow = action === 'wait' || action === 'retry';
      return { kind: 'refused', reason: reason === 'ResizeQuotaDenied' ? 'QuotaExceeded' : reason, message, isForNow };
    }
  }
}

function waitOf(outcome: AllocationOutcome): Millis | undefined {
  if (outcome.kind === 'held') return outcome.retryAfterMillis;
  return outcome.kind === 'blocked' || outcome.kind === 'refused' ? LOOK_AGAIN : undefined;
}
