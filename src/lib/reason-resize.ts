/**
 * Why a change of size that was wanted did not happen: the verdicts of the size guards, and the answers to what was
 * tried.
 */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';
import { resizeAnswers } from './reason-resize-answers.ts';

const verdicts = {
  DryRunActive: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Dry run: the change is computed and shown, nothing is written',
    advice: 'Start Stowage without dry run to let it act.',
  },
  AlreadyThatSize: {
    kinds: ['block'],
    eventType: 'Normal',
    message: '{target} has this size already',
    advice: nothingToDo,
  },
  KindAdvisedOnly: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Templates of kind {kind} are advised on, never written',
    advice: 'Put the recommended values into the {kind} yourself.',
  },
  PodNotRunning: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} is {phase}; only running pods are resized',
    advice: 'Nothing to do; it is resized once it runs.',
  },
  StaticPod: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} is a static pod: its size is in a file on its node',
    advice: 'Change the manifest on the node.',
  },
  WindowsPod: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} runs on Windows, where Kubernetes cannot resize in place',
    advice: 'Allow updateStrategy.allowRecreate, or change the template yourself.',
  },
  PodLevelResources: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} has resources for the pod as a whole (spec.resources), which Stowage does not change',
    advice: 'Size the containers instead of the pod, or leave it out of the policy.',
  },
  ResizeUnsupported: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'In-place resize of pod {pod} is not possible: {detail}',
    advice: 'Allow updateStrategy.allowRecreate, or use nodes that support it (Kubernetes 1.33 and later).',
  },
  BestEffort: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Pod {pod} requests nothing (BestEffort), and a resize may not change that',
    advice: 'Put first requests into the pod template; they are kept right from then on.',
  },
  QosClassFixed: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The change would make pod {pod} {to} instead of {from}, which Kubernetes refuses for a running pod',
    advice: 'Change requests and limits together (Guaranteed), or keep one request below its limit (Burstable).',
  },
  RequestAboveLimit: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The {resource} request of container {container} would be above its limit',
    advice: 'Raise the limit, or allow Stowage to change limits.',
  },
  EvictionInFlight: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Pod {pod} is being evicted; it is not resized meanwhile',
    advice: nothingToDo,
  },
  VpaSizesWorkload: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'VerticalPodAutoscaler {vpa} sizes the same workload',
    advice: 'Set its updateMode to "Off", or leave the workload out of the policy.',
  },
  OtherResizer: {
    kinds: ['block'],
    eventType: 'Warning',
    message: '{manager} changed the size of pod {pod}; Stowage yields to it',
    advice: 'Stop the other writer, or leave the workload out of the policy. A replaced pod is managed again.',
  },
  CpuIsAllocated: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The CPU of pod {pod} is shared out by the allocation engine; rightsizing only advises on it',
    advice: nothingToDo,
  },
  ResizeRestarts: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Container {container} of pod {pod} restarts when its {resource} changes (resizePolicy RestartContainer)',
    advice: 'Set its resizePolicy to NotRequired, or allow updateStrategy.allowRecreate.',
  },
  MemoryInUse: {
    kinds: ['block'],
    eventType: 'Normal',
    message:
      'Container {container} uses or recently used {used} of memory; its limit is not lowered to {limit} (needed with margin: {needed})',
    advice: 'Nothing to do; the limit follows once the peak has passed out of the history.',
  },
  MemoryUseUnknown: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'What container {container} uses of memory is not known; its limit is not lowered',
    advice:
      'Nothing to do where the pod or its container started a moment ago: it has to be measured first. Else check the usage source of the policy.',
  },
  LimitRangeRefuses: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'LimitRange {name} does not allow it: {detail}',
    advice: 'Change the LimitRange, or bound the policy to what it allows.',
  },
  QuotaWantsAmounts: {
    kinds: ['block'],
    eventType: 'Warning',
    message:
      'ResourceQuota {name} wants {resource} of every container, and {containers} has none: the API server would refuse any change',
    advice: 'Set it in the template, or have a LimitRange give it to new pods: those can be changed.',
  },
  QuotaRefuses: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'ResourceQuota {name} has {free} of {resource} left; the change needs {asked} more',
    advice: 'Raise the quota, or let other pods of the namespace shrink first.',
  },
  QuotaKept: {
    kinds: ['block'],
    eventType: 'Normal',
    message:
      'ResourceQuota {name} has {free} of {resource} left beside what it keeps for pods that are yet to be made; the change needs {asked} more',
    advice:
      'Nothing to do while pods are replaced. Where some are missing for long, the events of their workload say why.',
  },
  NodeHasNoRoom: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Node {node} has {free} of {resource} left; the change needs {asked} more',
    advice: 'It is tried again when room appears; allow updateStrategy.allowRecreate to move the pod instead.',
  },
  WaitsForDecrease: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Node {node} has room once the decreases under way there are done',
    advice: nothingToDo,
  },
  InfeasibleBefore: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Node {node} has said that pod {pod} can never have this size there: {detail}',
    advice: 'Allow updateStrategy.allowRecreate, or bound the policy to what the node can give.',
  },
  NodeSilent: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Node {node} of pod {pod} is not ready: nothing there would carry a resize out',
    advice: 'See why the node is not ready; once it is, or the pod is made anew elsewhere, Stowage goes on.',
  },
  RightMissing: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The operator may not read {what}: whether one of them has a say in the size is not known',
    advice:
      'Allow its service account get, list and watch on {what}, as deploy/rbac.yaml and the roles of the chart do.',
  },
  NewPodsMissSize: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'No pod is evicted for a size, as replacements do not get it ({cause}); it is tried again in {remaining}',
    advice:
      'See that the webhook is registered, reachable, and selects the namespace; or set updateStrategy.evictToResize to false to have templates changed.',
  },
  ChangesIneffective: {
    kinds: ['block'],
    eventType: 'Warning',
    message: '{count} changes in a row had no effect; the next is tried in {remaining}',
    advice: 'See `stowage explain` for what was done and what came of it; another controller may undo it.',
  },
  ChangeBackoff: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The last attempt failed ({cause}); the next follows in {remaining}',
    advice: nothingToDo,
  },
  ChangeCooldown: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The last change of {target} was {ago} ago; the next may follow in {remaining}',
    advice: 'Nothing to do; the pause is updateStrategy.cooldown of the policy.',
  },
  OutsideUpdateWindow: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'Outside the update window of the policy; it opens at {opensAt}',
    advice: 'Wait, or change updateStrategy.schedule of the policy.',
  },
  ResizeConcurrency: {
    kinds: ['block'],
    eventType: 'Normal',
    message: '{inFlight} {inFlight|resize is|resizes are} under way in the cluster, of {limit} allowed',
    advice: 'Nothing to do; the limit is rightsizing.maxConcurrentResizes.',
  },
  ChangePace: {
    kinds: ['block'],
    eventType: 'Normal',
    message: '{count} {count|change|changes} in the last minute, of {limit} allowed',
    advice: 'Nothing to do; the limit is rightsizing.maxChangesPerMinute.',
  },
  RecreateNotAllowed: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The change needs new pods, and the policy does not allow to recreate them',
    advice: 'Set updateStrategy.allowRecreate: true.',
  },
  TemplateOnDelete: {
    kinds: ['block'],
    eventType: 'Warning',
    message: '{workload} has the update strategy OnDelete: a new template reaches no pod until somebody deletes it',
    advice:
      'Set its update strategy to RollingUpdate, resize in place, or set updateStrategy.evictToResize of the policy.',
  },
  TemplateRollout: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'A rollout of {workload} is under way',
    advice:
      'Wait for the rollout to end, or mend what keeps it from ending. Containers killed for want of memory are given more meanwhile, where limits and bounds allow it.',
  },
} as const satisfies Record<string, ReasonDefinition>;

export const resizeReasons = { ...verdicts, ...resizeAnswers } as const satisfies Record<string, ReasonDefinition>;
