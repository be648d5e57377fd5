/** The parts of the suites on real nodes: side by side, each on a cluster of its own, so that none finds what another leaves (definitions, webhooks, operators, a whole chart). */
import { clusterNodes, ON_DEMAND_NODE, PINNED_NODE, SHARED_NODE, SPOT_NODE } from './nodes.ts';

export interface Part {
  readonly include: readonly string[];
  /** By name; none for suites that start whole runs of their own. */
  readonly nodes: readonly string[];
  /** The image of Stowage is on the nodes. */
  readonly hasStowage: boolean;
  /** metrics.k8s.io is served. */
  readonly hasMetrics: boolean;
}

const operators: Part = {
  include: ['test/node/{install,metrics-server,rightsizing}.suite.ts'],
  // The third one has a taint: agents run there, too.
  nodes: [SPOT_NODE, ON_DEMAND_NODE, PINNED_NODE],
  hasStowage: true,
  hasMetrics: true,
};
const kubelet: Part = {
  include: ['test/node/{allocation,cgroups}.suite.ts', 'test/node/behaviour.test.ts'],
  nodes: [SPOT_NODE, PINNED_NODE, SHARED_NODE],
  hasStowage: false,
  hasMetrics: false,
};
const leftovers: Part = { include: ['test/node/leftovers.suite.ts'], nodes: [], hasStowage: false, hasMetrics: false };

export const parts = { operators, kubelet, leftovers } as const;
export type PartName = keyof typeof parts;

/** For suites named on the command line: everything in one cluster. */
const everything: Part = {
  include: [...operators.include, ...kubelet.include],
  nodes: clusterNodes.map(({ name }) => name),
  hasStowage: true,
  hasMetrics: true,
};

/** @param mode of the runner; any but a part's name stands for all that share a cluster. */
export function partOf(mode: string | undefined): Part {
  return Object.entries(parts).find(([name]) => name === mode)?.[1] ?? everything;
}
