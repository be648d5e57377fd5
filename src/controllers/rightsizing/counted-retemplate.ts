/** Asks for another template of a workload: each attempt is counted, and fields that were taken from others are told. */
import type { RetemplateDecision } from '../../decide/size-decision.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { SizeActuator } from './actuator.ts';
import type { ApplyContext } from './apply.ts';
import type { RightsizingParts } from './parts.ts';
import type { AttemptOutcome } from './result.ts';

export interface CountedRetemplateOptions extends Pick<RightsizingParts, 'events' | 'metrics'> {
  readonly actuator: Pick<SizeActuator, 'retemplate'>;
}

export type CountedRetemplate = (
  context: Pick<ApplyContext, 'advised' | 'policy' | 'signal'>,
  decision: RetemplateDecision,
) => Promise<AttemptOutcome>;

export function createCountedRetemplate({ actuator, events, metrics }: CountedRetemplateOptions): CountedRetemplate {
  return async ({ advised, policy, signal }, decision) => {
    const { kind, namespace, name } = decision.workload;
    const attempt = await actuator.retemplate(decision, policy.spec, signal);
    if (attempt.kind !== 'blocked') {
      const status = attempt.kind === 'asked' ? 'success' : 'failure';
      const type = decision.useServerSideApply ? 'ServerSideApply' : 'StrategicMergePatch';
      const labels = { policy: policy.name, namespace, workload: name, kind, status, patch_type: type };
      metrics.inc('optipod_ssa_patch_total', labels);
    }
    if (attempt.kind === 'asked' && attempt.tookFrom.length > 0) {
      const previous = attempt.tookFrom.join(', ');
      const message = renderReason('SSAOwnershipTaken', { kind, namespace, name, previous });
      events.onWorkload(advised.workload, { reason: 'SSAOwnershipTaken', message });
    }
    return attempt;
  };
}
