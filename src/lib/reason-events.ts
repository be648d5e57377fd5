/** What placement did or saw: events on the workload. */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';

export const eventReasons = {
  EvictedForRebalance: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Evicted pod {pod} from {from}: {reason}',
    advice: 'Nothing to do; the replacement is steered to the other side.',
  },
  WouldEvict: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Read-only: would evict pod {pod} from {from}: {reason}',
    advice: 'Set operator.readOnlyMode to false to let Stowage act.',
  },
  Restamped: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Corrected the slot of {count} {count|pod|pods}; no pod was moved',
    advice: nothingToDo,
  },
  FallbackToOnDemand: {
    kinds: ['event'],
    eventType: 'Warning',
    message:
      'Spot has had no room for pod {pod} for {waited}; it is recreated on on-demand and spot is tried again after {retryAfter}',
    advice: 'Allow more instance types or zones for spot; Stowage returns to spot by itself.',
  },
  ReturnedToSpot: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Spot has room again: pod {pod} returns from on-demand',
    advice: nothingToDo,
  },
  MissedAdmission: {
    kinds: ['event'],
    eventType: 'Warning',
    message:
      '{count} {count|pod was|pods were} created while the admission webhook could not be reached; the node {count|it runs|they run} on tells the side',
    advice:
      'Check that the webhook is ready and its certificate valid; pods on the wrong side are moved within the usual pace.',
  },
  OnDemandCapacityMissing: {
    kinds: ['event'],
    eventType: 'Warning',
    message: '{count} {count|pod|pods} of the on-demand floor {count|waits|wait} for on-demand capacity',
    advice: 'Add on-demand nodes or let the autoscaler provision them; the floor is never met with spot.',
  },
  ConflictingPlacement: {
    kinds: ['event'],
    eventType: 'Warning',
    message: '{what} pins {side}, which the spot percentage and floor do not ask for; the pin is respected',
    advice:
      'Remove the capacity selector from where it comes and have the pods made anew, or set the percentage to match it.',
  },
  ManagementStarted: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Placement manages this workload: {spotPercentage} % spot, at least {minOnDemand} on on-demand',
    advice: nothingToDo,
  },
  ManagementStopped: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Placement no longer manages this workload; its pods stay where they are',
    advice: nothingToDo,
  },
  EvictionFailed: {
    kinds: ['event'],
    eventType: 'Warning',
    message: 'Evicting pod {pod} failed: {error}',
    advice: 'See the message; it is tried again with growing pauses.',
  },
} as const satisfies Record<string, ReasonDefinition>;
