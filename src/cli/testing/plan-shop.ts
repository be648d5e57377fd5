/** Plans a small cluster described by the objects of testing/shop.ts. */
import type { KubeObject } from '../../api/core.ts';
import { compilePlacementRules } from '../../controllers/placement/rules.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { testSettings } from '../../observe/testing/placement-settings.ts';
import { type PlannedWorkload, planFleet } from '../fleet.ts';
import { createClusterInputBuilder } from '../input/cluster-input.ts';
import type { Manifest } from './shop.ts';

export const shopRules = compilePlacementRules(testSettings());

export function viewOf(objects: readonly Manifest[]): ClusterView {
  const builder = createClusterInputBuilder({ defaultNamespace: 'default' });
  for (const object of objects) builder.add(object as KubeObject);
  return createSnapshot(builder.build().records);
}

export function planObjects(objects: readonly Manifest[]): PlannedWorkload[] {
  return planFleet(viewOf(objects), shopRules, Date.UTC(2026, 0, 2));
}
