import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import { createSides } from '../../model/sides.ts';
import type { SnapshotRecords } from '../../model/snapshot.ts';
import {
  aDeployment,
  aNamespace,
  aNode,
  aPod,
  aReplicaSet,
  aTemplate,
  aVolumeClaim,
} from '../../model/testing/records.ts';
import { asAllowed, asWatched } from './as-seen.ts';

const sides = createSides(nodeClassProfile(['karpenter']));
const replicaSet = aReplicaSet(aDeployment());
const pinned = (side: string) => aTemplate({ nodeSelector: { 'karpenter.sh/capacity-type': side } });
const records: SnapshotRecords = {
  namespaces: [aNamespace({ name: 'other' })],
  nodes: [aNode('n1', 'on-demand'), aNode('n9', 'spot')],
  pods: [
    aPod(replicaSet, 'a', { nodeName: 'n1', template: pinned('spot') }),
    aPod(replicaSet, 'b', { nodeName: 'n2', template: pinned('on-demand'), namespace: 'other' }),
  ],
  volumeClaims: [aVolumeClaim('bound', { bound: true }), aVolumeClaim('free', { bound: false })],
};
const nodesOf = ({ nodes = [] }: SnapshotRecords) => nodes.map((node) => [node.name, sides.classOf(node)]);

describe('asAllowed', () => {
  test('what may be read is as it is', () => {
    expect(asAllowed(records, new Set(['events'] as never[]), sides)).toEqual(records);
  });

  test('nodes that may not be read are those pods tell of', () => {
    expect(nodesOf(asAllowed(records, new Set(['nodes']), sides))).toEqual([
      ['n1', 'spot'],
      ['n2', 'on-demand'],
    ]);
  });

  test('nothing is planned where nodes are not seen, but as the operator does that does not see them either', () => {
    const allowed = asAllowed(records, new Set(['nodes']), sides);
    expect(allowed.freshness?.hidden).toEqual(['nodes']);
    expect(asWatched(allowed, ['shop'], sides).freshness).toEqual({ synced: true, stale: [] });
    const both = asAllowed(records, new Set(['nodes', 'poddisruptionbudgets']), sides);
    expect(asWatched(both, ['shop'], sides).freshness?.hidden).toEqual(['poddisruptionbudgets']);
  });

  test('budgets that may not be read are not taken for none', () => {
    const { freshness } = asAllowed(records, new Set(['poddisruptionbudgets']), sides);
    expect(freshness).toEqual({ synced: true, stale: [], hidden: ['poddisruptionbudgets'] });
  });
});

describe('asWatched', () => {
  const watched = asWatched(records, ['shop'], sides);

  test('the namespaces that are listed are enabled, and no other is known', () => {
    expect(watched.namespaces).toMatchObject([{ name: 'shop', enabled: true, annotations: {} }]);
  });

  test('nodes are told by the pods there, and what else they hold is not known', () => {
    expect(nodesOf(watched)).toEqual([['n1', 'spot']]);
    expect(watched.isPartial).toBe(true);
  });

  test('no node is known to reach a bound volume', () => {
    expect(watched.volumeClaims?.map(({ requiredNodeTerms }) => requiredNodeTerms)).toEqual([[], undefined]);
  });
});
