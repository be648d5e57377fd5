/** What a node is (spot, on-demand or unknown), and whether it can take pods at all. */

import type { LabelSelector } from '../api/core.ts';
import { compileLabelSelector, type LabelMatcher, selectorRequirements } from '../api/label-selector.ts';
import { InvalidValueError } from '../lib/errors.ts';
import type { NodeClassSettings } from './placement-settings.ts';
import type { NodeClass, NodeRecord, Side } from './records.ts';

/** Pure and cheap: asked for every node at every admission. */
export type NodeClassifier = (node: NodeRecord) => NodeClass;

/**
 * Taints of a node that has joined but is not set up yet: its labels may still be missing, so it is neither counted as
 * a side by the absence of a label nor as capacity. Sources: KEP-88 (cloud controller), karpenter
 * pkg/apis/v1/taints.go.
 */
const uninitialisedTaintKeys: ReadonlySet<string> = new Set([
  'node.cloudprovider.kubernetes.io/uninitialized',
  'karpenter.sh/unregistered',
]);

/**
 * Compiles the settings once; the answer for a node record is remembered for as long as that record lives, so a node
 * whose labels change (a new record) is classified anew.
 * @throws InvalidValueError for an invalid selector, and for an empty one: it would match every node.
 */
export function createNodeClassifier(settings: NodeClassSettings): NodeClassifier {
  const isSpot = compileAny(settings.spot, 'spotLabels');
  const isOnDemand = compileAny(settings.onDemand, 'onDemandLabels');
  const known = new WeakMap<NodeRecord, NodeClass>();
  return (node) => {
    const remembered = known.get(node);
    if (remembered !== undefined) return remembered;
    const nodeClass = classify(node);
    known.set(node, nodeClass);
    return nodeClass;
  };

  function classify(node: NodeRecord): NodeClass {
    // Spot first: a node that matches both lists can be reclaimed, so it must not count for the floor.
    if (isSpot(node.labels)) return 'spot';
    if (isOnDemand(node.labels)) return 'on-demand';
    return settings.absenceMeansOnDemand && isInitialised(node) ? 'on-demand' : 'unknown';
  }
}

function compileAny(selectors: readonly LabelSelector[], where: string): LabelMatcher {
  const matchers = selectors.map((selector, index) => {
    if (selectorRequirements(selector).length === 0) {
      throw new InvalidValueError(
        `controllers.nodeClassifier.${where}[${index}]`,
        JSON.stringify(selector),
        'a selector with at least one label or expression (an empty one matches every node)',
      );
    }
    return compileLabelSelector(selector);
  });
  return (labels) => matchers.some((matches) => matches(labels));
}

function isInitialised(node: NodeRecord): boolean {
  return !node.taints.some((taint) => uninitialisedTaintKeys.has(taint.key));
}

/** Why a node is going away by itself, or undefined: its pods are not ours to move, and it takes no new ones. */
export function leavingCause(node: NodeRecord, settings: NodeClassSettings): string | undefined {
  if (node.deleting) return 'it is being deleted';
  const taint = node.taints.find((candidate) => settings.leavingTaintKeys.includes(candidate.key));
  return taint === undefined ? undefined : `taint ${taint.key}`;
}

/** Whether new pods can be expected to run on the node: Ready, not cordoned, set up, not leaving. */
export function isCapacity(node: NodeRecord, settings: NodeClassSettings): boolean {
  return node.ready && !node.unschedulable && isInitialised(node) && leavingCause(node, settings) === undefined;
}

/** The other side. */
export function oppositeOf(side: Side): Side {
  return side === 'spot' ? 'on-demand' : 'spot';
}
