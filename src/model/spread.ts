/** Required topology spread (`DoNotSchedule`): where one pod more would make domains too uneven. */
import { compileLabelSelector } from '../api/label-selector.ts';
import { ownMember } from '../lib/own-member.ts';
import type { ClusterView } from './cluster-view.ts';
import { admitsNode, matchesNodeTerms, toleratesAll } from './node-fit.ts';
import { isLive } from './owners.ts';
import type {
  Labels,
  NodeRecord,
  NodeSelectorTerm,
  PodRecord,
  PodTemplate,
  SpreadRule,
  Toleration,
} from './records.ts';
import { domainOf, HOSTNAME } from './topology.ts';

/** A pod that is to be made in the place of another. */
export interface SpreadRequest {
  readonly namespace: string;
  readonly template: Pick<PodTemplate, 'labels' | 'nodeSelector' | 'requiredNodeTerms' | 'spread'>;
  /** Of the template, and those that it is given at admission. */
  readonly tolerations: readonly Toleration[];
  /** What it is given at admission to stay on its side; undefined: nothing. */
  readonly pinTerms: readonly NodeSelectorTerm[] | undefined;
  /**
   * It is no longer counted; labels that its owner gives its pods beside the template's, such as that of the revision,
   * are read from it. Undefined: spread is not asked, and never in the way.
   */
  readonly leaving: Pick<PodRecord, 'uid' | 'template'> | undefined;
}

export interface SpreadJudge {
  /** The pod would not be scheduled on the node. */
  readonly isUneven: (node: NodeRecord) => boolean;
  /**
   * The pod would not be scheduled on any new node beside one of these: in none of their zones. A new machine is the
   * emptiest there is. Where there are none, nothing is known against it.
   */
  readonly isUnevenBeside: (nodes: readonly NodeRecord[]) => boolean;
}

const fair: SpreadJudge = { isUneven: () => false, isUnevenBeside: () => false };

/**
 * Counts as the scheduler does (kubernetes pkg/scheduler/framework/plugins/podtopologyspread): live pods of the
 * namespace, on nodes that carry the keys of all rules and, where a rule says so, that the pod could run on. Each rule
 * is counted once, when it is first asked for; the answer holds for the moment only.
 */
export function judgeSpread(view: ClusterView, request: SpreadRequest): SpreadJudge {
  const { template, leaving } = request;
  const { spread = [] } = template;
  if (leaving === undefined || spread.length === 0) return fair;
  const checks = spread.map((rule) => {
    let counted: ReturnType<typeof countDomains> | undefined;
    const isUneven = (node: NodeRecord): boolean => {
      const domain = domainOf(node, rule.topologyKey);
      // Nodes without the label take no pod that is to be spread over it.
      if (domain === undefined) return true;
      counted ??= countDomains(view, rule, spread, request, leaving);
      return (counted.pods.get(domain) ?? 0) + counted.self - counted.least > rule.maxSkew;
    };
    return { rule, isUneven };
  });
  const beyondMachine = checks.filter(({ rule }) => rule.topologyKey !== HOSTNAME);
  return {
    isUneven: (node) => checks.some(({ isUneven }) => isUneven(node)),
    isUnevenBeside: (nodes) =>
      nodes.length > 0 && nodes.every((node) => beyondMachine.some(({ isUneven }) => isUneven(node))),
  };
}

function countDomains(
  view: ClusterView,
  rule: SpreadRule,
  all: readonly SpreadRule[],
  { namespace, template, tolerations, pinTerms }: SpreadRequest,
  leaving: Pick<PodRecord, 'uid' | 'template'>,
) {
  const labels: Labels = { ...leaving.template.labels, ...template.labels };
  const matches = matcherOf(rule, labels);
  // Thousands of pods share few templates.
  const known = new Map<PodTemplate, boolean>();
  const isCounted = (pod: PodRecord): boolean => {
    if (pod.namespace !== namespace || pod.uid === leaving.uid || !isLive(pod)) return false;
    let isMatch = known.get(pod.template);
    if (isMatch === undefined) {
      isMatch = matches(pod.template.labels);
      known.set(pod.template, isMatch);
    }
    return isMatch;
  };
  const pods = new Map<string, number>();
  for (const node of view.nodes()) {
    const domain = domainOf(node, rule.topologyKey);
    if (domain === undefined || all.some(({ topologyKey }) => domainOf(node, topologyKey) === undefined)) continue;
    if (rule.honorsAffinity && !admitsNode(template, node)) continue;
    if (rule.honorsAffinity && pinTerms !== undefined && !matchesNodeTerms(pinTerms, node)) continue;
    if (rule.honorsTaints && !toleratesAll(tolerations, node.taints)) continue;
    const here = view.podsOnNode(node.name).filter(isCounted).length;
    pods.set(domain, (pods.get(domain) ?? 0) + here);
  }
  const least = pods.size < rule.minDomains ? 0 : Math.min(...pods.values());
  return { pods, least, self: matches(labels) ? 1 : 0 };
}

function matcherOf({ selector, matchLabelKeys }: SpreadRule, labels: Labels): (labels: Labels) => boolean {
  if (selector === undefined) return () => false;
  const own = matchLabelKeys.flatMap((key): [string, string][] => {
    const value = ownMember(labels, key);
    return value === undefined ? [] : [[key, value]];
  });
  return compileLabelSelector({ ...selector, matchLabels: { ...selector.matchLabels, ...Object.fromEntries(own) } });
}
