/** What the API server and the kubelet say to a change of size: each with its text as `{cause}`. */
import type { ReasonDefinition } from './reason-definition.ts';

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
    message: 'RBAC: insufficient permissions: {cause}',
    advice: 'Grant the right named in the message; deploy/rbac.yaml and the roles of the chart have it.',
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
  ResizeOverwritten: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Somebody else sets another size: {cause}',
    advice:
      'Look for another controller, or an admission webhook, that sizes the same pods; Stowage tries again with growing pauses.',
  },
  TemplateConflict: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'Another field manager owns these fields: {cause}',
    advice:
      'Take the requests out of its manifest, set rightsizing.forceConflicts to take them over, or leave the workload out of the policy.',
  },
  ResizeInCrashLoop: {
    kinds: ['block'],
    eventType: 'Warning',
    message: 'The container ended again after the resize: {cause}',
    advice: 'The pod is recreated where updateStrategy.allowRecreate allows it (kubernetes issue 138760).',
  },
} as const satisfies Record<string, ReasonDefinition>;

export type ResizeAnswer = keyof typeof resizeAnswers;
