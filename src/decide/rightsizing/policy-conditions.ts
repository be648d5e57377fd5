/**
 * The conditions of a policy: what a person has to know of it at a glance. OptiPod has `Ready` alone, which stays True
 * while usage cannot be read or rights are missing (defects B13, B14). Properties 7, 28 and 29.
 */
import type { PolicyCondition } from '../../api/optimization-policy-status.ts';
import { describeReason, type Reason, reason } from '../../lib/reasons.ts';
import { shortened } from '../../lib/shortened.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type WorkloadRef, workloadText } from '../../model/cluster-view.ts';
import { policyCondition } from './policy-condition.ts';

/** A workload that something is wrong with. */
export interface Trouble {
  readonly workload: WorkloadRef;
  readonly cause: string;
}

export interface PolicyFacts {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  /** Of an invalid policy; empty for a valid one. */
  readonly problems: readonly string[];
  /** What is valid and yet rarely meant, a sentence each; left out, nothing. */
  readonly warnings?: readonly string[];
  readonly mode: string;
  readonly dryRun: boolean;
  /** Workloads the policy has the say over: those that another policy sizes are not its business. */
  readonly owned: number;
  /** Of these, the ones with usage of at least one container. */
  readonly withUsage: number;
  /** The source of usage cannot be read; its sentence. */
  readonly metricsProblem: Trouble | undefined;
  /** The source in use instead of the policy's own, and why that cannot be. Left out: it is the policy's own. */
  readonly fallback?: { readonly provider: string; readonly cause: string } | undefined;
  /**
   * One resource of a container is not read any more while the other is (rightsizing bug 4): that is no workload at
   * rest. `cause` names both.
   */
  readonly stale?: Trouble | undefined;
  readonly forbidden: Trouble | undefined;
  readonly failing: readonly Trouble[];
  /** Several changes in a row changed nothing, so that no more are made for a while (rightsizing bug 9). */
  readonly ineffective?: readonly Trouble[];
}

/**
 * All six of a valid policy, in a fixed order; of an invalid one `Ready` alone, as nothing else is looked at.
 * @param previous what the object has now.
 */
export function policyConditions(
  facts: PolicyFacts,
  previous: readonly PolicyCondition[],
  now: EpochMillis,
): PolicyCondition[] {
  const frame = { generation: facts.generation, previous, now };
  const condition = (type: PolicyCondition['type'], isTrue: boolean, why: Reason): PolicyCondition => {
    const isWell = isTrue === isGood(type) && describeReason(why.name).eventType === 'Normal';
    return policyCondition({ type, isTrue, why, isWell }, frame);
  };
  const [problem] = facts.problems;
  if (problem !== undefined) {
    const { namespace, name } = facts;
    return [
      condition('Ready', false, reason('ValidationFailed', { namespace, name, cause: facts.problems.join('; ') })),
    ];
  }
  const { mode, dryRun, owned, withUsage, metricsProblem, stale, forbidden, failing, ineffective = [] } = facts;
  // Nobody asks for the usage of what a disabled policy shields.
  const measured = mode === 'Disabled' ? 0 : owned;
  const isMeasured = metricsProblem === undefined && stale === undefined && (withUsage > 0 || measured === 0);
  const [example] = failing;
  const [idle] = ineffective;
  return [
    readyWith(facts.warnings ?? [], condition('Ready', true, reason('PolicyValid', { count: owned }))),
    condition('MetricsAvailable', isMeasured, metricsReason(facts, measured)),
    condition('DryRun', dryRun, dryRun ? reason('DryRunActive', {}) : reason('Acting', { mode })),
    condition(
      'PermissionsSufficient',
      forbidden === undefined,
      forbidden === undefined
        ? reason('PermissionsGranted', {})
        : reason('RBACError', { ...forbidden.workload, cause: forbidden.cause }),
    ),
    condition(
      'Degraded',
      example !== undefined,
      example === undefined
        ? reason('AllWell', {})
        : reason('WorkloadsFailing', {
            count: failing.length,
            example: `${workloadText(example.workload)} (${example.cause})`,
          }),
    ),
    condition(
      'ActuationIneffective',
      idle !== undefined,
      idle === undefined
        ? reason('ActuationEffective', {})
        : reason('ActuationIneffective', {
            count: ineffective.length,
            example: `${workloadText(idle.workload)} (${idle.cause})`,
          }),
    ),
  ];
}

/** Where the webhook is not installed, or was not asked, nobody else tells. */
function readyWith(warnings: readonly string[], ready: PolicyCondition): PolicyCondition {
  const told = warnings.map((warning) => shortened(warning, LONGEST_WARNING));
  return { ...ready, message: [ready.message, ...told].join('; ') };
}

/**
 * A warning may name every namespace of a cluster, and with a message of more than 32 KiB the whole status is refused
 * (metav1.Condition), each time.
 */
const LONGEST_WARNING = 1_000;

function metricsReason({ metricsProblem, stale, fallback, withUsage }: PolicyFacts, measured: number): Reason {
  if (metricsProblem !== undefined)
    return reason('MetricsCollectionFailed', { ...metricsProblem.workload, cause: metricsProblem.cause });
  if (withUsage === 0 && measured > 0) return reason('NoData', { what: 'any workload' });
  if (stale !== undefined) return reason('Stale', { what: `${stale.cause} of ${workloadText(stale.workload)}` });
  if (fallback !== undefined) return reason('UsageFromFallback', fallback);
  return reason('UsageKnown', { known: withUsage, count: measured });
}

/** What is well when True; the others are well when False. */
function isGood(type: PolicyCondition['type']): boolean {
  return type !== 'DryRun' && type !== 'Degraded' && type !== 'ActuationIneffective';
}
