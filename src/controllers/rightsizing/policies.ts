/** What each policy's workloads came to, and the writing of it into the policy's status. */
import type { WritePolicyStatus } from '../../act/policy-status.ts';
import type { OptimizationPolicyStatus } from '../../api/optimization-policy-status.ts';
import { OUTDATED_DEFINITION } from '../../api/pruned-field.ts';
import type { PolicyFacts, Trouble } from '../../decide/rightsizing/policy-conditions.ts';
import { policyStatus, type StatusInput } from '../../decide/rightsizing/policy-status.ts';
import { type PolicyTie, tieWarning } from '../../decide/rightsizing/policy-warnings.ts';
import { worthOf } from '../../decide/rightsizing/savings.ts';
import { type UnreadCluster, unreadConditions } from '../../decide/rightsizing/unread-conditions.ts';
import { isWorthWriting } from '../../decide/rightsizing/worth-writing.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { isValidPolicy, type PolicyRecord, type ValidPolicy } from '../../model/optimization-policy.ts';
import type { PolicyHealth, UsageCollector } from '../../observe/usage/collector-port.ts';
import type { WorkloadResult } from './result.ts';
import { createResultStore, entryOf, type ResultStore } from './result-store.ts';
import { UNSEEN_MILLIS } from './written-annotations.ts';

/** What is known of one policy. */
export interface PolicyBook {
  /** By workload key. */
  readonly results: ResultStore;
  /** Workloads the policy is about, by kind, as of the last pass. */
  discovered: Readonly<Record<string, number>>;
  /** How many of these no other policy sizes, as of the last pass. */
  owned: number;
  /** Another policy of the same weight is about one of these, as of the last pass. */
  tie?: PolicyTie | undefined;
}

/** Of all policies, by uid: one that is made anew under the same name begins with an empty book. */
export interface PolicyBooks {
  /** An empty one, which is not kept, of a policy that is gone: a pass over it may still be under way. */
  of(uid: string): PolicyBook;
  forget(uid: string): void;
  /** Writes the status if it says something new. @throws StatusWriteError where it could not be written. */
  write(policy: PolicyRecord, signal: AbortSignal): Promise<void>;
  /** Says in the conditions that the cluster cannot be read, and leaves the rest as it is. Throws as `write` does. */
  writeUnread(policy: PolicyRecord, unread: UnreadCluster, signal: AbortSignal): Promise<void>;
}

/** The status could not be written: worth a retry with back-off. */
export class StatusWriteError extends Error {
  override readonly name = 'StatusWriteError';
  readonly code = 'STATUS_NOT_WRITTEN';
}

export interface PolicyBooksOptions {
  /** The cluster has a policy of this uid. */
  readonly isThere: (uid: string) => boolean;
  readonly writeStatus: WritePolicyStatus;
  readonly dryRun: () => boolean;
  /** What is valid in it and yet rarely meant. */
  readonly warningsOf: (policy: ValidPolicy) => readonly string[];
  /** How usage is collected for a policy; undefined where it is for none of its workloads. */
  readonly healthOf: UsageCollector['healthOf'];
  readonly clock: Clock;
  readonly log: Logger;
}

interface WrittenStatus {
  readonly status: OptimizationPolicyStatus;
  readonly at: EpochMillis;
  /** The definition of the kind is older than this version and dropped a part of it. */
  readonly isPruned: boolean;
}

export function createPolicyBooks({
  isThere,
  writeStatus,
  dryRun,
  warningsOf,
  healthOf,
  clock,
  log,
}: PolicyBooksOptions): PolicyBooks {
  const books = new Map<string, PolicyBook>();
  /** The field that a definition dropped, as it was told last. */
  let lastPruned: string | undefined;
  /** What was written last, and when: the cache may show it only later, and never what was dropped of it. */
  const written = new Map<string, WrittenStatus>();
  /** What the object has now. */
  const presentOf = ({ uid, status }: PolicyRecord): OptimizationPolicyStatus => {
    const last = written.get(uid);
    if (last !== undefined && (last.isPruned || clock.now() - last.at < UNSEEN_MILLIS)) return last.status;
    written.delete(uid);
    return status;
  };
  const of = (uid: string): PolicyBook => {
    const known = books.get(uid);
    if (known !== undefined) return known;
    const fresh: PolicyBook = { results: createResultStore(), discovered: {}, owned: 0 };
    if (isThere(uid)) books.set(uid, fresh);
    return fresh;
  };
  const put = async (policy: PolicyRecord, status: OptimizationPolicyStatus, signal: AbortSignal): Promise<void> => {
    const outcome = await writeStatus(policy, status, signal);
    if (outcome.result === 'written') {
      const { pruned } = outcome;
      written.set(policy.uid, { status, at: clock.now(), isPruned: pruned !== undefined });
      if (pruned !== undefined && pruned !== lastPruned) {
        lastPruned = pruned;
        log.warn({ definition: `optimizationpolicies.${policy.group}`, field: lastPruned }, OUTDATED_DEFINITION);
      }
    }
    if (outcome.result === 'forbidden' || outcome.result === 'failed') {
      const { namespace, name } = policy;
      log.warn({ namespace, policy: name, error: outcome.message }, 'The status of a policy could not be written');
      throw new StatusWriteError(outcome.message);
    }
  };
  return {
    of,
    forget(uid) {
      books.delete(uid);
      written.delete(uid);
    },
    async write(policy, signal) {
      const now = clock.now();
      const before = presentOf(policy);
      const input = isValidPolicy(policy)
        ? inputOf(of(policy.uid), {
            mode: policy.spec.mode,
            dryRun: dryRun(),
            warnings: [...warningsOf(policy), ...tieOf(policy, of(policy.uid))],
            fallback: healthOf(policy)?.fallback,
          })
        : undefined;
      const status = policyStatus({ ...policy, status: before }, input, now);
      if (isValidPolicy(policy) && policy.spec.mode === 'Disabled') keepWorkloads(status, before);
      if (isWorthWriting(before, status, now)) await put(policy, status, signal);
    },
    async writeUnread(policy, unread, signal) {
      const before = presentOf(policy);
      const conditions = unreadConditions(policy, unread, before.conditions ?? [], clock.now());
      // Nothing was looked at, so the time of the last look is no reason to write.
      const { lastReconciliation: _, ...present } = before;
      if (isWorthWriting(present, { ...present, conditions }, clock.now()))
        await put(policy, { ...before, conditions }, signal);
    },
  };
}

/** History: what a disabled policy knew of its workloads stays to be read. */
function keepWorkloads(status: OptimizationPolicyStatus, { workloads, workloadsOmitted }: OptimizationPolicyStatus) {
  if (workloads !== undefined) status.workloads = workloads;
  if (workloadsOmitted !== undefined) status.workloadsOmitted = workloadsOmitted;
}

interface PolicyNow extends Required<Pick<PolicyFacts, 'mode' | 'dryRun' | 'warnings'>> {
  readonly fallback: PolicyHealth['fallback'];
}

function inputOf({ results, discovered, owned }: PolicyBook, { fallback, ...now }: PolicyNow): StatusInput {
  const all = [...results.values()];
  const troubleOf = (cause: (result: WorkloadResult) => string | undefined): Trouble[] =>
    all.flatMap((result) => {
      const { kind, namespace, name } = result.entry;
      const found = cause(result);
      return found === undefined ? [] : [{ workload: { kind, namespace, name }, cause: found }];
    });
  const withUsage = all.filter(({ hasUsage }) => hasUsage).length;
  const unread = troubleOf(({ metricsProblem }) => metricsProblem);
  return {
    discovered,
    processed: all.filter(({ failure }) => failure === undefined).length,
    facts: {
      ...now,
      owned: Math.max(owned, all.length),
      withUsage,
      metricsProblem: unread[0],
      fallback: fallback && { provider: fallback.provider, cause: fallback.because.message },
      stale: troubleOf(partlyStale)[0],
      forbidden: troubleOf(({ forbidden }) => forbidden)[0],
      failing: troubleOf(({ failure }) => failure),
      ineffective: troubleOf(({ entry: { reason, message = reason } }) =>
        reason === 'ChangesIneffective' ? message : undefined,
      ),
    },
    workloads: all.map((result) => ({ of: result.entry, worth: worthOf(result.saving), entry: () => entryOf(result) })),
  };
}

function tieOf({ spec }: ValidPolicy, { tie }: PolicyBook): readonly string[] {
  return tie === undefined ? [] : [tieWarning(spec.weight, tie)];
}

/** What is not read any more, where the other resource of the same container is. */
function partlyStale({ advice }: WorkloadResult): string | undefined {
  for (const { container, cpu, memory } of advice) {
    if (cpu.held === 'Stale' && memory.target !== undefined) return `CPU of container ${container}`;
    if (memory.held === 'Stale' && cpu.target !== undefined) return `memory of container ${container}`;
  }
  return undefined;
}
