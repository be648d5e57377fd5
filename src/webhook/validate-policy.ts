/**
 * Admission of OptimizationPolicies: refuses what the operator could not work with, and warns of what is rarely meant.
 * It never stands in the way otherwise: on trouble of its own it allows, for the operator checks every policy once more
 * when it reads it.
 */
import { isDeepStrictEqual } from 'node:util';
import { type OptimizationPolicy, type PolicyGroup, policyGroups } from '../api/optimization-policy.ts';
import type { PolicySpecLimits } from '../api/optimization-policy-check.ts';
import type { PolicyTenancy } from '../decide/rightsizing/policy-match.ts';
import { type PlacedSubject, policyWarnings, tiesOf, tieWarning } from '../decide/rightsizing/policy-warnings.ts';
import { describeError } from '../lib/errors.ts';
import { isRecord } from '../lib/is-record.ts';
import type { Logger } from '../lib/log.ts';
import { isValidPolicy, type PolicyRecord, parsePolicy, type ValidPolicy } from '../model/optimization-policy.ts';
import { type HttpAnswer, problemAnswer } from './http-answer.ts';
import { type AdmissionRequest, encodeAnswer, encodeDenial, parseReview } from './review.ts';
import { toWarning } from './warning.ts';

export const VALIDATE_POLICY_PATH = '/validate-optimizationpolicy';

export interface PolicyValidatorOptions {
  /** Those that are known, for ties. */
  readonly policies: () => readonly PolicyRecord[];
  /** Workloads that are known, for ties. */
  readonly subjects: () => Iterable<PlacedSubject>;
  readonly limits?: PolicySpecLimits | undefined;
  readonly tenancy: PolicyTenancy;
  readonly log: Logger;
}

type Verdict = { readonly denial: string } | { readonly warnings: readonly string[] };

/** Ties beyond this are counted, not named. */
const MAX_TIES = 3;

/** Answers the body of a POST to {@link VALIDATE_POLICY_PATH}. */
export function createPolicyValidator(options: PolicyValidatorOptions): (body: string) => HttpAnswer {
  const { log } = options;
  return (body) => {
    const review = parseReview(body);
    if (!review.ok) return problemAnswer(400, review.code, review.message);
    const { apiVersion, request } = review;
    let verdict: Verdict;
    try {
      verdict = judge(request, options);
    } catch (error) {
      log.error({ error: describeError(error) }, 'A policy could not be checked at admission and was let through');
      verdict = { warnings: [] };
    }
    const answer =
      'denial' in verdict
        ? encodeDenial(apiVersion, request.uid, verdict.denial)
        : encodeAnswer(apiVersion, request.uid, {
            warnings: verdict.warnings.map((warning) => toWarning('optipod', warning)),
          });
    return { status: 200, body: answer };
  };
}

function judge(request: AdmissionRequest, options: PolicyValidatorOptions): Verdict {
  const { kind, operation, object, oldObject } = request;
  const group = policyGroups.find((known) => known === kind.group);
  const isOurs = group !== undefined && kind.kind === 'OptimizationPolicy' && request.subResource === '';
  if (!isOurs || (operation !== 'CREATE' && operation !== 'UPDATE') || !isObject(object)) return { warnings: [] };
  const policy = parsePolicy(group, object, options.limits);
  if (isValidPolicy(policy)) return { warnings: warningsOf(policy, options) };
  // Finalizers and labels of a policy that is invalid already must stay changeable, or it could never be removed.
  const isUntouched = isObject(oldObject) && isDeepStrictEqual(object.spec, oldObject.spec);
  if (isUntouched || policy.deleting) return { warnings: policy.problems };
  return { denial: `OptimizationPolicy ${JSON.stringify(policy.name)} is invalid: ${policy.problems.join('; ')}` };
}

function warningsOf(policy: ValidPolicy, { policies, subjects, tenancy }: PolicyValidatorOptions): string[] {
  // A policy that is being created has no uid yet, or one that no other has.
  const others = policies()
    .filter(isValidPolicy)
    .filter((other) => !isSamePolicy(other, policy));
  const ties = tiesOf(policy, others, subjects(), tenancy);
  const told = ties.slice(0, MAX_TIES).map((tie) => tieWarning(policy.spec.weight, tie));
  const more = ties.length - told.length;
  return [
    ...policyWarnings(policy, tenancy),
    ...told,
    ...(more > 0
      ? [`${more} more policies have weight ${policy.spec.weight} and select some of the same workloads`]
      : []),
  ];
}

function isSamePolicy(a: { group: PolicyGroup; namespace: string; name: string }, b: typeof a): boolean {
  return a.group === b.group && a.namespace === b.namespace && a.name === b.name;
}

/** All its fields may be missing, and {@link parsePolicy} checks what they are. */
function isObject(value: unknown): value is OptimizationPolicy {
  return isRecord(value);
}
