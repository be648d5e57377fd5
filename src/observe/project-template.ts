/** Pod spec -> PodTemplate: the part of a pod that all pods made from one template and steered to one side share. */
import type { Pod } from '../api/core.ts';
import { compileLabelSelector } from '../api/label-selector.ts';
import type {
  Labels,
  NodeSelectorTerm,
  PlacementPreferences,
  PodAffinityRule,
  PodTemplate,
  SelectorExpression,
  SpreadRule,
  Taint,
  Toleration,
} from '../model/records.ts';
import { HOSTNAME } from '../model/topology.ts';
import { countOr, listOf, textMap, textOr } from './fields.ts';
import { effectiveRequests, extraRequests } from './project-requests.ts';

type PodSpec = NonNullable<Pod['spec']>;
type ApiNodeSelectorTerm = NonNullable<
  NonNullable<
    NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
  >
>['nodeSelectorTerms'][number];
type ApiExpression = NonNullable<ApiNodeSelectorTerm['matchExpressions']>[number];

/** The StatefulSet controller gives each pod its own value of these labels. */
const perPodLabels: ReadonlySet<string> = new Set([
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
]);
/** API default of `terminationGracePeriodSeconds`. */
const DEFAULT_GRACE_SECONDS = 30;

/**
 * @param status given for a pod that exists, see {@link effectiveRequests}.
 * @throws InvalidValueError when a field has an impossible value.
 */
export function projectTemplate(labels: unknown, spec: PodSpec, status?: Pod['status']): PodTemplate {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(textMap(labels, 'metadata.labels')))
    if (!perPodLabels.has(key)) kept[key] = value;
  return {
    labels: kept,
    nodeSelector: textMap(spec.nodeSelector, 'spec.nodeSelector'),
    requiredNodeTerms: projectRequiredTerms(
      spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
    ),
    tolerations: listOf(spec.tolerations, 'spec.tolerations').map(projectToleration),
    requests: effectiveRequests(spec, status),
    ...projectExtraRequests(spec),
    ...(listOf(spec.resourceClaims, 'spec.resourceClaims').length > 0 && { claimsDevices: true }),
    hasPodPlacementRules: hasPodPlacementRules(spec),
    ...projectPodAffinity(spec, kept),
    ...projectSpread(spec),
    terminationGraceSeconds: graceSeconds(spec.terminationGracePeriodSeconds),
    ...projectPreferences(spec, kept),
  };
}

/**
 * The API takes any 63 bits: what is beyond the whole numbers here is for ever either way. Earlier versions of it took
 * amounts below 0, too, which count as a second (kubernetes pkg/registry/core/pod/strategy.go, CheckGracefulDelete).
 */
function graceSeconds(value: unknown): number {
  const isAny = typeof value === 'number' && Number.isInteger(value);
  const seconds = isAny ? Math.min(value < 0 ? 1 : value, Number.MAX_SAFE_INTEGER) : value;
  return countOr(seconds, DEFAULT_GRACE_SECONDS, 'spec.terminationGracePeriodSeconds');
}

function projectExtraRequests(spec: PodSpec): Pick<PodTemplate, 'extraRequests'> {
  const requests = extraRequests(spec);
  return requests === undefined ? {} : { extraRequests: requests };
}

/** A constraint counts where its selector picks the pod itself: then it is about its like. */
function projectPreferences(spec: PodSpec, labels: Labels): { preferences?: PlacementPreferences } {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  const nodeTerms = listOf(preferred, 'preferredDuringSchedulingIgnoredDuringExecution').flatMap(
    ({ weight, preference }) => projectRequiredTerms([preference])?.map((term) => ({ weight, term })) ?? [],
  );
  const spreadKeys = listOf(spec.topologySpreadConstraints, 'spec.topologySpreadConstraints').flatMap(
    ({ topologyKey, labelSelector }) =>
      labelSelector !== undefined && compileLabelSelector(labelSelector)(labels) ? [topologyKey] : [],
  );
  return nodeTerms.length + spreadKeys.length === 0 ? {} : { preferences: { nodeTerms, spreadKeys } };
}

/** Node selector terms, ORed; undefined when there is no node selector at all. */
export function projectRequiredTerms(
  terms: readonly ApiNodeSelectorTerm[] | undefined | null,
): readonly NodeSelectorTerm[] | undefined {
  if (terms === undefined || terms === null) return undefined;
  return listOf(terms, 'nodeSelectorTerms').map((term) => ({
    expressions: listOf(term.matchExpressions, 'matchExpressions').map(projectExpression),
    fields: listOf(term.matchFields, 'matchFields').map(projectExpression),
  }));
}

function projectExpression(expression: ApiExpression): SelectorExpression {
  return {
    key: textOr(expression.key, '', 'key'),
    operator: expression.operator as SelectorExpression['operator'],
    values: listOf(expression.values, 'values').map((value) => textOr(value, '', 'values')),
  };
}

/** No key with Exists tolerates everything; no effect is every effect (ToleratesTaint in k8s.io/api/core/v1). */
function projectToleration(toleration: NonNullable<PodSpec['tolerations']>[number]): Toleration {
  return {
    key: textOr(toleration.key, '', 'toleration key'),
    operator: toleration.operator === 'Exists' ? 'Exists' : 'Equal',
    value: textOr(toleration.value, '', 'toleration value'),
    effect: isTaintEffect(toleration.effect) ? toleration.effect : '',
  };
}

/** One of the three that Kubernetes knows. */
export function isTaintEffect(effect: unknown): effect is Taint['effect'] {
  return effect === 'NoSchedule' || effect === 'PreferNoSchedule' || effect === 'NoExecute';
}

/** Defaults as the API has them. */
function projectSpread(spec: PodSpec): Pick<PodTemplate, 'spread'> {
  const where = 'spec.topologySpreadConstraints';
  const spread = listOf(spec.topologySpreadConstraints, where)
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
    .map(
      (constraint): SpreadRule => ({
        topologyKey: textOr(constraint.topologyKey, '', `${where}.topologyKey`),
        maxSkew: countOr(constraint.maxSkew, 1, `${where}.maxSkew`),
        minDomains: countOr(constraint.minDomains, 1, `${where}.minDomains`),
        selector: constraint.labelSelector,
        matchLabelKeys: listOf(constraint.matchLabelKeys, `${where}.matchLabelKeys`),
        honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
        honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
      }),
    );
  return spread.length === 0 ? {} : { spread };
}

/** Required rules between pods: where a replacement fits cannot be told from nodes alone then. */
function hasPodPlacementRules(spec: PodSpec): boolean {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  return (
    takesHostPorts(spec) ||
    listOf(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, 'spec.affinity.podAffinity').length > 0 ||
    listOf(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, 'spec.affinity.podAntiAffinity').length >
      0 ||
    listOf(spec.topologySpreadConstraints, 'spec.topologySpreadConstraints').some(
      (constraint) => constraint.whenUnsatisfiable === 'DoNotSchedule',
    )
  );
}

/** Anti-affinity to strangers is left to the scheduler. */
function projectPodAffinity(spec: PodSpec, labels: Labels): Pick<PodTemplate, 'podAffinity'> {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const together = termsOf(podAffinity, 'podAffinity').map((term) => podAffinityRule('together', term, labels));
  const apart = termsOf(podAntiAffinity, 'podAntiAffinity')
    .map((term) => podAffinityRule('apart', term, labels))
    .filter(({ isOwn }) => isOwn);
  const rules = [...together, ...apart, ...(takesHostPorts(spec) ? [onItsOwnMachine] : [])];
  return rules.length === 0 ? {} : { podAffinity: rules };
}

/** A port of a machine is for one pod: where one replica has it, no other can run. */
const onItsOwnMachine: PodAffinityRule = {
  kind: 'apart',
  topologyKey: HOSTNAME,
  selector: undefined,
  isOwn: true,
  isElsewhere: false,
};

/** On the network of the machine every port is one of it; templates do not always repeat it. */
function takesHostPorts({ containers, initContainers, hostNetwork }: PodSpec): boolean {
  return [...listOf(containers, 'spec.containers'), ...listOf(initContainers, 'spec.initContainers')].some(
    ({ ports }) => listOf(ports, 'ports').some(({ hostPort = 0 }) => hostPort > 0 || hostNetwork === true),
  );
}

type PodAffinityTerm = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number];

function termsOf(
  affinity: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] } | undefined,
  where: string,
): readonly PodAffinityTerm[] {
  return listOf(affinity?.requiredDuringSchedulingIgnoredDuringExecution, `spec.affinity.${where}`);
}

function podAffinityRule(kind: PodAffinityRule['kind'], term: PodAffinityTerm, labels: Labels): PodAffinityRule {
  const { topologyKey, labelSelector: selector, namespaceSelector, mismatchLabelKeys } = term;
  const namespaces = listOf(term.namespaces, 'namespaces');
  // It is about pods that say something else there. In a pod that is made, the selector says so as well.
  const isOfOthers = listOf(mismatchLabelKeys, 'mismatchLabelKeys').some((key) => Object.hasOwn(labels, key));
  return {
    kind,
    topologyKey,
    selector,
    // Without a selector a term picks no pod.
    isOwn: selector !== undefined && !isOfOthers && compileLabelSelector(selector)(labels),
    isElsewhere: namespaces.length > 0 || namespaceSelector !== undefined,
    ...(namespaces.length > 0 && namespaceSelector === undefined && { namespaces }),
  };
}
