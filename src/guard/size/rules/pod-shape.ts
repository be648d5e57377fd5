/**
 * The pod is one that can be resized in place: running, of a kind and on a node that support it. All but the last few
 * are said by validation of `pods/resize` (KEP-1287), too; asked before, they come with advice and cost no request.
 */
import { resizeSupport } from '../../../model/resize-support.ts';
import { object } from '../../objection.ts';
import { podRule, resizeRule } from '../context.ts';

export const podRuns = resizeRule(
  'pod-runs',
  'A pod that has not started or is on its way out has nothing to resize; new pods are born with the right size.',
  ({ pod: { pod } }) => {
    if (pod.deletingAt !== undefined) return object('PodTerminating', { pod: pod.name });
    return pod.phase === 'Running' ? undefined : object('PodNotRunning', { pod: pod.name, phase: pod.phase });
  },
);

export const nodeAnswers = resizeRule(
  'node-answers',
  'A kubelet that says nothing carries nothing out: the resize would hold room and quota, and count as one without effect.',
  ({ decision, pod: { pod }, node }) =>
    node === undefined || node.ready || decision.isWithdrawal === true
      ? undefined
      : object('NodeSilent', { node: node.name, pod: pod.name }),
);

export const notStatic = resizeRule(
  'not-static',
  'The spec of a static pod is a file on its node: the API server refuses to resize its mirror.',
  ({ pod: { pod, sizing } }) => (sizing.isStatic ? object('StaticPod', { pod: pod.name }) : undefined),
);

export const notWindows = resizeRule(
  'not-windows',
  'Kubernetes resizes Linux pods only.',
  ({ pod: { pod, sizing }, node }) =>
    sizing.os === 'windows' || node?.labels['kubernetes.io/os'] === 'windows'
      ? object('WindowsPod', { pod: pod.name })
      : undefined,
);

/** KEP-2837; resizable themselves from 1.36 on, which is not used. */
export const noPodLevelResources = podRule(
  'no-pod-level-resources',
  'Sums of containers must stay within resources of the whole pod, which we do not change; new pods are not sized for that either.',
  ({ pod: { pod, sizing } }) =>
    sizing.hasPodLevelResources ? object('PodLevelResources', { pod: pod.name }) : undefined,
);

export const supported = resizeRule(
  'resize-supported',
  'Told by what the API server serves and what the kubelet reports, never by a version.',
  ({ pod, node }, { servesResize }) => {
    const support = resizeSupport(pod, node, servesResize);
    return support.kind === 'supported'
      ? undefined
      : object('ResizeUnsupported', { pod: pod.pod.name, detail: support.detail });
  },
);

export const notBestEffort = resizeRule(
  'not-best-effort',
  'First requests would change the QoS class, which is fixed for the life of a pod.',
  ({ pod: { pod, sizing } }) => (sizing.qos === 'BestEffort' ? object('BestEffort', { pod: pod.name }) : undefined),
);
