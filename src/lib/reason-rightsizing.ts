/** Rightsizing: what it did or saw, why a recommendation is not applied, and the reasons of a policy's conditions. */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';

/** The names are OptiPod's. */
const events = {
  UpdateSuccess: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Applied to {kind} {namespace}/{name} by {method}: {changes}',
    advice: nothingToDo,
  },
  UpdateFailed: {
    kinds: ['event', 'skip'],
    eventType: 'Warning',
    message: '{kind} {namespace}/{name} could not be resized: {cause}',
    advice: 'See the cause; it is tried again with growing pauses.',
  },
  RecommendationGenerated: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Recommended for {kind} {namespace}/{name}: {changes}',
    advice: nothingToDo,
  },
  WorkloadSkipped: {
    kinds: ['event'],
    eventType: 'Normal',
    message: '{kind} {namespace}/{name} is not changed: {cause}',
    advice: 'The cause says what keeps it; `stowage explain` tells the whole story.',
  },
  MetricsCollectionFailed: {
    kinds: ['event', 'condition', 'skip'],
    eventType: 'Warning',
    message: 'Usage of {kind} {namespace}/{name} could not be read: {cause}',
    advice:
      'Check that the metrics source is reachable and that the policy names the right one; nothing is changed meanwhile.',
  },
  RBACError: {
    kinds: ['event', 'condition', 'skip'],
    eventType: 'Warning',
    message: 'RBAC: insufficient permissions to change {kind} {namespace}/{name}: {cause}',
    advice: 'Grant Stowage the right named in the message, or exclude the workload from the policy.',
  },
  InPlaceResizeUnavailable: {
    kinds: ['event', 'skip'],
    eventType: 'Warning',
    message:
      '{kind} {namespace}/{name} cannot be resized in place ({cause}), and the policy does not allow pods to be recreated',
    advice:
      'Use Kubernetes 1.33 or later with the feature InPlacePodVerticalScaling, or set updateStrategy.allowRecreate to true.',
  },
  EvictedToResize: {
    kinds: ['event', 'skip'],
    eventType: 'Normal',
    message: 'Pod {pod} was evicted so that its replacement is born with the size in force: {changes}',
    advice: nothingToDo,
  },
  SSAConflict: {
    kinds: ['event', 'skip'],
    eventType: 'Warning',
    message: 'Server-side apply to {kind} {namespace}/{name} conflicts: {cause}',
    advice: 'Another field manager owns these fields; take the requests out of its manifest, or exclude the workload.',
  },
  SSAOwnershipTaken: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Manager optipod now owns the requests of {kind} {namespace}/{name}; before: {previous}',
    advice: nothingToDo,
  },
  ValidationFailed: {
    kinds: ['event', 'condition'],
    eventType: 'Warning',
    message: 'OptimizationPolicy {namespace}/{name} is not valid: {cause}',
    advice: 'Correct the policy; it selects nothing until then.',
  },
  DiscoveryFailed: {
    kinds: ['event'],
    eventType: 'Warning',
    message: 'Workloads of OptimizationPolicy {namespace}/{name} could not be found: {cause}',
    advice: 'Check that Stowage may list workloads and namespaces.',
  },
  ProcessingFailed: {
    kinds: ['event', 'skip'],
    eventType: 'Warning',
    message: '{kind} {namespace}/{name} could not be worked on: {cause}',
    advice: 'See the cause; the other workloads of the policy go on, and it is tried again.',
  },
  ChangeReverted: {
    kinds: ['event', 'skip'],
    eventType: 'Warning',
    message: 'The last decrease of {kind} {namespace}/{name} was taken back: {cause}',
    advice: 'What was too little is remembered; the next decrease waits twice as long.',
  },
} as const satisfies Record<string, ReasonDefinition>;

/** Why a recommendation is not applied now, or there is none. In `status.workloads[].reason` and as a label of metrics. */
const skips = {
  NoData: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'No usage of {what} is known',
    advice: 'Wait for the first samples; if none come, look at the condition MetricsAvailable.',
  },
  Stale: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'The last sample of {what} is too old',
    advice: 'Check the metrics source; the recommendation is frozen until samples come again.',
  },
  LowConfidence: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'The history of {what} is too short to lower anything',
    advice: 'Wait, or set metricsConfig.minHistory and minSamples lower.',
  },
  WithinMinChange: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'What is requested is close enough to the recommendation for {what}',
    advice: nothingToDo,
  },
  GainTooSmall: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'The change of {what} is not worth it',
    advice: nothingToDo,
  },
  Cooldown: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: '{what} was changed a while ago and waits for its cooldown',
    advice: 'Wait, or set updateStrategy.cooldown shorter.',
  },
  MemoryDecreaseNotAllowed: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'The policy never lowers memory: {what} stays',
    advice: 'Set updateStrategy.memoryDecrease to WhenSafe to let it fall.',
  },
  MemoryDecreaseUnsafe: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'Lowering the memory of {what} is not safe: its recent peak is higher',
    advice: 'Wait until the peak is older; memoryDecrease: Always takes the risk.',
  },
  HpaTarget: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'A HorizontalPodAutoscaler scales by the utilization of {what}',
    advice: 'Change its target as the explanation says, or set spec.hpa of the policy.',
  },
  CanaryWatched: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'Pod {pod} was changed first and is watched before the others follow',
    advice: nothingToDo,
  },
  ChangeWatched: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'An earlier decrease of the same resource is watched before it goes further down',
    advice: nothingToDo,
  },
  TooLittleToRestart: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'Less is advised, but {share} less is too little to restart pods for; {needed} is enough',
    advice: 'Nothing to do; rightsizing.restartMinChange sets what is enough.',
  },
  RestartCooldown: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'Less is advised, and would restart pods that were changed a while ago; it waits for {remaining}',
    advice: 'Wait, or set rightsizing.restartCooldown shorter.',
  },
  EvictToResizeUnavailable: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'Pods are not evicted to be resized, as their replacements would have the size of the template: {cause}',
    advice: 'Switch on webhook.enabled, or set updateStrategy.evictToResize to false to have the template changed.',
  },
  GuaranteedKept: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'The pods are Guaranteed: {what} can only change together with its limit, and the policy keeps limits',
    advice: 'Set updateStrategy.updateRequestsOnly to false, so that limits move with requests.',
  },
  CpuAllocated: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'The allocation engine shares out the CPU of these pods; the recommendation is their claim',
    advice: nothingToDo,
  },
  BestEffortWorkload: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'The pods are BestEffort: requests would change their QoS class',
    advice: 'Put first requests into the template yourself, such as the recommended ones.',
  },
  PolicyDisabled: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'The policy is disabled',
    advice: 'Set spec.mode to Recommend or Auto.',
  },
  AdmissionRejected: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'Refused at admission: {cause}',
    advice: 'See the message of the webhook or policy that refused it, or exclude the workload.',
  },
  QuotaExceeded: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'A ResourceQuota leaves no room for more {what}',
    advice: 'Raise the quota, or lower resourceBounds of the policy.',
  },
  AtMax: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'More {what} is needed than the policy allows',
    advice: 'Raise the maximum in resourceBounds of the policy, or look why so much is needed.',
  },
  AtLimit: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'More {what} is needed than its limit, which the policy keeps',
    advice: 'Raise the limit in the template, or set updateStrategy.updateRequestsOnly to false.',
  },
  AtLimitRange: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'More {what} is needed than the LimitRange of the namespace allows',
    advice: 'Raise the maximum of the LimitRange, or look why so much is needed.',
  },
  NodeTooSmall: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'More {what} is needed than any node has for one pod',
    advice: 'Add larger nodes, or spread the load over more replicas.',
  },
  HpaScalePoint: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'A HorizontalPodAutoscaler scales by the utilization of {what}, and its target has to change with it',
    advice: 'Set the target the message names together with spec.hpa: Ignore, or set spec.hpa to Skip to leave it.',
  },
  OptedOut: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'The workload has the annotation optipod.io/paused',
    advice: 'Take the annotation away to have it sized again.',
  },
} as const satisfies Record<string, ReasonDefinition>;

/** Reasons of conditions that are well. */
const conditions = {
  PolicyValid: {
    kinds: ['condition'],
    eventType: 'Normal',
    message: 'The policy is valid and in force for {count} {count|workload|workloads}',
    advice: nothingToDo,
  },
  UsageKnown: {
    kinds: ['condition'],
    eventType: 'Normal',
    message: 'Usage of {known} of {count} workloads is known',
    advice: nothingToDo,
  },
  Acting: {
    kinds: ['condition'],
    eventType: 'Normal',
    message: 'Recommendations are applied as the mode {mode} says',
    advice: nothingToDo,
  },
  PermissionsGranted: {
    kinds: ['condition'],
    eventType: 'Normal',
    message: 'No request was refused for want of permissions',
    advice: nothingToDo,
  },
  AllWell: {
    kinds: ['condition'],
    eventType: 'Normal',
    message: 'Every workload could be worked on',
    advice: nothingToDo,
  },
  WorkloadsFailing: {
    kinds: ['condition'],
    eventType: 'Warning',
    message: '{count} {count|workload|workloads} could not be worked on, {example} among them',
    advice: 'See status.workloads for the reason of each.',
  },
} as const satisfies Record<string, ReasonDefinition>;

export const rightsizingReasons = { ...events, ...skips, ...conditions } as const satisfies Record<
  string,
  ReasonDefinition
>;
