/** On which side a pod's own volumes keep it. */
import type { ClusterView } from '../../model/cluster-view.ts';
import { matchesNodeTerms } from '../../model/node-fit.ts';
import type { Side } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import { namesNodes } from '../../model/volume-reach.ts';

/**
 * The side of the nodes that one of the bound volumes names: steered to the other side, the pod would wait for ever.
 * Undefined where no volume names nodes, and where those nodes are gone, of no known class or of both. Volumes of a
 * zone say nothing here: nodes of either side may come there.
 * @param claims names of the pod's PersistentVolumeClaims.
 */
export function sideOfVolumes(
  view: ClusterView,
  sides: Sides,
  namespace: string,
  claims: readonly string[],
): Side | undefined {
  for (const name of claims) {
    const terms = view.volumeClaim(namespace, name)?.requiredNodeTerms;
    if (terms === undefined || terms.length === 0 || !namesNodes(terms)) continue;
    const reachable = [...view.nodes()].filter((node) => matchesNodeTerms(terms, node));
    const [only, ...others] = new Set(reachable.map((node) => sides.classOf(node)));
    if (only !== undefined && only !== 'unknown' && others.length === 0) return only;
  }
  return undefined;
}
