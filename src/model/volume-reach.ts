/** Volumes that can be reached from certain nodes only: a disk in a machine, unlike one of a zone. */
import type { NodeSelectorTerm } from './records.ts';

/**
 * What provisioners of local volumes call a node: `kubernetes.io/hostname` (local volumes, local-path),
 * `linbit.com/hostname`, `topology.topolvm.io/node`, `openebs.io/nodename` and `openebs.io/nodeid`,
 * `directpv.min.io/node`. Zones, regions and the like are shared by nodes that are yet to be made.
 */
const NODE_KEY = /(^|\/)(host(name)?|node([-_.]?(name|id))?)$/i;

/**
 * Whether each of the ORed terms names nodes one by one, so that no node that is yet to be made is within reach.
 * @param terms the required node affinity of a PersistentVolume.
 */
export function namesNodes(terms: readonly NodeSelectorTerm[]): boolean {
  return terms.every(
    ({ expressions, fields }) =>
      fields.length > 0 || expressions.some(({ key, operator }) => operator === 'In' && NODE_KEY.test(key)),
  );
}
