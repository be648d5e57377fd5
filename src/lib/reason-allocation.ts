/** Allocation: what it did to a pod's CPU, and why it lets a pod be. */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';

export const allocationReasons = {
  CPUApplied: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'CPU of pod {pod} resized in place: {change}',
    advice: nothingToDo,
  },
  CPUSkipped: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'CPU of pod {pod} is not shared out: {cause}',
    advice: 'The cause says what keeps the pod out; nothing is to be done where that is meant.',
  },
  CPUWithdrawn: {
    kinds: ['event'],
    eventType: 'Warning',
    message: 'A resize of pod {pod} was not granted and has been taken back: {cause}',
    advice: 'Look for what else claims the CPU of the node; it is tried again with growing pauses.',
  },
  CPURefused: {
    kinds: ['event'],
    eventType: 'Warning',
    message: 'The API server refused to resize pod {pod}: {cause}',
    advice: 'See the cause: a quota, a LimitRange, an admission policy or a missing right.',
  },
  CPUYielded: {
    kinds: ['event'],
    eventType: 'Warning',
    message: 'CPU of pod {pod} was changed by {manager}; Stowage leaves it to that from now on',
    advice: 'Let one of the two write the CPU of the pod; replacing the pod gives it back to Stowage.',
  },
  CPUBreaker: {
    kinds: ['event'],
    eventType: 'Warning',
    message: 'A container of pod {pod} restarted during a resize; its CPU is not changed any more',
    advice: 'Check the container runtime: some restart containers on every resize. Replacing the pod lifts it.',
  },
  CPUAnnotationIgnored: {
    kinds: ['event'],
    eventType: 'Warning',
    message: 'Pod {pod} says about its CPU what is not understood: {cause}',
    advice: 'Correct the annotation or label; until then the pod is treated as if it were not there.',
  },
  CPUAffinityBroken: {
    kinds: ['event'],
    eventType: 'Warning',
    message:
      'Node {node} no longer has the labels that pod {pod} requires; it bargains for CPU with a tenth less weight',
    advice: 'Restore the labels of the node, or move the pod; only allocation.nodeAffinity makes this count.',
  },
  CPURestored: {
    kinds: ['event'],
    eventType: 'Normal',
    message: 'Pod {pod} has the CPU back that it had before: {cause}',
    advice: nothingToDo,
  },
  AgentGone: {
    kinds: ['event'],
    eventType: 'Warning',
    message: 'The agent of node {node} has not been heard of; its pods get back the CPU they had before',
    advice: 'Look after the DaemonSet of the agents on that node.',
  },
} as const satisfies Record<string, ReasonDefinition>;
