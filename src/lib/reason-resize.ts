/** Why a change of size that was wanted did not happen: the verdicts of the size guards and the answers of the API and the kubelet. */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';

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
    advice: 'Check the usage source of the policy.',
  },
  LimitRangeRefuses: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'LimitRange {name} does not allow it: {detail}',
    advice: 'Change the LimitRange, or bound the policy to what it allows.',
  },
  QuotaRefuses: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'ResourceQuota {name} has {free} of {resource} left; the change needs {asked} more',
    advice: 'Raise the quota, or let other pods of the namespace shrink first.',
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
  TemplateRollout: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'A rollout of {workload} is under way',
    advice: 'Wait for the rollout to end, or mend what keeps it from ending.',
  },
} as const satisfies Record<string, ReasonDefinition>;

/** What the API server or the kubelet said to a resize, with its text as `{cause}`. */
export const resizeAnswers = {
  ResizeQosRefused: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The QoS class of a running pod may not change: {cause}',
    advice: 'Move requests and limits together (Guaranteed), or recreate the pods.',
  },
  ResizeNotOnNode: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The kubelet of the pod cannot resize in place: {cause}',
    advice: 'Upgrade the node to Kubernetes 1.33 or later, or allow updateStrategy.allowRecreate.',
  },
  ResizeNotServed: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The API server does not serve pods/resize: {cause}',
    advice: 'Upgrade to Kubernetes 1.33 or later, or allow updateStrategy.allowRecreate.',
  },
  ResizeRemovalRefused: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'A request or limit cannot be taken away in place: {cause}',
    advice: 'Recreate the pods to take it away; in place it can only be raised.',
  },
  ResizeFieldRefused: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Only CPU and memory of containers can be resized: {cause}',
    advice: 'Report this as a defect, with the output of `stowage explain`.',
  },
  ResizePodKindRefused: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'This kind of pod cannot be resized: {cause}',
    advice: 'Leave it out of the policy, or change its manifest.',
  },
  ResizeContainersChanged: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The containers of the pod are not those that were decided on: {cause}',
    advice: 'Nothing to do; it is decided anew.',
  },
  ResizeMemoryDecreaseRefused: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'This version of Kubernetes does not lower memory limits in place: {cause}',
    advice:
      'Upgrade to Kubernetes 1.34 or later, or allow updateStrategy.allowRecreate; requests are lowered all the same.',
  },
  ResizeQuotaDenied: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'A ResourceQuota does not allow it: {cause}',
    advice: 'Raise the quota, or let other pods of the namespace shrink first.',
  },
  ResizeLimitRangeDenied: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'A LimitRange does not allow it: {cause}',
    advice: 'Change the LimitRange, or bound the policy to what it allows.',
  },
  ResizeBeyondNode: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The node can never give this much: {cause}',
    advice:
      'Bound the policy to the size of the nodes, or allow updateStrategy.allowRecreate so that the pod finds a larger one.',
  },
  ResizeNodeUnknown: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The node of the pod is not known to the API server: {cause}',
    advice: 'Nothing to do; it is tried again.',
  },
  ResizeForbidden: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'RBAC: insufficient permissions to resize: {cause}',
    advice: 'Grant the verb patch on pods/resize; deploy/rbac.yaml has the rules.',
  },
  ResizeAdmissionDenied: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Refused at admission: {cause}',
    advice: 'See the message of the webhook or policy that refused it, or leave the workload out of the policy.',
  },
  ResizeConflict: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The object changed at the same moment: {cause}',
    advice: 'Nothing to do; it is decided anew.',
  },
  ResizeApiTrouble: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The API server could not answer: {cause}',
    advice: 'Nothing to do; it is tried again with growing pauses.',
  },
  ResizeRefused: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The API server refuses it: {cause}',
    advice: 'See the cause.',
  },
  ResizeDeferred: {
    kinds: ['block'],
    eventType: 'Normal',
    message: 'The node has no room for it now: {cause}',
    advice: 'Nothing to do; it is taken back if no room appears.',
  },
  ResizeInfeasible: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The node can never grant it: {cause}',
    advice: 'Allow updateStrategy.allowRecreate, or bound the policy to what the node can give.',
  },
  ResizeMemoryStillUsed: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The memory limit is below what is used: {cause}',
    advice: 'Nothing to do; the old limit is put back.',
  },
  ResizeErrorOnNode: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The kubelet failed to carry it out and tries again: {cause}',
    advice: 'Look at the log of the kubelet if this lasts.',
  },
  ResizeNotSeen: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The kubelet has not taken it up: {cause}',
    advice: 'Look at the kubelet of the node; the change is taken back.',
  },
  TemplateConflict: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Another field manager owns these fields: {cause}',
    advice:
      'Take the requests out of its manifest, let Stowage take them over, or leave the workload out of the policy.',
  },
  ResizeInCrashLoop: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The container ended again after the resize: {cause}',
    advice: 'The pod is recreated where updateStrategy.allowRecreate allows it (kubernetes issue 138760).',
  },
} as const satisfies Record<string, ReasonDefinition>;

export const resizeReasons = { ...verdicts, ...resizeAnswers } as const satisfies Record<string, ReasonDefinition>;

export type ResizeAnswer = keyof typeof resizeAnswers;
