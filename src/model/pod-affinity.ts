/** Required affinity and anti-affinity between pods, as far as it says where a replacement could not run. */
import { compileLabelSelector } from '../api/label-selector.ts';
import type { ClusterView } from './cluster-view.ts';
import { isLive } from './owners.ts';
import type { NodeRecord, PodAffinityRule, PodTemplate } from './records.ts';
import { domainOf, HOSTNAME } from './topology.ts';

/** Whom a pod would meet, and what it asks of them. */
export interface PodAffinityRequest {
  readonly namespace: string;
  readonly template: Pick<PodTemplate, 'podAffinity'>;
  /** Nodes that run another pod of the same workload. */
  readonly siblingNodes: ReadonlySet<string>;
  /** Nodes on which one is ending: until it is gone others are kept apart from it. Left out, there are none. */
  readonly endingNodes?: ReadonlySet<string> | undefined;
}

const none: readonly PodAffinityRule[] = [];
const noNodes: ReadonlySet<string> = new Set();

/**
 * Tells of nodes whether the pods around them may keep the pod from there. What cannot be told counts as if they did.
 * Anti-affinity to strangers is not asked: a pod that is moved for nothing waits, and its side is left alone for a
 * while. Each domain is looked at once, so the answer holds for the moment only. Source: kubernetes
 * pkg/scheduler/framework/plugins/interpodaffinity/filtering.go.
 */
export function judgePodAffinity(view: ClusterView, request: PodAffinityRequest): (node: NodeRecord) => boolean {
  const { podAffinity: rules = none } = request.template;
  const judged = rules.map((rule) => ({ rule, isMet: domainReader(view, rule, request) }));
  return (node) =>
    judged.some(({ rule, isMet }) => {
      // Nodes without the label are in no domain: no affinity holds there, and any anti-affinity does.
      const domain = domainOf(node, rule.topologyKey);
      if (rule.kind === 'apart') return isOfOwn(rule, request) && domain !== undefined && isMet(domain);
      // The first of its kind may go anywhere.
      if (rule.isOwn && request.siblingNodes.size === 0) return false;
      return domain === undefined || isOfOthers(rule, request) || !isMet(domain);
    });
}

/** Whether pods of the pod's own namespace count; of a selector of namespaces that is assumed. */
function isOfOwn({ namespaces }: PodAffinityRule, { namespace }: PodAffinityRequest): boolean {
  return namespaces === undefined || namespaces.includes(namespace);
}

/** Whether pods of other namespaces may count; who lists none but his own says what holds anyway. */
function isOfOthers({ isElsewhere, namespaces }: PodAffinityRule, { namespace }: PodAffinityRequest): boolean {
  return isElsewhere && namespaces?.every((name) => name === namespace) !== true;
}

/** Whether a pod that the rule is about runs in a domain. */
function domainReader(
  view: ClusterView,
  rule: PodAffinityRule,
  request: PodAffinityRequest,
): (domain: string) => boolean {
  if (rule.isOwn) {
    // Of a rule that keeps replicas on machines of their own each node is asked: once through the siblings is enough.
    let domains: ReadonlySet<string> | undefined;
    return (domain) => {
      domains ??= domainsOfSiblings(view, rule, request);
      return domains.has(domain);
    };
  }
  const known = new Map<string, boolean>();
  return (domain) => {
    let isMet = known.get(domain);
    if (isMet === undefined) {
      isMet = hasStranger(view, domain, rule, request);
      known.set(domain, isMet);
    }
    return isMet;
  };
}

/** Whether no node that is yet to be made could do: who must share the machine of others finds none there. */
export function needsKnownNode({ template, siblingNodes }: PodAffinityRequest): boolean {
  const { podAffinity: rules = none } = template;
  return rules.some(
    ({ kind, topologyKey, isOwn }) =>
      kind === 'together' && topologyKey === HOSTNAME && !(isOwn && siblingNodes.size === 0),
  );
}

function domainsOfSiblings(
  view: ClusterView,
  { kind, topologyKey }: PodAffinityRule,
  { siblingNodes, endingNodes = noNodes }: PodAffinityRequest,
): ReadonlySet<string> {
  const domains = [...siblingNodes, ...(kind === 'apart' ? endingNodes : [])].map((name) => {
    const node = view.node(name);
    return node && domainOf(node, topologyKey);
  });
  return new Set(domains.filter((domain) => domain !== undefined));
}

function hasStranger(
  view: ClusterView,
  domain: string,
  rule: PodAffinityRule,
  { namespace }: PodAffinityRequest,
): boolean {
  const matches = compileLabelSelector(rule.selector);
  for (const node of view.nodes()) {
    if (domainOf(node, rule.topologyKey) !== domain) continue;
    const pods = view.podsOnNode(node.name);
    if (pods.some((pod) => pod.namespace === namespace && isLive(pod) && matches(pod.template.labels))) return true;
  }
  return false;
}
