/** How the clouds and autoscalers mark spot nodes: ready-made {@link NodeClassSettings}, alone or several together. */

import type { LabelSelector } from '../api/core.ts';
import { selectorRequirements } from '../api/label-selector.ts';
import { InvalidValueError } from '../lib/errors.ts';
import type { NodeClassSettings, SidePin } from './placement-settings.ts';
import type { NodeSelectorTerm, SelectorExpression, Toleration } from './records.ts';

interface NodeProfile {
  readonly spot: readonly LabelSelector[];
  /** Empty where nothing marks on-demand nodes. */
  readonly onDemand: readonly LabelSelector[];
  /** The cloud marks spot nodes only. */
  readonly absenceMeansOnDemand: boolean;
  readonly pins: { readonly spot: SidePin; readonly onDemand: SidePin | undefined };
  readonly spotTolerations: readonly Toleration[];
  readonly leavingTaintKeys: readonly string[];
  /** An autoscaler creates nodes of both sides when a pod asks for one. */
  readonly provisionable: boolean;
}

const KARPENTER = 'karpenter.sh/capacity-type';
const EKS = 'eks.amazonaws.com/capacityType';
const GKE_SPOT = 'cloud.google.com/gke-spot';
const AKS = 'kubernetes.azure.com/scalesetpriority';
const CAST = 'scheduling.cast.ai/spot';

/**
 * One entry a cloud. Labels and taints: karpenter pkg/apis/v1/labels.go and taints.go; EKS managed node groups, GKE
 * Spot VMs, AKS spot node pools and CAST AI documentation.
 *
 * Karpenter's `reserved` nodes count as on-demand, but the pin written into pods stays
 * `karpenter.sh/capacity-type: on-demand`, as Spotalis writes it; `includeReserved` of {@link nodeClassProfile} asks
 * for an affinity that admits both. On GKE the pin of spot names Spot VMs only, not the older preemptible ones.
 */
const profiles = {
  karpenter: {
    spot: [{ matchLabels: { [KARPENTER]: 'spot' } }],
    onDemand: [{ matchExpressions: [{ key: KARPENTER, operator: 'In', values: ['on-demand', 'reserved'] }] }],
    absenceMeansOnDemand: false,
    pins: { spot: equality(KARPENTER, 'spot'), onDemand: equality(KARPENTER, 'on-demand') },
    spotTolerations: [],
    leavingTaintKeys: ['karpenter.sh/disrupted', 'karpenter.sh/disruption'],
    provisionable: true,
  },
  eks: {
    spot: [{ matchLabels: { [EKS]: 'SPOT' } }],
    onDemand: [{ matchExpressions: [{ key: EKS, operator: 'In', values: ['ON_DEMAND', 'CAPACITY_BLOCK'] }] }],
    absenceMeansOnDemand: false,
    pins: { spot: equality(EKS, 'SPOT'), onDemand: equality(EKS, 'ON_DEMAND') },
    spotTolerations: [],
    leavingTaintKeys: [
      'aws-node-termination-handler/spot-itn',
      'aws-node-termination-handler/scheduled-maintenance',
      'aws-node-termination-handler/asg-lifecycle-termination',
      'aws-node-termination-handler/rebalance-recommendation',
    ],
    provisionable: false,
  },
  gke: {
    spot: [
      { matchLabels: { [GKE_SPOT]: 'true' } },
      { matchLabels: { 'cloud.google.com/gke-provisioning': 'spot' } },
      { matchLabels: { 'cloud.google.com/gke-preemptible': 'true' } },
    ],
    onDemand: [{ matchLabels: { 'cloud.google.com/gke-provisioning': 'standard' } }],
    absenceMeansOnDemand: true,
    pins: { spot: equality(GKE_SPOT, 'true'), onDemand: undefined },
    spotTolerations: [{ key: GKE_SPOT, operator: 'Equal', value: 'true', effect: 'NoSchedule' }],
    leavingTaintKeys: ['cloud.google.com/impending-node-termination'],
    provisionable: false,
  },
  aks: {
    spot: [{ matchLabels: { [AKS]: 'spot' } }],
    onDemand: [{ matchLabels: { [AKS]: 'regular' } }],
    absenceMeansOnDemand: true,
    pins: { spot: equality(AKS, 'spot'), onDemand: undefined },
    spotTolerations: [{ key: AKS, operator: 'Equal', value: 'spot', effect: 'NoSchedule' }],
    leavingTaintKeys: [],
    provisionable: false,
  },
  castai: {
    spot: [{ matchLabels: { [CAST]: 'true' } }],
    onDemand: [],
    absenceMeansOnDemand: true,
    pins: { spot: equality(CAST, 'true'), onDemand: undefined },
    spotTolerations: [{ key: CAST, operator: 'Exists', value: '', effect: '' }],
    leavingTaintKeys: [],
    provisionable: false,
  },
} as const satisfies Record<string, NodeProfile>;

/** The labels of all profiles. */
export const profileKeys: readonly string[] = Object.values(profiles)
  .flatMap(({ spot, onDemand }): readonly LabelSelector[] => [...spot, ...onDemand])
  .flatMap(selectorRequirements)
  .map(({ key }) => key);

type NodeProfileName = keyof typeof profiles;

/** Taints that announce the end of a node whatever the cloud. */
const commonLeavingTaintKeys: readonly string[] = [
  'ToBeDeletedByClusterAutoscaler',
  'node.cloudprovider.kubernetes.io/shutdown',
  'node.kubernetes.io/out-of-service',
];

/** What is added to the chosen profiles, or stands alone where none is chosen. */
export interface CustomNodeClasses {
  readonly spot?: readonly LabelSelector[];
  readonly onDemand?: readonly LabelSelector[];
  readonly absenceMeansOnDemand?: boolean;
  readonly spotTolerations?: readonly Toleration[];
  /** Where pods are pinned to on-demand, let them run on Karpenter's `reserved` nodes too (as required affinity). */
  readonly includeReserved?: boolean;
  /** Overrides what the profiles say about an autoscaler. */
  readonly provisionable?: { readonly spot: boolean; readonly onDemand: boolean };
}

/**
 * The settings for one or several profiles together, plus own selectors.
 * @throws InvalidValueError when no rule for spot nodes is left, or on-demand can be neither selected nor told by
 * absence.
 */
export function nodeClassProfile(names: readonly NodeProfileName[], custom: CustomNodeClasses = {}): NodeClassSettings {
  const chosen: readonly NodeProfile[] = names.map((name) => profiles[name]);
  const spot = [...chosen.flatMap((profile) => profile.spot), ...(custom.spot ?? [])];
  const onDemand = [...chosen.flatMap((profile) => profile.onDemand), ...(custom.onDemand ?? [])];
  const absenceMeansOnDemand = custom.absenceMeansOnDemand ?? chosen.some((profile) => profile.absenceMeansOnDemand);
  if (spot.length === 0 || (onDemand.length === 0 && !absenceMeansOnDemand)) {
    const where = spot.length === 0 ? 'spotLabels' : 'onDemandLabels';
    throw new InvalidValueError(
      `controllers.nodeClassifier.${where}`,
      '[]',
      'at least one selector or a cloud profile',
    );
  }
  // Each names its tool, and several may be at work in one cluster: they mean the same with any profile, or none.
  const allProfiles: readonly NodeProfile[] = Object.values(profiles);
  const provisionable = chosen.some((profile) => profile.provisionable);
  return {
    spot,
    onDemand,
    absenceMeansOnDemand,
    pins: {
      spot: joinPins([...chosen.map((profile) => profile.pins.spot), ...pinsOf(custom.spot ?? [])]),
      onDemand: onDemandPin(chosen, custom, { spot, absenceMeansOnDemand }),
    },
    spotTolerations: [...chosen.flatMap((profile) => profile.spotTolerations), ...(custom.spotTolerations ?? [])],
    leavingTaintKeys: [...commonLeavingTaintKeys, ...allProfiles.flatMap((profile) => profile.leavingTaintKeys)],
    provisionable: custom.provisionable ?? { spot: provisionable, onDemand: provisionable },
  };
}

function onDemandPin(
  chosen: readonly NodeProfile[],
  custom: CustomNodeClasses,
  rules: { readonly spot: readonly LabelSelector[]; readonly absenceMeansOnDemand: boolean },
): SidePin {
  if (rules.absenceMeansOnDemand) return { kind: 'affinity', terms: noneOf(rules.spot) };
  const profilePins = chosen.flatMap((profile) =>
    custom.includeReserved === true || profile.pins.onDemand === undefined
      ? pinsOf(profile.onDemand)
      : [profile.pins.onDemand],
  );
  const pin = joinPins([...profilePins, ...pinsOf(custom.onDemand ?? [])]);
  // One label is said as the node selector that Spotalis would write.
  if (pin.kind === 'nodeSelector') return pin;
  return { kind: 'affinity', terms: pin.terms.flatMap((term) => outside(term, rules.spot)) };
}

/** The term without the nodes that are spot by another label than the one it asks for: spot is asked first. */
function outside(term: NodeSelectorTerm, spot: readonly LabelSelector[]): NodeSelectorTerm[] {
  const possible = spot.filter((selector) => !excludes(term, selector));
  return noneOf(possible).map(({ expressions }) => ({ ...term, expressions: [...term.expressions, ...expressions] }));
}

/** Whether one label of the selector would need two values at once. */
function excludes({ expressions }: NodeSelectorTerm, selector: LabelSelector): boolean {
  return selectorRequirements(selector).some(
    (wanted) =>
      wanted.operator === 'In' &&
      expressions.some(
        ({ key, operator, values }) =>
          key === wanted.key && operator === 'In' && !values.some((value) => wanted.values.includes(value)),
      ),
  );
}

function equality(key: string, value: string): SidePin {
  return { kind: 'nodeSelector', key, value };
}

/** One pin a selector: an equality where the selector is one, else its expressions as a term. */
function pinsOf(selectors: readonly LabelSelector[]): SidePin[] {
  return selectors.map((selector) => {
    const expressions = selectorRequirements(selector);
    const [first] = expressions;
    const [value] = first?.values ?? [];
    const isEquality = expressions.length === 1 && first?.operator === 'In' && first.values.length === 1;
    return isEquality && first !== undefined && value !== undefined
      ? equality(first.key, value)
      : { kind: 'affinity', terms: [{ expressions, fields: [] }] };
  });
}

/**
 * Any of the pins will do: one stays as it is, several become ORed terms. One that a profile and own labels both name is
 * one.
 */
function joinPins(all: readonly SidePin[]): SidePin {
  const pins = [...new Map(all.map((pin) => [JSON.stringify(pin), pin])).values()];
  const [only, ...others] = pins;
  if (only !== undefined && others.length === 0) return only;
  return { kind: 'affinity', terms: pins.flatMap(termsOf) };
}

/** A pin as required node affinity. */
export function termsOf(pin: SidePin): readonly NodeSelectorTerm[] {
  if (pin.kind === 'affinity') return pin.terms;
  return [{ expressions: [{ key: pin.key, operator: 'In', values: [pin.value] }], fields: [] }];
}

/**
 * Terms that hold exactly where none of the selectors matches: not (A or B) = (not A) and (not B), spelled out as ORed
 * terms.
 */
function noneOf(selectors: readonly LabelSelector[]): NodeSelectorTerm[] {
  let terms: SelectorExpression[][] = [[]];
  for (const selector of selectors) {
    const negations = selectorRequirements(selector).map(negate);
    terms = terms.flatMap((term) => negations.map((negation) => [...term, negation]));
  }
  return terms.map((expressions) => ({ expressions, fields: [] }));
}

const opposites = {
  In: 'NotIn',
  NotIn: 'In',
  Exists: 'DoesNotExist',
  DoesNotExist: 'Exists',
  Gt: 'Lt',
  Lt: 'Gt',
} as const;

function negate(expression: SelectorExpression): SelectorExpression {
  return { ...expression, operator: opposites[expression.operator] };
}
