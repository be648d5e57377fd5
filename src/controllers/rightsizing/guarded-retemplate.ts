/** Changes the template of a workload, which rolls it out: asks the guards, and takes a place of the budget. */
import type { RetemplateDecision } from '../../decide/size-decision.ts';
import { hasPlace } from '../../guard/size/context.ts';
import { inspectSize } from '../../guard/size/inspect-size.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { DisruptionTurns } from '../disruption-turns.ts';
import type { SizeActuatorOptions, SizeContext } from './actuator.ts';
import { askForTurn } from './budget-turn.ts';
import type { ResizeLessons } from './resize-lessons.ts';
import type { AttemptOutcome } from './result.ts';

export interface GuardedRetemplateOptions
  extends Pick<SizeActuatorOptions, 'disruptions' | 'history' | 'retemplate' | 'clock'> {
  readonly contextFor: SizeContext;
  readonly lessons: Pick<ResizeLessons, 'noteNewTemplate'>;
}

export interface GuardedRetemplate {
  /** The place of the budget is kept until the view shows the rollout ended. */
  retemplate(decision: RetemplateDecision, spec: PolicySpec, signal: AbortSignal): Promise<AttemptOutcome>;
  /** Asks the guards only, and reserves a place. `asked`: nothing objects. */
  tryRetemplate(decision: RetemplateDecision, spec: PolicySpec): AttemptOutcome;
}

export function createGuardedRetemplate(options: GuardedRetemplateOptions): GuardedRetemplate {
  const { contextFor, disruptions, history, lessons, clock } = options;
  const inspect = (decision: RetemplateDecision, spec: PolicySpec, take: DisruptionTurns['take']) => {
    const found = inspectSize(decision, contextFor(spec, decision.workloadUid));
    return askForTurn({ take, noteBlocked: disruptions.turns.noteBlocked }, decision, found);
  };
  return {
    async retemplate(decision, spec, signal) {
      const { workloadUid } = decision;
      const goesOn = decision.turnsBack === true && hasPlace(workloadUid, disruptions.list());
      const verdict = inspect(decision, spec, goesOn ? () => undefined : disruptions.turns.take);
      if (verdict.kind === 'blocked') return verdict;
      history.recordChange(workloadUid, clock.now());
      // Entered before asking: other workloads decide while this one waits for the answer.
      disruptions.beginRollout(workloadUid);
      const outcome = await options.retemplate(verdict.approved, signal);
      // What may have been written goes on counting until the view tells.
      const isWritten = outcome.result === 'accepted' || (outcome.result !== 'gone' && outcome.isUncertain);
      if (isWritten) disruptions.history.recordDisruption(workloadUid, clock.now());
      else if (!goesOn) disruptions.endRollout(workloadUid);
      if (outcome.result === 'gone') return { kind: 'gone' };
      if (outcome.result === 'accepted') {
        lessons.noteNewTemplate(workloadUid);
        return { kind: 'asked', tookFrom: outcome.tookFrom };
      }
      history.recordFailure(workloadUid, clock.now(), outcome.message);
      return { kind: 'refused', answer: outcome };
    },
    tryRetemplate(decision, spec) {
      const verdict = inspect(decision, spec, disruptions.turns.reserve);
      return verdict.kind === 'blocked' ? verdict : { kind: 'asked', tookFrom: [] };
    },
  };
}
