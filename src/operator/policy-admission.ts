/** Admission of policies, put together: what is known of policies and workloads behind the handler of the webhook. */

import type { PolicySpecLimits } from '../api/optimization-policy-check.ts';
import type { PolicyTenancy } from '../decide/rightsizing/policy-match.ts';
import type { PlacedSubject } from '../decide/rightsizing/policy-warnings.ts';
import type { Logger } from '../lib/log.ts';
import type { SizingView } from '../model/sizing-view.ts';
import type { PolicyStores } from '../observe/policy-stores.ts';
import type { BodyHandler } from '../webhook/server.ts';
import { createPolicyValidator, VALIDATE_POLICY_PATH } from '../webhook/validate-policy.ts';

export interface PolicyAdmissionOptions {
  readonly policies: Pick<PolicyStores, 'policies'>;
  readonly view: Pick<SizingView, 'workloads' | 'namespace'>;
  readonly limits: PolicySpecLimits;
  readonly tenancy: PolicyTenancy;
  readonly log: Logger;
}

/** Handlers by path, for the webhook's server. Every replica answers by itself: nothing is reserved. */
export function policyAdmission(options: PolicyAdmissionOptions): Readonly<Record<string, BodyHandler>> {
  const { policies, view, limits, tenancy } = options;
  const validate = createPolicyValidator({
    policies: () => policies.policies(),
    subjects: () => subjectsOf(view),
    limits,
    tenancy,
    log: options.log.child('webhook'),
  });
  return { [VALIDATE_POLICY_PATH]: (body) => validate(body) };
}

/** Workloads whose namespace is known. */
function* subjectsOf(view: PolicyAdmissionOptions['view']): Generator<PlacedSubject> {
  for (const workload of view.workloads()) {
    const namespace = view.namespace(workload.namespace);
    if (namespace !== undefined) yield { workload, namespace };
  }
}
