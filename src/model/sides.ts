/** The two sides made usable: everything decisions ask about spot and on-demand, compiled once from the settings. */
import { createNodeClassifier, isCapacity, leavingCause } from './node-class.ts';
import { profileKeys } from './node-profiles.ts';
import type { NodeClassSettings, SidePin } from './placement-settings.ts';
import type { NodeClass, NodeRecord, Side, Toleration } from './records.ts';
import { createPinReader, type NodeConstraints, type PinnedSide, sideKeysOf, withoutKeys } from './side-pin.ts';

export interface Sides {
  classOf(node: NodeRecord): NodeClass;
  /** The node can be expected to run new pods. */
  isCapacity(node: NodeRecord): boolean;
  /** Why the node is going away by itself, or undefined. */
  leavingCause(node: NodeRecord): string | undefined;
  /** The side that a pod's own constraints choose. Answers for one template object are remembered. */
  pinnedSide(constraints: NodeConstraints): PinnedSide;
  /** What a pod's constraints ask of its node besides a side: of one that was steered, what Stowage did not write. */
  besidesSide(constraints: NodeConstraints): NodeConstraints;
  /** How the side is said in a pod. */
  pinOf(side: Side): SidePin;
  /** What a pod must tolerate to run there. */
  tolerationsOf(side: Side): readonly Toleration[];
  /** An autoscaler makes nodes of the side when pods ask for them. */
  isProvisionable(side: Side): boolean;
}

/** @throws InvalidValueError for an invalid or empty node selector. */
export function createSides(settings: NodeClassSettings): Sides {
  const { pins, provisionable, spotTolerations } = settings;
  // Of every profile: pods keep the pin that they were given under an earlier configuration.
  const keys = new Set([...sideKeysOf(settings), ...profileKeys]);
  return {
    classOf: createNodeClassifier(settings),
    isCapacity: (node) => isCapacity(node, settings),
    leavingCause: (node) => leavingCause(node, settings),
    pinnedSide: createPinReader(settings),
    besidesSide: (constraints) => withoutKeys(constraints, keys),
    pinOf: (side) => (side === 'spot' ? pins.spot : pins.onDemand),
    tolerationsOf: (side) => (side === 'spot' ? spotTolerations : []),
    isProvisionable: (side) => (side === 'spot' ? provisionable.spot : provisionable.onDemand),
  };
}
