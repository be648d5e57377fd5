/** A spot watch over stores fed by hand, with one StatefulSet `shop/db`. */
import type { Node, Pod } from '../../api/core.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createLiveView } from '../../observe/live-view.ts';
import { createManualStores } from '../../observe/testing/manual-stores.ts';
import { testSettings } from '../../observe/testing/placement-settings.ts';
import { compilePlacementRules } from '../placement/rules.ts';
import { createSpotWatch } from '../spot-watch.ts';

export const NOON = Date.UTC(2026, 0, 31, 12);
export const MINUTE = 60_000;

const ready = { status: { conditions: [{ type: 'Ready', status: 'True' as const }] } };

interface NodeChanges {
  readonly side?: string;
  readonly spec?: NonNullable<Node['spec']>;
  readonly status?: NonNullable<Node['status']>;
}

export function node(name: string, changes: NodeChanges = {}): Node {
  const { side = 'spot', ...rest } = changes;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: {
        'karpenter.sh/capacity-type': side,
        'topology.kubernetes.io/zone': 'a',
        'node.kubernetes.io/instance-type': 'm5.large',
      },
    },
    ...ready,
    ...rest,
  };
}

interface PodChanges {
  readonly nodeName?: string;
  readonly owner?: string;
  readonly fallback?: boolean;
  /** Where it was sent. */
  readonly capacity?: 'spot' | 'on-demand';
}

export function pod(name: string, changes: PodChanges = {}): Pod {
  const { nodeName, owner = 'StatefulSet', fallback = false, capacity } = changes;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      creationTimestamp: new Date(NOON).toISOString(),
      ownerReferences: [{ apiVersion: 'apps/v1', kind: owner, name: 'db', uid: 'db', controller: true }],
      annotations: {
        ...(fallback && { 'spotalis.io/fallback': 'true' }),
        ...(capacity !== undefined && { 'spotalis.io/capacity': capacity }),
      },
    },
    spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
  };
}

export function createScene(labels: Readonly<Record<string, string>> = { 'spotalis.io/enabled': 'true' }) {
  const clock = createVirtualClock(NOON);
  const stores = createManualStores();
  const view = createLiveView(stores);
  const rules = compilePlacementRules(testSettings());
  const watch = createSpotWatch({ view, rules: () => rules, clock, random: createSeededRandom(1) });
  stores.statefulSets.put({
    metadata: { name: 'db', namespace: 'shop', uid: 'db', labels: { ...labels } },
    spec: { selector: {}, serviceName: 'db', template: {} },
  });
  return { clock, stores, watch, memory: watch.memory };
}
