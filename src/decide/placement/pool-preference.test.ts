import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import { INSTANCE_TYPE_LABEL, ZONE_LABEL } from '../../model/spot-pool.ts';
import { aDeployment, aNode, CAPACITY_TYPE } from '../../model/testing/records.ts';
import { poolsToAvoid, preferencesAgainst } from './pool-preference.ts';
import type { LossyPool } from './spot-outlook.ts';
import { createWorld, runUnsteered, viewOf, type World } from './testing/world.ts';

const spotNode = (zone: string, type = 'm5.large') =>
  aNode(`spot-${zone}`, 'spot', {
    labels: { [CAPACITY_TYPE]: 'spot', [ZONE_LABEL]: zone, [INSTANCE_TYPE_LABEL]: type },
  });

function inZones(zones: readonly string[], settings: Partial<PlacementSettings> = {}): World {
  const world = createWorld(aDeployment({ replicas: 10 }), settings);
  world.nodes = [...world.nodes.slice(1), ...zones.map((zone) => spotNode(zone))];
  return world;
}

function runIn(world: World, zone: string, count: number): void {
  for (let index = 0; index < count; index++) runUnsteered(world, 'spot', { nodeName: `spot-${zone}` });
}

const lossy: LossyPool = { key: 'a/m5', zone: 'a', instanceTypes: ['m5.large'], lost: 3, standing: 7 };

function avoided(world: World, lossyPools: readonly LossyPool[] = []) {
  const { sides, settings, workload, now } = world;
  const spot = { lossyPools: () => lossyPools };
  return poolsToAvoid({ view: viewOf(world), sides, settings, spot, now }, workload);
}

describe('placement.maxPerPool', () => {
  test('a pool that holds its share is avoided', () => {
    const world = inZones(['a', 'b'], { maxPerPool: 40 });
    runIn(world, 'a', 4);
    runIn(world, 'b', 3);
    expect(avoided(world)).toEqual([
      { key: 'a/m5', zone: 'a', instanceTypes: ['m5.large'], why: 'it holds 4 of the pods already' },
    ]);
  });

  test('below its share it is not', () => {
    const world = inZones(['a', 'b'], { maxPerPool: 40 });
    runIn(world, 'a', 3);
    expect(avoided(world)).toEqual([]);
  });

  test('100 is no limit', () => {
    const world = inZones(['a', 'b']);
    runIn(world, 'a', 10);
    expect(avoided(world)).toEqual([]);
  });

  test('a small workload may hold one pod in each pool at least', () => {
    const world = inZones(['a', 'b'], { maxPerPool: 1 });
    expect(avoided(world)).toEqual([]);
    runIn(world, 'a', 1);
    expect(avoided(world).map(({ key }) => key)).toEqual(['a/m5']);
  });

  test('on-demand nodes and pods that leave do not count', () => {
    const world = inZones(['a', 'b'], { maxPerPool: 10 });
    runUnsteered(world, 'on-demand');
    runUnsteered(world, 'spot', { nodeName: 'spot-a', deletingAt: world.now });
    expect(avoided(world)).toEqual([]);
  });
});

describe('where there is no choice nothing is avoided', () => {
  test('every pool holds its share', () => {
    const world = inZones(['a', 'b'], { maxPerPool: 20 });
    runIn(world, 'a', 2);
    runIn(world, 'b', 2);
    expect(avoided(world)).toEqual([]);
  });

  test('every pool holds its share, one of them more: that one is avoided', () => {
    const world = inZones(['a', 'b'], { maxPerPool: 20 });
    runIn(world, 'a', 3);
    runIn(world, 'b', 2);
    expect(avoided(world).map(({ key }) => key)).toEqual(['a/m5']);
  });

  test('the other pool takes no pods', () => {
    const world = inZones(['a', 'b'], { maxPerPool: 20 });
    world.nodes = world.nodes.map((node) => (node.name === 'spot-b' ? { ...node, unschedulable: true } : node));
    runIn(world, 'a', 2);
    expect(avoided(world)).toEqual([]);
  });

  test('an autoscaler may always make another', () => {
    const nodeClasses = nodeClassProfile(['karpenter']);
    const world = inZones(['a'], { maxPerPool: 20, nodeClasses });
    runIn(world, 'a', 2);
    expect(avoided(world)).toMatchObject([{ key: 'a/m5', isMild: true }]);
    world.nodes.push(spotNode('b'));
    expect(avoided(world)[0]?.isMild).toBeUndefined();
  });
});

describe('bug 10: a pool that loses its nodes', () => {
  test('is avoided, and said why', () => {
    expect(avoided(inZones(['a', 'b']), [lossy])).toEqual([
      { key: 'a/m5', zone: 'a', instanceTypes: ['m5.large'], why: 'it lost 3 of 10 nodes within an hour' },
    ]);
  });

  test('that is full as well is named once', () => {
    const world = inZones(['a', 'b'], { maxPerPool: 20 });
    runIn(world, 'a', 2);
    expect(avoided(world, [lossy])).toHaveLength(1);
  });
});

describe('preferencesAgainst', () => {
  test('a pool of zone and type is two halves: only the pool itself gets nothing', () => {
    expect(preferencesAgainst([{ ...lossy, why: '' }])).toEqual([
      { weight: 50, preference: { matchExpressions: [{ key: ZONE_LABEL, operator: 'NotIn', values: ['a'] }] } },
      {
        weight: 50,
        preference: { matchExpressions: [{ key: INSTANCE_TYPE_LABEL, operator: 'NotIn', values: ['m5.large'] }] },
      },
    ]);
  });

  test('a pool known by its zone only is one', () => {
    const [preference, ...others] = preferencesAgainst([{ ...lossy, instanceTypes: [], why: '' }]);
    expect(preference?.weight).toBe(100);
    expect(others).toEqual([]);
  });

  test('a mild one weighs half', () => {
    expect(preferencesAgainst([{ ...lossy, isMild: true, why: '' }]).map(({ weight }) => weight)).toEqual([25, 25]);
  });

  test('a pool without labels cannot be said', () => {
    expect(preferencesAgainst([{ ...lossy, zone: undefined, instanceTypes: [], why: '' }])).toEqual([]);
  });
});
