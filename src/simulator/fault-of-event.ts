/** The fault of the embedded API server that an event of a scenario stands for. Pure. */
import type { Fault } from '../cluster/faults/fault.ts';
import type { ScenarioEvent } from './scenario/events.ts';

/** @param user whose calls it meets, as faults name users. */
export function faultOf(event: Extract<ScenarioEvent, { do: 'api-fault' }>, user: string): Fault {
  const { verbs, resources: plurals, probability, effect } = event;
  const { kind } = effect;
  return {
    users: [user],
    ...(verbs === undefined ? {} : { verbs }),
    ...(plurals === undefined ? {} : { resources: plurals }),
    ...(probability === undefined ? {} : { probability }),
    effect:
      kind !== 'status'
        ? effect
        : {
            kind,
            code: effect.code,
            ...(effect.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: effect.retryAfterSeconds }),
          },
  };
}
