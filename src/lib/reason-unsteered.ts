/** Why a pod was admitted without being steered to a side. */
import { nothingToDo, type ReasonDefinition } from './reason-definition.ts';

export const unsteeredReasons = {
  UnsupportedResource: {
    kinds: ['unsteered'],
    eventType: 'Normal',
    message: 'Only the creation of core/v1 pods is steered, not {operation} of {kind}',
    advice: nothingToDo,
  },
  NoManagedOwner: {
    kinds: ['unsteered'],
    eventType: 'Normal',
    message: 'The pod has no controller of a managed kind',
    advice: 'Placement manages Deployments, StatefulSets and other owners of ReplicaSets.',
  },
  OwnerUnknown: {
    kinds: ['unsteered'],
    eventType: 'Warning',
    message: 'The owner {owner} was not found in time',
    advice: 'Check the load of the API server; the controllers repair the placement afterwards.',
  },
  MirrorPod: {
    kinds: ['unsteered'],
    eventType: 'Normal',
    message: 'The pod is a static pod of its node',
    advice: nothingToDo,
  },
  AlreadyBound: {
    kinds: ['unsteered'],
    eventType: 'Normal',
    message: 'The pod names its node ({node}) itself',
    advice: 'Remove spec.nodeName from the pod template to have its pods steered.',
  },
  AlreadyStamped: {
    kinds: ['unsteered'],
    eventType: 'Normal',
    message: 'The pod carries a slot already',
    advice: nothingToDo,
  },
  PinnedByUser: {
    kinds: ['unsteered'],
    eventType: 'Normal',
    message: 'The pod template pins {side}; the pod is counted there',
    advice: 'Remove the capacity selector from the pod template to have its pods steered.',
  },
  DryRun: {
    kinds: ['unsteered'],
    eventType: 'Normal',
    message: 'Dry run: decided {side} and reserved nothing',
    advice: nothingToDo,
  },
  AdmissionFailed: {
    kinds: ['unsteered'],
    eventType: 'Warning',
    message: 'Deciding about the pod failed: {error}',
    advice: 'See the log record of this admission and report it; the controllers repair the placement afterwards.',
  },
} as const satisfies Record<string, ReasonDefinition>;
