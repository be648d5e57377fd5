/** `GET /api/nodes`: nodes in pages, each with its pods by the CPU they request, and what allocation makes of it. */
import { ascending } from '../../lib/ascending.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { sumNodeClasses } from '../../model/node-classes.ts';
import { isLive } from '../../model/owners.ts';
import type { NodeRecord, PodRecord } from '../../model/records.ts';
import { INSTANCE_TYPE_LABEL, ZONE_LABEL } from '../../model/spot-pool.ts';
import type { NodeClassTold, NodePage, NodePodTold, NodeTold } from './answers.ts';
import { latestDecision } from './node-allocation.ts';
import { oneOf, pageOf, pageRequest, searchWords } from './page-of.ts';
import type { AllocationSource, DashboardSources } from './sources.ts';

const PAGE_SIZE = 20;
/** Told one by one of each node; the others are in its sums. */
const MAX_PODS = 40;
const filters = ['all', 'spot', 'on-demand', 'unknown', 'not-usable'] as const;
const sortKeys = ['name', 'cpu', 'memory', 'pods', 'zone'] as const;

/**
 * Sorted before it is cut, so that a page is of the order asked for; equal keys are in the order of names, whichever
 * the direction. Sums of classes are of all nodes, whatever is filtered.
 */
export function nodePage(sources: DashboardSources, query: URLSearchParams, now: EpochMillis): NodePage {
  const { view, rules } = sources;
  const { sides } = rules();
  const filter = oneOf(query.get('class'), filters);
  const words = searchWords(query);
  const matching = [...view.nodes()].filter((node) => {
    if (filter === 'not-usable' ? sides.isCapacity(node) : filter !== 'all' && sides.classOf(node) !== filter)
      return false;
    if (words.length === 0) return true;
    const text =
      `${node.name} ${node.labels[ZONE_LABEL] ?? ''} ${node.labels[INSTANCE_TYPE_LABEL] ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const keyOf = keysOf(sources)[oneOf(query.get('sort'), sortKeys)];
  const direction = query.get('order') === 'desc' ? -1 : 1;
  const keyed = matching.map((node) => ({ node, key: keyOf(node) }));
  keyed.sort((a, b) => direction * ascending(a.key, b.key) || ascending(a.node.name, b.node.name));
  const asked = pageRequest(query, PAGE_SIZE);
  const { page, items } = pageOf(keyed, asked);
  return {
    at: now,
    classes: nodeClassesTold(sources),
    matching: matching.length,
    page,
    pageSize: asked.pageSize,
    nodes: items.map(({ node }) => nodeTold(sources, node)),
  };
}

/** A class without nodes is left out. */
export function nodeClassesTold({ view, rules }: DashboardSources): readonly NodeClassTold[] {
  return sumNodeClasses(view, rules().sides).filter(({ nodes }) => nodes > 0);
}

function keysOf({
  view,
}: DashboardSources): Readonly<Record<(typeof sortKeys)[number], (node: NodeRecord) => string | number>> {
  const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);
  return {
    name: ({ name }) => name,
    zone: ({ labels }) => labels[ZONE_LABEL] ?? '',
    cpu: ({ name, allocatable }) => share(view.requestedOnNode(name).cpuMillis, allocatable.cpuMillis),
    memory: ({ name, allocatable }) => share(view.requestedOnNode(name).memoryBytes, allocatable.memoryBytes),
    pods: ({ name }) => view.requestedOnNode(name).pods,
  };
}

function nodeTold({ view, rules, allocation }: DashboardSources, node: NodeRecord): NodeTold {
  const { sides } = rules();
  const requested = view.requestedOnNode(node.name);
  const pods = view
    .podsOnNode(node.name)
    .filter(isLive)
    .sort((a, b) => b.template.requests.cpuMillis - a.template.requests.cpuMillis || ascending(a.name, b.name));
  return {
    name: node.name,
    class: sides.classOf(node),
    zone: node.labels[ZONE_LABEL],
    instanceType: node.labels[INSTANCE_TYPE_LABEL],
    state: stateOf(node, sides.leavingCause(node) !== undefined),
    cpuMillis: node.allocatable.cpuMillis,
    memoryBytes: node.allocatable.memoryBytes,
    cpuRequested: requested.cpuMillis,
    memoryRequested: requested.memoryBytes,
    podCount: pods.length,
    pods: pods.slice(0, MAX_PODS).map((pod) => podTold(pod, allocation)),
    allocation: allocation && allocationTold(allocation, node.name, pods),
  };
}

/** One word for a node, the most pressing: that it goes matters more than that it is cordoned for it. */
function stateOf(node: NodeRecord, isLeaving: boolean): NodeTold['state'] {
  if (isLeaving) return 'leaving';
  if (!node.ready) return 'not ready';
  return node.unschedulable ? 'cordoned' : 'ready';
}

function podTold(pod: PodRecord, allocation: AllocationSource | undefined): NodePodTold {
  const { namespace, name, template } = pod;
  const { cpuMillis, memoryBytes } = template.requests;
  const record = allocation?.of(pod);
  const sizes = { namespace, pod: name, cpuMillis, memoryBytes };
  if (record === undefined) return sizes;
  const { desiredCPURequest, decision } = record.spec;
  return {
    ...sizes,
    shareMillis: tryParseMillicores(desiredCPURequest),
    usageMillis: tryParseMillicores(decision?.cpuUsage),
    phase: record.phase ?? 'Pending',
  };
}

/** Undefined where no pod of the node takes part. */
function allocationTold(
  allocation: AllocationSource,
  node: string,
  pods: readonly PodRecord[],
): NodeTold['allocation'] {
  const records = pods.flatMap((pod) => allocation.of(pod) ?? []);
  if (records.length === 0) return undefined;
  const latest = latestDecision(records);
  return {
    agent: allocation.agentOf(node),
    pods: records.length,
    mode: latest?.mode,
    shadowPrice: latest?.shadowPriceCPU,
  };
}
