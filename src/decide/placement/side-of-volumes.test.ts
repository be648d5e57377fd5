import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm, VolumeClaimRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { aNode, aStatefulSet, aVolumeClaim, someSettings } from '../../model/testing/records.ts';
import { sideOfVolumes } from './side-of-volumes.ts';
import { admitSteered, createWorld, viewOf } from './testing/world.ts';

const on = (key: string, ...values: string[]): NodeSelectorTerm[] => [
  { expressions: [{ key, operator: 'In', values }], fields: [] },
];
const host = (...names: string[]) => on('kubernetes.io/hostname', ...names);
const named = (name: string, capacity: 'spot' | 'on-demand' | undefined) => {
  const node = aNode(name, capacity);
  return { ...node, labels: { ...node.labels, 'kubernetes.io/hostname': name, zone: 'a' } };
};
const nodes = [named('s', 'spot'), named('o', 'on-demand'), named('x', undefined)];

describe('on which side local volumes keep a pod', () => {
  const sides = createSides(someSettings().nodeClasses);
  const sideOf = (volumeClaims: readonly VolumeClaimRecord[], claims = volumeClaims.map(({ name }) => name)) =>
    sideOfVolumes(createSnapshot({ nodes, volumeClaims }), sides, 'shop', claims);
  const local = (name: string, ...hosts: string[]) => aVolumeClaim(name, { requiredNodeTerms: host(...hosts) });

  test.each([
    ['that of its node', [local('data', 's')], 'spot'],
    ['that of its node', [local('data', 'o')], 'on-demand'],
    ['nodes of both sides: neither', [local('data', 's', 'o')], undefined],
    ['a node of no known class', [local('data', 'x')], undefined],
    ['a node that is gone', [local('data', 'gone')], undefined],
    ['where it can be reached is not known', [aVolumeClaim('data', { requiredNodeTerms: [] })], undefined],
    ['bound by no node', [aVolumeClaim('data')], undefined],
    ['not bound yet', [aVolumeClaim('data', { bound: false })], undefined],
    ['of a zone', [aVolumeClaim('data', { requiredNodeTerms: on('zone', 'a') })], undefined],
    ['the second of two', [aVolumeClaim('logs'), local('data', 'o')], 'on-demand'],
  ] as const)('%s', (_, claims, side) => {
    expect(sideOf(claims)).toBe(side);
  });

  test('claims that are not known, and none', () => {
    expect(sideOf([], ['data'])).toBeUndefined();
    expect(sideOf([])).toBeUndefined();
  });
});

describe('hazard H12: a StatefulSet with local volumes', () => {
  const set = aStatefulSet({
    replicas: 2,
    annotations: { 'spotalis.io/spot-percentage': '50', 'spotalis.io/min-on-demand': '1' },
  });
  const world = createWorld(set);
  world.nodes = nodes;
  const admitWith = (ordinal: number, where: string | undefined) => {
    const claim = `data-${set.name}-${ordinal}`;
    const terms = where === undefined ? undefined : host(where);
    const view = { ...viewOf(world), volumeClaim: () => aVolumeClaim(claim, { requiredNodeTerms: terms }) };
    return admitSteered(world, { view, pod: { name: `${set.name}-${ordinal}`, claims: [claim] } });
  };

  test.each(['s', 'o'])('a pod whose volume is on node %s is sent there, whatever the side of its slot', (node) => {
    const side = node === 's' ? 'spot' : 'on-demand';
    for (const ordinal of [0, 1]) {
      const decision = admitWith(ordinal, node);
      expect(decision).toMatchObject({ slot: ordinal + 1, side, pinnedByUser: false });
      expect(decision.explanation.summary).toContain('a volume of its can be reached from nodes of that side only');
      expect(decision.patch).toContainEqual({
        op: 'add',
        path: '/spec/nodeSelector',
        value: { 'karpenter.sh/capacity-type': side },
      });
    }
  });

  test('with a volume that any node can reach the slot decides', () => {
    expect([0, 1].map((ordinal) => admitWith(ordinal, undefined).side).toSorted()).toEqual(['on-demand', 'spot']);
  });
});
