/** Topology domains: groups of nodes that share the value of a label. */
import { ownMember } from '../lib/own-member.ts';
import type { NodeRecord } from './records.ts';

/** The domains of this key are single machines. */
export const HOSTNAME = 'kubernetes.io/hostname';

/** The domain the node is in; undefined where it is in none. Kubelets put the label of the machine on themselves. */
export function domainOf(
  { name, labels }: Pick<NodeRecord, 'name' | 'labels'>,
  topologyKey: string,
): string | undefined {
  return ownMember(labels, topologyKey) ?? (topologyKey === HOSTNAME ? name : undefined);
}
