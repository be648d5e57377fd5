/** Rightsizing: what it did or saw, why a recommendation is not applied, and the reasons of a policy's conditions. */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';
import { sizeSkipReasons } from './reason-size-skips.ts';

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
    advice:
      'Grant Stowage the right named in the message (deploy/rbac.yaml and the roles of the chart have it), or exclude the workload from the policy.',
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
    kinds: ['event'],
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
    kinds: ['event', 'condition'],
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
    message: 'The last change of {kind} {namespace}/{name} was taken back: {cause}',
    advice:
      'What was too little is remembered, and the next decrease waits twice as long; a raise that was refused or found no room is tried again later.',
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
  UsageFromFallback: {
    kinds: ['condition', 'event'],
    eventType: 'Warning',
    message: 'Usage comes from {provider}, as the provider of the policy cannot be set up: {cause}',
    advice: 'Correct metricsConfig of the policy, or name there the provider that is used.',
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
  ReadForbidden: {
    kinds: ['condition'],
    eventType: 'Warning',
    message: 'RBAC: insufficient permissions to read {what}: {cause}',
    advice:
      'Grant Stowage get, list and watch on it, as deploy/rbac.yaml and the roles of the chart do; nothing is sized until then.',
  },
  AllWell: {
    kinds: ['condition'],
    eventType: 'Normal',
    message: 'Every workload could be worked on',
    advice: nothingToDo,
  },
  ActuationEffective: {
    kinds: ['condition'],
    eventType: 'Normal',
    message: 'What was changed was seen in force',
    advice: nothingToDo,
  },
  ActuationIneffective: {
    kinds: ['condition'],
    eventType: 'Warning',
    message:
      'Changes of {count} {count|workload|workloads} had no effect and are not made for a while, {example} among them',
    advice: 'Find who undoes them, or what keeps them from being carried out; `stowage explain` tells what was done.',
  },
  WorkloadsFailing: {
    kinds: ['condition'],
    eventType: 'Warning',
    message: '{count} {count|workload|workloads} could not be worked on, {example} among them',
    advice: 'See status.workloads for the reason of each.',
  },
} as const satisfies Record<string, ReasonDefinition>;

export const rightsizingReasons = { ...events, ...sizeSkipReasons, ...conditions } as const satisfies Record<
  string,
  ReasonDefinition
>;
