/** Which nodes can take a pod: the scheduler's filters, in the order Kubernetes runs them. */

import type { Node, PersistentVolume } from '../../api/core.ts';
import { ownMember } from '../../lib/own-member.ts';
import { namespaceOf } from '../objects.ts';
import { type ClusterState, groupMatcher, type NodeState } from './cluster-state.ts';
import type { Refusal } from './failure-message.ts';
import { admitsNode, matchesAnyTerm, untoleratedTaints } from './node-matching.ts';
import { type AffinityTerm, ANY_ADDRESS, type HostPort, type PodInfo, type SpreadConstraint } from './pod-info.ts';

/** Says why a node cannot take the pod; undefined when it can as far as this filter is concerned. */
export type NodeFilter = (state: NodeState) => Refusal | undefined;

const UNSCHEDULABLE_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const ZONE_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Unresolvable: evicting pods of the node would not help, so preemption does not look at it. */
const unresolvable = (reason: string): Refusal => ({ reasons: [reason], isUnresolvable: true });
const resolvable = (reason: string): Refusal => ({ reasons: [reason], isUnresolvable: false });

/**
 * The filters of one pod; a node is refused by the first that objects.
 * @param volumes the volumes its bound claims are bound to.
 */
export function createPodFilter(
  info: PodInfo,
  cluster: ClusterState,
  volumes: readonly PersistentVolume[],
): NodeFilter {
  const spread = info.spread.filter((constraint) => constraint.isHard);
  const filters: NodeFilter[] = [
    refuseUnsuitableNode(info),
    ...(info.hostPorts.length === 0 ? [] : [refuseTakenPorts(info)]),
    (state) => refuseShortage(info, state),
    ...(volumes.length === 0 ? [] : [refuseOtherZones(volumes)]),
    ...spread.map((constraint) => refuseSkew(info, constraint, spread, cluster)),
    ...affinityFilters(info, cluster),
    ...antiAffinityFilters(info, cluster),
  ];
  return (state) => {
    for (const filter of filters) {
      const refusal = filter(state);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
}

/** What depends on the node alone: cordon, taints, labels, name. */
export function refuseUnsuitableNode(info: PodInfo): NodeFilter {
  const { spec } = info;
  return ({ node }) => {
    if (
      node.spec?.unschedulable === true &&
      untoleratedTaints([UNSCHEDULABLE_TAINT], spec.tolerations, ['NoSchedule']).length > 0
    ) {
      return unresolvable('node(s) were unschedulable');
    }
    if (untoleratedTaints(node.spec?.taints, spec.tolerations, ['NoSchedule', 'NoExecute']).length > 0) {
      return unresolvable('node(s) had untolerated taint(s)');
    }
    return admitsNode(spec, node) ? undefined : unresolvable("node(s) didn't match Pod's node affinity/selector");
  };
}

/** Source: pkg/scheduler/framework/plugins/nodeports. */
function refuseTakenPorts({ hostPorts: wanted }: PodInfo): NodeFilter {
  return ({ pods }) => {
    const taken = [...pods.values()].flatMap(({ hostPorts }) => hostPorts);
    return wanted.some((port) => taken.some((other) => isSamePort(port, other)))
      ? resolvable("node(s) didn't have free ports for the requested pod ports")
      : undefined;
  };
}

function isSamePort(one: HostPort, other: HostPort): boolean {
  const isShared = one.address === other.address || [one.address, other.address].includes(ANY_ADDRESS);
  return one.port === other.port && one.protocol === other.protocol && isShared;
}

/** Every scarce resource is named, so that one look says what to add. */
export function refuseShortage(info: PodInfo, state: NodeState): Refusal | undefined {
  const reasons: string[] = [];
  let isUnresolvable = false;
  if (state.pods.size + 1 > (state.allocatable.get('pods') ?? 0)) reasons.push('Too many pods');
  for (const [resource, amount] of info.requests) {
    const allocatable = state.allocatable.get(resource) ?? 0;
    if (amount === 0 || amount <= allocatable - (state.requested.get(resource) ?? 0)) continue;
    reasons.push(`Insufficient ${resource}`);
    isUnresolvable ||= amount > allocatable;
  }
  return reasons.length === 0 ? undefined : { reasons, isUnresolvable };
}

function refuseOtherZones(volumes: readonly PersistentVolume[]): NodeFilter {
  return ({ node }) => {
    for (const volume of volumes) {
      const required = volume.spec?.nodeAffinity?.required;
      if (required !== undefined && !matchesAnyTerm(required.nodeSelectorTerms, node)) {
        return unresolvable("node(s) didn't match PersistentVolume's node affinity");
      }
      if (!sharesZone(volume, node)) return unresolvable('node(s) had no available volume zone');
    }
    return undefined;
  };
}

/** A volume labelled with several zones (`a__b`) can be used in each of them. */
function sharesZone(volume: PersistentVolume, node: Node): boolean {
  return ZONE_LABELS.every((label) => {
    const zones = volume.metadata?.labels?.[label];
    return zones === undefined || zones.split('__').includes(node.metadata?.labels?.[label] ?? '');
  });
}

/** With fewer domains than `minDomains` the smallest counts as empty, so that new domains are waited for (KEP-3022). */
function refuseSkew(
  info: PodInfo,
  constraint: SpreadConstraint,
  all: readonly SpreadConstraint[],
  cluster: ClusterState,
): NodeFilter {
  const domains = domainCounts(info, constraint, all, cluster);
  const smallest = domains.size < constraint.minDomains ? 0 : Math.min(...domains.values());
  const self = groupMatcher(constraint.group)(info) ? 1 : 0;
  return ({ node }) => {
    const domain = ownMember(node.metadata?.labels, constraint.topologyKey);
    if (domain === undefined) {
      return unresolvable("node(s) didn't match pod topology spread constraints (missing required label)");
    }
    const skew = (domains.get(domain) ?? 0) + self - smallest;
    return skew > constraint.maxSkew ? resolvable("node(s) didn't match pod topology spread constraints") : undefined;
  };
}

/**
 * Pods of the constraint's group by domain, with a zero for every domain that has an eligible node but no pod.
 * @param all nodes that are in no domain of one of these do not count.
 */
function domainCounts(
  info: PodInfo,
  constraint: SpreadConstraint,
  all: readonly SpreadConstraint[],
  cluster: ClusterState,
): Map<string, number> {
  const counts = cluster.countsOf(constraint.group);
  const domains = new Map<string, number>();
  for (const { name, node } of cluster.nodes()) {
    const domain = ownMember(node.metadata?.labels, constraint.topologyKey);
    if (domain === undefined || !isEligible(info, constraint, node)) continue;
    if (all.some(({ topologyKey }) => ownMember(node.metadata?.labels, topologyKey) === undefined)) continue;
    domains.set(domain, (domains.get(domain) ?? 0) + (counts.get(name) ?? 0));
  }
  return domains;
}

function isEligible(info: PodInfo, constraint: SpreadConstraint, node: Node): boolean {
  if (constraint.honorsAffinity && !admitsNode(info.spec, node)) return false;
  const { tolerations } = info.spec;
  return (
    !constraint.honorsTaints ||
    untoleratedTaints(node.spec?.taints, tolerations, ['NoSchedule', 'NoExecute']).length === 0
  );
}

function antiAffinityFilters(info: PodInfo, cluster: ClusterState): NodeFilter[] {
  const filters = info.antiAffinity.map((term): NodeFilter => {
    const occupied = domainsWithPods(term, cluster);
    return ({ node }) =>
      occupied.has(ownMember(node.metadata?.labels, term.topologyKey))
        ? resolvable("node(s) didn't match pod anti-affinity rules")
        : undefined;
  });
  const closed = domainsClosedByOthers(info, cluster);
  if (closed.length > 0) {
    filters.push(({ node }) =>
      closed.some(({ key, value }) => node.metadata?.labels?.[key] === value)
        ? resolvable("node(s) didn't satisfy existing pods anti-affinity rules")
        : undefined,
    );
  }
  return filters;
}

/**
 * Terms are met together, by pods that match all of them. The first pod of a group that wants to be near itself finds
 * nobody yet and may go to any node that is in a domain.
 */
function affinityFilters(info: PodInfo, cluster: ClusterState): NodeFilter[] {
  const { affinity } = info;
  if (affinity.length === 0) return [];
  const matchers = affinity.map((term) => groupMatcher(cluster.groupOf(term)));
  const matchesAll = (other: PodInfo): boolean => matchers.every((matches) => matches(other));
  const hasCompany = ({ pods }: NodeState): boolean => [...pods.values()].some(matchesAll);
  const terms = affinity.map((term) => ({
    key: term.topologyKey,
    occupied: domainsWithPods(term, cluster, hasCompany),
  }));
  const isFirst = terms.every(({ occupied }) => occupied.size === 0) && matchesAll(info);
  return [
    ({ node }) => {
      const isMet = terms.every(({ key, occupied }) => {
        const domain = ownMember(node.metadata?.labels, key);
        return domain !== undefined && (isFirst || occupied.has(domain));
      });
      return isMet ? undefined : unresolvable("node(s) didn't match pod affinity rules");
    },
  ];
}

/** @param isWanted of nodes that have a pod of the group: which count. Default all. */
function domainsWithPods(
  term: AffinityTerm,
  cluster: ClusterState,
  isWanted: (state: NodeState) => boolean = () => true,
): Set<string | undefined> {
  const counts = cluster.countsOf(cluster.groupOf(term));
  const domains = new Set<string | undefined>();
  for (const state of cluster.nodes()) {
    const domain = ownMember(state.node.metadata?.labels, term.topologyKey);
    if (domain !== undefined && counts.has(state.name) && isWanted(state)) domains.add(domain);
  }
  return domains;
}

/** Anti-affinity is symmetric: a pod that is there may forbid its domain to those it does not want beside it. */
function domainsClosedByOthers(info: PodInfo, cluster: ClusterState): { key: string; value: string }[] {
  const closed: { key: string; value: string }[] = [];
  const labels = new Map<string, Readonly<Record<string, string>>>();
  for (const other of cluster.podsWithAntiAffinity()) {
    if (other.info.uid === info.uid) continue;
    for (const term of other.info.antiAffinity) {
      const group = cluster.groupOf(term);
      if (!group.namespaces.includes(namespaceOf(info.pod)) || !groupMatcher(group)(info)) continue;
      if (labels.size === 0)
        for (const { name, node } of cluster.nodes()) labels.set(name, node.metadata?.labels ?? {});
      const value = ownMember(labels.get(other.nodeName), term.topologyKey);
      if (value !== undefined) closed.push({ key: term.topologyKey, value });
    }
  }
  return closed;
}
