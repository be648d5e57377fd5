/** Why a disruption that was wanted did not happen: the verdicts of the guards. */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';

export const blockReasons = {
  InvalidConfiguration: {
    kinds: ['block', 'unsteered'],
    eventType: 'Warning',
    message: '{where} {key}: {value} is not valid; accepted: {accepted}',
    advice: 'Correct the value; the workload is left alone until then.',
  },
  NotEnabled: {
    kinds: ['block', 'unsteered'],
    eventType: 'Normal',
    message: 'Not managed: the label spotalis.io/enabled: "true" is missing on the {where}',
    advice: 'Put the label on both the namespace and the workload.',
  },
  EngineDisabled: {
    kinds: ['block', 'unsteered'],
    eventType: 'Normal',
    message: 'The engine {engine} is switched off',
    advice: 'Set engines.{engine} to true in the configuration.',
  },
  ReadOnly: {
    kinds: ['block', 'unsteered'],
    eventType: 'Normal',
    message: 'Read-only mode: nothing is written',
    advice: 'Set operator.readOnlyMode to false to let Stowage act.',
  },
  WebhookOff: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'No pod is moved, as the webhook is off: what replaces it would run wherever the scheduler likes',
    advice: 'Set webhook.enabled to true, or engines.placement to false where nothing is to be placed.',
  },
  PredecessorRuns: {
    kinds: ['block'],
    eventType: 'Warning',
    message:
      '{system} runs beside Stowage (pod {pod}) and writes the same: while it does, Stowage changes nothing here',
    advice: 'Stop it, and see docs/troubleshooting.md#two-installations.',
  },
  NotLeader: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Another replica of Stowage is the leader',
    advice: nothingToDo,
  },
  LeaderWarmup: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'This replica became leader a moment ago and waits one cooldown ({remaining} left)',
    advice: nothingToDo,
  },
  CachesStale: {
    kinds: ['block', 'unsteered'],
    eventType: 'Warning',
    message: 'What is known about {what} is {age} old; nothing is disrupted on stale data',
    advice: 'Check the connection to the API server; Stowage goes on by itself once it is fresh.',
  },
  NotSeen: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The account that asks may not read {what}; nothing is planned on what is not known',
    advice: 'Give it the right to list {what}; with --operator the operator tells what it sees itself.',
  },
  GenerationNotObserved: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The workload controller has not yet seen generation {generation} (it saw {observed})',
    advice: nothingToDo,
  },
  Deleting: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The workload is being deleted',
    advice: nothingToDo,
  },
  Paused: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The rollout is paused',
    advice: 'Resume the rollout.',
  },
  ScaledToZero: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The workload has no replicas',
    advice: nothingToDo,
  },
  RolloutInProgress: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'A rollout is in progress: {updated} of {desired} {desired|pod|pods} {updated|is|are} updated',
    advice: 'Wait for the rollout to end, or mend what keeps it from ending.',
  },
  PodTerminating: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} is still terminating',
    advice: 'If it does not end, look at its finalizers and its node.',
  },
  PodNotReady: {
    kinds: ['block'],
    eventType: 'Normal',
    message: '{ready} of {desired} {desired|pod|pods} {ready|is|are} ready; no healthy pod is disrupted meanwhile',
    advice: 'Mend the pods that are not ready.',
  },
  BlockedByPdb: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'PodDisruptionBudget {pdb} allows no disruption now',
    advice: 'Wait for its pods to become healthy, or loosen minAvailable / maxUnavailable.',
  },
  MultiplePdbs: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Pod {pod} is selected by several PodDisruptionBudgets ({pdbs}); Kubernetes cannot evict such a pod',
    advice: 'Change the selectors so that each pod has one budget at most.',
  },
  OutsideWindow: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Outside the disruption window; it opens at {opensAt}',
    advice: 'Wait, or change spotalis.io/disruption-schedule and spotalis.io/disruption-duration.',
  },
  CooldownActive: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The last disruption was {ago} ago; the next may follow in {remaining}',
    advice: 'Nothing to do; the pause is controllers.workloadTiming.cooldownPeriod.',
  },
  ConcurrencyLimit: {
    kinds: ['block'],
    eventType: 'Normal',
    message: '{inFlight} {inFlight|eviction is|evictions are} in flight in the cluster, of {limit} allowed',
    advice: 'Nothing to do; the limit is placement.maxConcurrentEvictions.',
  },
  AwaitingTurn: {
    kinds: ['block'],
    eventType: 'Normal',
    message:
      '{ahead} {ahead|other goes|others go} first: engines and workloads take turns at what may be disrupted at once',
    advice: 'Nothing to do; the limit is placement.maxConcurrentEvictions.',
  },
  ThrottledByApi: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The API server asks to wait {retryAfter}',
    advice: nothingToDo,
  },
  OnDemandFloor: {
    kinds: ['block'],
    eventType: 'Warning',
    message:
      'Pod {pod} stays for the on-demand floor: without it {left} {left|replica is|replicas are} ready on on-demand, and {floor} must be; it gets its new size when it is next replaced',
    advice:
      'Allow updateStrategy.allowInPlaceResize, lower spotalis.io/min-on-demand by one, or set updateStrategy.evictToResize to false, so that a rollout with surge replaces the pods.',
  },
  NoRoomOnSide: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'No {side} node has room for pod {pod}: {detail}',
    advice:
      'Add {side} capacity; where an autoscaler makes such nodes for pods that wait, say so in controllers.nodeClassifier.autoscaled.',
  },
  SideInBackoff: {
    kinds: ['block'],
    eventType: 'Normal',
    message:
      'The last move to {side} did not end there, for want of room or because the new pod missed the webhook; it is tried again in {remaining}',
    advice: 'Add {side} capacity, or wait; where pods miss the webhook (MissedAdmission), mend that.',
  },
  ReplacementMissing: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'No pod is disrupted, as none has been made in the place of {pod} of {workload}, which was evicted',
    advice:
      'See why none is made: kubectl describe its ReplicaSet or StatefulSet tells of quotas and webhooks; Stowage goes on with the first pod that is made, or an hour later.',
  },
  NewPodsMissAdmission: {
    kinds: ['block'],
    eventType: 'Warning',
    message:
      'No pod is moved, as the new pod {pod} of the last move did not pass the webhook; one move tries again in {remaining}',
    advice:
      'See that the webhook is registered, reachable and trusted; moves go on with the first new pod that passes it.',
  },
  SingleReplica: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The workload has one replica; moving it would stop the service',
    advice: 'Run two replicas, or set placement.allowSingleReplica.',
  },
  Protected: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} is protected by {protection}',
    advice: 'Remove {protection} to let Stowage move the pod.',
  },
  NodeLeaving: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Node {node} of pod {pod} is leaving anyway ({cause})',
    advice: nothingToDo,
  },
  NodeNotReady: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Node {node} of pod {pod} is not ready: the pod could not end there',
    advice: 'See why the node is not ready; once it is, or is gone, Stowage goes on.',
  },
  UnknownNodeClass: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Node {node} is neither spot nor on-demand by the configured labels',
    advice:
      'Choose the profile of your cloud in controllers.nodeClassifier.profiles, or add its labels to spotLabels / onDemandLabels.',
  },
  StormCalm: {
    kinds: ['block'],
    eventType: 'Warning',
    message:
      '{interruptions} spot {interruptions|node was|nodes were} lost within {period}; no pod is moved before {calmAt}',
    advice: nothingToDo,
  },
  SpotClosed: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Spot had no room for pods of this workload, or for those of several; it is tried again in {remaining}',
    advice: 'Nothing to do; allow more instance types or zones for spot if this lasts.',
  },
  SpotProbing: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Spot is being tried with one pod; the others follow if it finds a place',
    advice: nothingToDo,
  },
  ReturnPaced: {
    kinds: ['block'],
    eventType: 'Normal',
    message: '{returned} {returned|pod|pods} returned to spot in this window or hour, of {limit} allowed',
    advice: 'Nothing to do; the limit is placement.fallback.returnPerWindow.',
  },
  FallbackShare: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Pod {pod} waits for spot: on-demand covers as many pods as it may ({limit})',
    advice: 'Allow more instance types or zones for spot, or raise placement.fallback.maxPercent.',
  },
  FallbackBusy: {
    kinds: ['block'],
    eventType: 'Normal',
    message:
      '{waiting} {waiting|pod that covers|pods that cover} for spot {waiting|waits|wait} for on-demand in the cluster, of {limit} allowed',
    advice: 'Nothing to do; the limit is placement.fallback.maxConcurrent.',
  },
  ResizeInFlight: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} is being resized',
    advice: nothingToDo,
  },
  PreconditionFailed: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} changed between decision and action',
    advice: 'Nothing to do; it is decided anew.',
  },
} as const satisfies Record<string, ReasonDefinition>;
