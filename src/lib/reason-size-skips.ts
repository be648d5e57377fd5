/**
 * Rightsizing: why a recommendation is not applied now, or there is none. In `status.workloads[].reason` and as a label
 * of metrics.
 */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';

export const sizeSkipReasons = {
  NoData: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'No usage of {what} is known',
    advice: 'Wait for the first samples; if none come, look at the condition MetricsAvailable.',
  },
  Stale: {
    kinds: ['skip', 'condition'],
    eventType: 'Warning',
    message: 'The last sample of {what} is too old',
    advice: 'Check the metrics source; the recommendation is frozen until samples come again.',
  },
  UsageUnread: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'Usage cannot be read at present, so {what} stays as it is',
    advice: 'Mend the metrics source as the condition MetricsAvailable says; what was learned is kept meanwhile.',
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
  ReplicaHarmed: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'A decrease of pod {pod} was taken back; no other replica is lowered for {remaining}',
    advice: nothingToDo,
  },
  OneSizeForAll: {
    kinds: ['skip'],
    eventType: 'Normal',
    message: 'All replicas keep one size: {cause}',
    advice: 'Nothing to do; updateStrategy.sizePerReplica is for StatefulSets and DaemonSets.',
  },
  ReplicasNeedInPlace: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'Replicas have sizes of their own, which are changed in place only, and that is not possible: {cause}',
    advice: 'Make resizes in place possible, or set updateStrategy.sizePerReplica to false to return to one size.',
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
  RaiseCutShort: {
    kinds: ['skip'],
    eventType: 'Normal',
    message:
      'More is needed, but there is room for {share} more only, and pods would restart that were changed a while ago; it waits for {remaining}, or for more room',
    advice: 'Make room (a quota, nodes), or set rightsizing.restartCooldown shorter.',
  },
  RestartTogether: {
    kinds: ['skip'],
    eventType: 'Normal',
    message:
      'Less is advised, and would restart pods; {what} may be lowered in {remaining}, too, and then one restart is enough',
    advice: 'Wait, or set rightsizing.restartCooldown shorter: no wait for another resource is longer.',
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
    kinds: ['skip', 'block'],
    eventType: 'Normal',
    message: 'The workload has the annotation optipod.io/paused',
    advice: 'Take the annotation away to have it sized again.',
  },
  NewerFormat: {
    kinds: ['skip'],
    eventType: 'Warning',
    message: 'A later version of Stowage wrote the annotation {key} of the workload, so nothing of it is changed',
    advice: 'Upgrade the operator. To go on with this version take the annotation away: what it says is lost.',
  },
} as const satisfies Record<string, ReasonDefinition>;
