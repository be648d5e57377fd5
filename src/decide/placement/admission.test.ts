import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { PodTemplate, WorkloadRecord } from '../../model/records.ts';
import type { NodeConstraints } from '../../model/side-pin.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { aDeployment, aStatefulSet, aTemplate, CAPACITY_TYPE } from '../../model/testing/records.ts';
import { decideAdmission } from './admission.ts';
import {
  admit,
  admitSteered,
  createWorld,
  inputFor,
  podFrom,
  run,
  runUnsteered,
  viewOf,
  type World,
} from './testing/world.ts';

const reasonOf = (world: World, options: Parameters<typeof admit>[1] = {}): string => {
  const decision = admit(world, options);
  return decision.kind === 'unsteered' ? decision.reason : 'steered';
};

describe('pods that are let through as they are', () => {
  test.each([
    ['a static pod', { isMirror: true }, 'MirrorPod'],
    ['a pod that names its node', { nodeName: 'n1' }, 'AlreadyBound'],
  ])('%s', (_, pod, expected) => {
    expect(reasonOf(createWorld(aDeployment()), { pod })).toBe(expected);
  });

  test('case 19: a pod without a controller', () => {
    const input = { ...inputFor(createWorld(aDeployment())), owner: { kind: 'unmanaged' as const } };
    expect(decideAdmission(input)).toMatchObject({ kind: 'unsteered', reason: 'NoManagedOwner', warn: false });
  });

  test('case 30: an owner that is nowhere to be found, with a warning', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-x', uid: 'x' };
    const input = { ...inputFor(createWorld(aDeployment())), owner: { kind: 'not-cached' as const, owner } };
    expect(decideAdmission(input)).toMatchObject({
      reason: 'OwnerUnknown',
      warn: true,
      message: expect.stringContaining('ReplicaSet web-x'),
    });
  });

  test('case 30: an owner read live, of which the view has no pod and no ReplicaSet, is decided on', () => {
    const world = createWorld(aDeployment());
    const seen = viewOf(world);
    const empty = { ...seen, workloadByUid: () => undefined, replicaSet: () => undefined, replicaSetsOf: () => [] };
    const input = { ...inputFor(world), view: empty };
    expect(decideAdmission(input)).toMatchObject({ kind: 'steered', slot: 1 });
    expect(decideAdmission({ ...input, request: { uid: 'second', dryRun: false } })).toMatchObject({ slot: 2 });
  });

  test('case 30: the pods of a ReplicaSet that is not in the view yet are counted', () => {
    const world = createWorld(aDeployment());
    for (let index = 0; index < 3; index++) run(world);
    const view = { ...viewOf(world), replicaSet: () => undefined, replicaSetsOf: () => [] };
    const { owner } = inputFor(world);
    expect(decideAdmission({ ...inputFor(world, { view }), owner })).toMatchObject({ slot: 4 });
  });

  test('case 31: a workload without the label', () => {
    expect(reasonOf(createWorld(aDeployment({ enabled: false })))).toBe('NotEnabled');
  });

  test('case 24: a namespace without the label', () => {
    const world = createWorld(aDeployment());
    const view = createSnapshot({ workloads: [world.workload], replicaSets: world.replicaSets });
    expect(reasonOf(world, { view })).toBe('NotEnabled');
  });

  test('case 23: an invalid percentage: admitted, with a warning that says how to mend it', () => {
    const world = createWorld(aDeployment({ annotations: { 'spotalis.io/spot-percentage': 'lots' } }));
    expect(admit(world)).toMatchObject({
      reason: 'InvalidConfiguration',
      warn: true,
      message: expect.stringContaining('"lots"'),
    });
    expect(world.ledger.size()).toBe(0);
  });

  test('an engine that is switched off', () => {
    expect(reasonOf(createWorld(aDeployment(), { enabled: false }))).toBe('EngineDisabled');
  });

  test('hazard H14: stores that are still filling: every count would be too low', () => {
    const world = createWorld(aDeployment());
    const view = { ...viewOf(world), freshness: () => ({ synced: false, stale: ['pods'] }) };
    expect(admit(world, { view })).toMatchObject({ reason: 'CachesStale', warn: true });
  });
});

describe('pods with a will of their own', () => {
  const selector = (value: string): NodeConstraints => ({
    nodeSelector: { [CAPACITY_TYPE]: value, disktype: 'ssd' },
    requiredNodeTerms: undefined,
  });

  test.each([
    ['100', 'on-demand', 'on-demand'],
    ['0', 'spot', 'spot'],
  ])('case 22: hazard H17: at %s %% a pin on %s is respected, stamped and counted', (percentage, value, side) => {
    const world = createWorld(aDeployment({ annotations: { 'spotalis.io/spot-percentage': percentage } }));
    const decision = admitSteered(world, { pod: { template: aTemplate(selector(value)) } });
    expect(decision).toMatchObject({ side, pinnedByUser: true, stamps: { 'spotalis.io/capacity': side } });
    expect(decision.patch.every(({ path }) => path.startsWith('/metadata/annotations'))).toBe(true);
    expect(decision.explanation.summary).toContain('its own constraints choose that side');
  });

  test('hazard H17: a pin that the template does not have is stamped as that of others', () => {
    const stampOf = (workload: WorkloadRecord, template: PodTemplate) =>
      admitSteered(createWorld(workload), { pod: { template } }).stamps['spotalis.io/pinned'];
    const pinned = aTemplate(selector('spot'));
    expect(stampOf(aDeployment(), pinned)).toBe('true');
    expect(stampOf(aDeployment({ template: pinned }), pinned)).toBeUndefined();
    expect(stampOf(aDeployment(), aTemplate())).toBeUndefined();
  });

  test('hazard H17: pinned pods count: nine pinned to spot leave the floor to the one that is free', () => {
    const world = createWorld(aDeployment());
    for (let index = 0; index < 9; index++) run(world, { pod: { template: aTemplate(selector('spot')) } });
    expect(admitSteered(world).side).toBe('on-demand');
  });

  test('case 26: hazard H18: required affinity is read as expressions, every term', () => {
    const requiredNodeTerms = [
      { expressions: [{ key: CAPACITY_TYPE, operator: 'NotIn' as const, values: ['spot'] }], fields: [] },
    ];
    const world = createWorld(aDeployment({ annotations: { 'spotalis.io/spot-percentage': '100' } }));
    const decision = admitSteered(world, { pod: { template: aTemplate({ requiredNodeTerms }) } });
    expect(decision).toMatchObject({ side: 'on-demand', pinnedByUser: true });
  });

  test('a pod that no known node can take is left as it is', () => {
    expect(reasonOf(createWorld(aDeployment()), { pod: { template: aTemplate(selector('lunar')) } })).toBe(
      'PinnedByUser',
    );
  });

  test('other selectors are no pin and are kept', () => {
    const has = { annotations: true, nodeSelector: true, affinity: false, nodeAffinity: false, tolerations: false };
    const template = aTemplate({ nodeSelector: { disktype: 'ssd', 'topology.kubernetes.io/zone': 'a' } });
    const decision = admitSteered(createWorld(aDeployment()), { pod: { template, has } });
    expect(decision.patch[0]).toEqual({
      op: 'add',
      path: '/spec/nodeSelector/karpenter.sh~1capacity-type',
      value: 'on-demand',
    });
  });
});

describe('the patch', () => {
  test('pins, then stamps slot, side, request and deletion cost', () => {
    const world = createWorld(aDeployment());
    expect(admitSteered(world, { uid: 'u-1' }).patch).toEqual([
      { op: 'add', path: '/spec/nodeSelector', value: { [CAPACITY_TYPE]: 'on-demand' } },
      { op: 'add', path: '/metadata/annotations/spotalis.io~1slot', value: '1' },
      { op: 'add', path: '/metadata/annotations/spotalis.io~1capacity', value: 'on-demand' },
      { op: 'add', path: '/metadata/annotations/spotalis.io~1admission-id', value: 'u-1' },
      { op: 'add', path: '/metadata/annotations/controller.kubernetes.io~1pod-deletion-cost', value: '-1' },
    ]);
  });

  test('hazard H3: the user’s own deletion cost is kept', () => {
    const { stamps } = admitSteered(createWorld(aDeployment()), { pod: { hasDeletionCost: true } });
    expect(Object.keys(stamps)).toEqual(['spotalis.io/slot', 'spotalis.io/capacity', 'spotalis.io/admission-id']);
  });

  test.each([
    ['eks', 'eks.amazonaws.com/capacityType', 'SPOT'],
    ['gke', 'cloud.google.com/gke-spot', 'true'],
    ['aks', 'kubernetes.azure.com/scalesetpriority', 'spot'],
  ] as const)(
    'case 25: on %s it speaks that cloud’s labels, and the spot side brings the toleration',
    (name, key, value) => {
      const annotations = { 'spotalis.io/spot-percentage': '100' };
      const nodeClasses = nodeClassProfile([name]);
      const decision = admitSteered(createWorld(aDeployment({ annotations }), { nodeClasses }));
      expect(decision.patch[0]?.value).toEqual({ [key]: value });
      expect(decision.patch.some(({ path }) => path === '/spec/tolerations')).toBe(
        nodeClasses.spotTolerations.length > 0,
      );
    },
  );

  test('tolerations and affinity can be switched off, the latter with a warning where it is needed', () => {
    const nodeClasses = nodeClassProfile(['aks']);
    const mutations = { tolerations: false, affinity: false };
    const at = (percentage: string) =>
      admitSteered(
        createWorld(aDeployment({ annotations: { 'spotalis.io/spot-percentage': percentage } }), {
          nodeClasses,
          mutations,
        }),
      );
    expect(at('100').patch.filter(({ path }) => path.startsWith('/spec'))).toHaveLength(1);
    expect(at('100').warnings).toEqual([]);
    expect(at('0').patch.filter(({ path }) => path.startsWith('/spec'))).toEqual([]);
    expect(at('0').warnings).toEqual(['on-demand needs node affinity, which placement.mutations.affinity forbids']);
  });
});

describe('StatefulSets', () => {
  const sidesOf = (world: World, names: readonly string[]): string[] =>
    names.map((name) => admitSteered(world, { pod: { name } }).side);
  const names = ['db-0', 'db-1', 'db-2', 'db-3', 'db-4'];

  test('hazard H11: the slot is the ordinal, low ones on on-demand, in any order and without a claim', () => {
    const world = createWorld(aStatefulSet(), { rounding: 'floor' });
    const expected = ['on-demand', 'spot', 'on-demand', 'spot', 'spot'];
    expect(sidesOf(world, names)).toEqual(expected);
    expect(sidesOf(world, [...names].reverse())).toEqual([...expected].reverse());
    expect(world.ledger.size()).toBe(0);
  });

  test('bug 5: 3 -> 0 -> 3 repeats the same split', () => {
    const world = createWorld(aStatefulSet({ replicas: 3 }));
    const first = sidesOf(world, names.slice(0, 3));
    world.workload = { ...world.workload, replicas: 0 };
    world.workload = { ...world.workload, replicas: 3 };
    expect(sidesOf(world, names.slice(0, 3))).toEqual(first);
  });

  test('ordinals may start elsewhere', () => {
    const rollout = { type: 'StatefulSet', start: 10, partition: 0, onDelete: false, orderedReady: true } as const;
    const world = createWorld(aStatefulSet({ rollout }));
    expect(admitSteered(world, { pod: { name: 'db-10' } }).slot).toBe(1);
  });

  test('no deletion cost: only the ReplicaSet controller reads it', () => {
    const { stamps } = admitSteered(createWorld(aStatefulSet()), { pod: { name: 'db-0' } });
    expect(Object.keys(stamps)).not.toContain('controller.kubernetes.io/pod-deletion-cost');
  });

  test('a pinned pod keeps its ordinal’s slot on the side it chose', () => {
    const template = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } });
    const decision = admitSteered(createWorld(aStatefulSet()), { pod: { name: 'db-0', template } });
    expect(decision).toMatchObject({ slot: 1, side: 'spot', pinnedByUser: true });
  });
});

test('the same input gives the same decision', () => {
  const decide = () => {
    const world = createWorld(aDeployment());
    run(world, { uid: 'a' });
    runUnsteered(world, 'spot');
    return admit(world, { uid: 'b' });
  };
  expect(decide()).toEqual(decide());
});

test('the explanation carries the numbers that led to it', () => {
  const world = createWorld(aDeployment());
  world.pods.push(podFrom(world, admitSteered(world)));
  admit(world);
  expect(admitSteered(world).explanation).toEqual({
    summary: 'slot 3 on spot: wanted are 7 on spot and 3 on on-demand',
    numbers: {
      slot: 3,
      replicas: 10,
      targetSpot: 7,
      targetOnDemand: 3,
      live: 1,
      claimed: 1,
      countedOnDemand: 1,
      diverted: false,
    },
  });
});
