/**
 * Which side a pod's own nodeSelector and required node affinity leave open, told by evaluating them as expressions.
 */
import type { LabelSelector } from '../api/core.ts';
import { meets, selectorRequirements } from '../api/label-selector.ts';
import { termsOf } from './node-profiles.ts';
import type { NodeClassSettings } from './placement-settings.ts';
import type { Labels, NodeSelectorTerm, PodTemplate, Side } from './records.ts';

/**
 * `free`: either side will do, and the pin of either may be added. A side: the pod can run only there, or only that
 * side's pin can be added without a contradiction. `neither`: no node of a known side can satisfy the pod.
 */
export type PinnedSide = Side | 'free' | 'neither';

/** The part of a pod that says on which nodes it may run. */
export type NodeConstraints = Pick<PodTemplate, 'nodeSelector' | 'requiredNodeTerms'>;

/** Beyond this many label combinations a selector's list is cut: no real selector comes near. */
const MAX_EXAMPLES = 256;

/**
 * Compiles the settings into example nodes: the smallest sets of labels that make a node one of a side. A constraint is
 * evaluated on these, looking only at the labels that tell the sides apart; what else a pod asks of its node (zone,
 * disk) is taken to be available on both.
 */
export function createPinReader(settings: NodeClassSettings): (constraints: NodeConstraints) => PinnedSide {
  const keys = sideKeysOf(settings);
  const spot = exampleNodes(settings.spot);
  const onDemand = exampleNodes(settings.onDemand);
  if (settings.absenceMeansOnDemand) onDemand.push({});
  const spotPinned = spot.filter((labels) => matchesTerms(labels, termsOf(settings.pins.spot)));
  const onDemandPinned = onDemand.filter((labels) => matchesTerms(labels, termsOf(settings.pins.onDemand)));
  const known = new WeakMap<NodeConstraints, PinnedSide>();

  return (constraints) => {
    let pinned = known.get(constraints);
    if (pinned === undefined) {
      pinned = read(constraints);
      known.set(constraints, pinned);
    }
    return pinned;
  };

  function read(constraints: NodeConstraints): PinnedSide {
    const admits = (labels: Labels): boolean => admitsSide(constraints, labels, keys);
    const canPinSpot = spotPinned.some(admits);
    const canPinOnDemand = onDemandPinned.some(admits);
    if (canPinSpot && canPinOnDemand) return 'free';
    const canRunOnSpot = spot.some(admits);
    const canRunOnDemand = onDemand.some(admits);
    if (canRunOnSpot !== canRunOnDemand) return canRunOnSpot ? 'spot' : 'on-demand';
    if (canPinSpot !== canPinOnDemand) return canPinSpot ? 'spot' : 'on-demand';
    return 'neither';
  }
}

/** The labels that tell the sides apart. */
export function sideKeysOf({ spot, onDemand }: Pick<NodeClassSettings, 'spot' | 'onDemand'>): ReadonlySet<string> {
  return new Set([...spot, ...onDemand].flatMap(selectorRequirements).map(({ key }) => key));
}

/** The constraints without what they say of these labels. */
export function withoutKeys(constraints: NodeConstraints, keys: ReadonlySet<string>): NodeConstraints {
  const nodeSelector = Object.fromEntries(Object.entries(constraints.nodeSelector).filter(([key]) => !keys.has(key)));
  const terms = constraints.requiredNodeTerms
    ?.filter((term) => !isEmptyTerm(term))
    .map((term) => ({ ...term, expressions: term.expressions.filter(({ key }) => !keys.has(key)) }));
  // They are ORed: where one asks for nothing else, nothing else is asked for.
  return { nodeSelector, requiredNodeTerms: terms?.some(isEmptyTerm) === true ? undefined : terms };
}

function admitsSide(constraints: NodeConstraints, labels: Labels, keys: ReadonlySet<string>): boolean {
  for (const [key, value] of Object.entries(constraints.nodeSelector)) {
    if (keys.has(key) && labels[key] !== value) return false;
  }
  const terms = constraints.requiredNodeTerms;
  return (
    terms === undefined ||
    terms.some(
      (term) =>
        !isEmptyTerm(term) &&
        term.expressions.every((expression) => !keys.has(expression.key) || meets(labels, expression)),
    )
  );
}

function matchesTerms(labels: Labels, terms: readonly NodeSelectorTerm[]): boolean {
  return terms.some((term) => term.expressions.every((expression) => meets(labels, expression)));
}

/** A term without any requirement matches no node (component-helpers nodeaffinity: isEmptyNodeSelectorTerm). */
export function isEmptyTerm(term: NodeSelectorTerm): boolean {
  return term.expressions.length === 0 && term.fields.length === 0;
}

function exampleNodes(selectors: readonly LabelSelector[]): Labels[] {
  return selectors.flatMap((selector) => {
    let examples: Labels[] = [{}];
    for (const { key, operator, values } of selectorRequirements(selector)) {
      // NotIn and DoesNotExist hold where the label is absent, which the example leaves it.
      const choices = operator === 'In' ? values : operator === 'Exists' ? ['true'] : [];
      if (choices.length === 0) continue;
      examples = examples.flatMap((example) => choices.map((value) => ({ ...example, [key]: value })));
      examples = examples.slice(0, MAX_EXAMPLES);
    }
    return examples;
  });
}
