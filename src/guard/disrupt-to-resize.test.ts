/** The guard of evictions, asked by rightsizing: what it has in common with moves, and what not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SpotState, untroubledSpot } from '../decide/placement/spot-outlook.ts';
import type { EvictToResizeDecision } from '../decide/size-decision.ts';
import type { PodRecord } from '../model/records.ts';
import { aDeployment, aNode, GIB, NOON, someSettings } from '../model/testing/records.ts';
import { inspect, inspectAll } from './guard.ts';
import { evict, managed, pod, pods, type SceneChanges, scene, web, windowOf, withPods } from './testing/scene.ts';

const decision = (changes: Partial<EvictToResizeDecision> = {}): EvictToResizeDecision => ({
  kind: 'evict-to-resize',
  engine: 'rightsizing',
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  workloadUid: web.uid,
  pod: { namespace: 'shop', name: 's3', uid: 's3' },
  changes: [{ container: 'app', to: { cpuRequest: 100 } }],
  growth: { cpuMillis: -100, memoryBytes: 0 },
  why: { summary: 'less CPU', numbers: {} },
  ...changes,
});
const reasonsFor = (changes: SceneChanges = {}, given = decision()): string[] =>
  inspectAll(given, scene(changes)).map(({ reason }) => reason);
const flight = { workloadUid: 'other', podUid: 'p', since: NOON };

describe('an eviction to resize', () => {
  test.each<[string, SceneChanges, readonly string[]]>([
    ['nothing speaks against it', {}, []],
    ['placement is switched off', { settings: { enabled: false } }, []],
    [
      'placement does not manage the workload',
      { policy: { state: 'unmanaged', reason: { name: 'NotEnabled', message: '', advice: '' } } },
      [],
    ],
    ['read-only', { settings: { readOnly: true } }, ['ReadOnly']],
    ['not the leader', { leadership: { leader: false, sinceMillis: 0 } }, ['NotLeader']],
    ['a moment after becoming leader', { leadership: { leader: true, sinceMillis: NOON } }, ['LeaderWarmup']],
    [
      'a rollout',
      { records: { workloads: [{ ...web, observedGeneration: 0, generation: 2 }] } },
      ['GenerationNotObserved'],
    ],
    ['paused', { records: { workloads: [{ ...web, paused: true }] } }, ['Paused']],
    ['another pod is ending', { records: withPods({ s1: { deletingAt: NOON } }) }, ['PodTerminating', 'PodNotReady']],
    [
      'another pod is not ready',
      { records: withPods({ s1: { ready: false, readyChangedAt: NOON } }) },
      ['PodNotReady'],
    ],
    ['the pod is protected', { records: withPods({ s3: { protectedBy: 'x' } }) }, ['Protected']],
    ['the pod is being resized', { isResizing: (uid) => uid === 's3' }, ['ResizeInFlight']],
    ['another pod is being resized', { isResizing: (uid) => uid === 's1' }, ['ResizeInFlight']],
    [
      'the window of the workload is closed',
      { policy: { ...managed, window: windowOf('0 2 * * *', '1h') } },
      ['OutsideWindow'],
    ],
    [
      'an eviction of the workload is under way',
      { inFlight: [{ ...flight, workloadUid: web.uid }] },
      ['PodTerminating'],
    ],
    [
      'a rollout of ours is under way',
      { inFlight: [{ workloadUid: web.uid, podUid: web.uid, since: NOON, isRollout: true }] },
      ['RolloutInProgress'],
    ],
    ['the budget is used up', { inFlight: [flight], settings: { maxConcurrentEvictions: 1 } }, ['ConcurrencyLimit']],
  ])('%s', (_, changes, expected) => {
    expect(reasonsFor(changes)).toEqual(expected);
  });

  test('the window of the operator holds where placement has no say', () => {
    const policy = { state: 'unmanaged', reason: { name: 'NotEnabled', message: '', advice: '' } } as const;
    const window = windowOf('0 2 * * *', '1h');
    expect(reasonsFor({ policy, window })).toEqual(['OutsideWindow']);
    // Whoever manages his window himself is asked himself.
    expect(reasonsFor({ window })).toEqual([]);
  });

  describe('the on-demand floor holds', () => {
    const o1 = decision({ pod: { namespace: 'shop', name: 'o1', uid: 'o1' } });
    const more = [...pods, pod('o2', 'o')];
    const larger = aDeployment({ replicas: 5 });
    const floor = (onDemandFloor: number, changes: SceneChanges = {}) => reasonsFor(changes, { ...o1, onDemandFloor });

    test.each<[string, readonly string[], readonly string[]]>([
      ['none is asked for', floor(0), []],
      ['the pod is the one that is asked for', floor(1), ['OnDemandFloor']],
      ['another one stays', floor(1, { records: { workloads: [larger], pods: more } }), []],
      ['all are asked for', floor(2, { records: { workloads: [larger], pods: more } }), ['OnDemandFloor']],
    ])('%s', (_, reasons, expected) => {
      expect(reasons).toEqual(expected);
    });

    test('a pod on spot, or on a node of no known side, is none of it', () => {
      expect(reasonsFor({}, decision({ onDemandFloor: 1 }))).toEqual([]);
      const elsewhere = { records: withPods({ o1: { nodeName: 'x' } }) };
      expect(floor(1, elsewhere)).toEqual([]);
    });

    test('one that is not ready serves nobody', () => {
      expect(floor(1, { records: withPods({ o1: { ready: false, readyChangedAt: NOON } }) })).toEqual([]);
    });

    test('what it is asked to be is not known where annotations are invalid', () => {
      const reason = { name: 'InvalidConfiguration', message: 'spot-percentage: many', advice: '' } as const;
      expect(reasonsFor({ policy: { state: 'invalid', problems: [], reason } })).toEqual(['InvalidConfiguration']);
    });

    test('for any floor and any pods, who serves on on-demand may go exactly where as many as are asked for stay', () => {
      const anyPod = fc.record({
        ready: fc.constantFrom(true, true, false),
        nodeName: fc.constantFrom('o', 'o', 'o', 's', 'x', undefined),
        deletingAt: fc.constantFrom(undefined, undefined, NOON),
      });
      const isServing = ({ ready, nodeName, deletingAt }: Partial<PodRecord>): boolean =>
        ready === true && nodeName === 'o' && deletingAt === undefined;
      fc.assert(
        fc.property(fc.nat(3), fc.array(anyPod, { minLength: 1, maxLength: 6 }), (onDemandFloor, given) => {
          const [first, ...others] = given.map((each, index) => ({
            ...pod(`d${index}`, 'o'),
            ...each,
            readyChangedAt: 0,
            ...(index === 0 && { deletingAt: undefined }),
          }));
          if (first === undefined) return;
          const workloads = [aDeployment({ replicas: given.length })];
          const victim = decision({ pod: { namespace: 'shop', name: 'd0', uid: 'd0' }, onDemandFloor });
          const isHeld = reasonsFor({ records: { workloads, pods: [first, ...others] } }, victim).includes(
            'OnDemandFloor',
          );
          expect(isHeld).toBe(isServing(first) && others.filter(isServing).length < onDemandFloor);
        }),
      );
    });
  });

  test('what is approved is the decision; a pod that is gone is not', () => {
    const verdict = inspect(decision(), scene());
    expect(verdict.kind === 'approved' && verdict.approved.decision.kind).toBe('evict-to-resize');
    expect(reasonsFor({}, decision({ pod: { namespace: 'shop', name: 's3', uid: 'other' } }))).toEqual([
      'PreconditionFailed',
    ]);
  });
});

describe('a move', () => {
  test('waits only for the resize of its own pod', () => {
    const reasons = (uid: string) =>
      inspectAll(evict(), scene({ isResizing: (each) => each === uid })).map(({ reason }) => reason);
    expect(reasons('s1')).toEqual([]);
    expect(reasons('s3')).toEqual(['ResizeInFlight']);
  });

  test('waits for a rollout that rightsizing began', () => {
    const inFlight = [{ workloadUid: web.uid, podUid: web.uid, since: NOON, isRollout: true }];
    expect(inspectAll(evict(), scene({ inFlight })).map(({ reason }) => reason)).toEqual(['RolloutInProgress']);
  });
});

describe('a larger pod needs room', () => {
  const node = (name: string, side: 'spot' | 'on-demand' | undefined, cpuMillis: number) =>
    aNode(name, side, { allocatable: { cpuMillis, memoryBytes: 8 * GIB } });
  const used = pods.filter(({ nodeName }) => nodeName === 's').length * (pods[0]?.template.requests.cpuMillis ?? 0);
  const larger = decision({ growth: { cpuMillis: 500, memoryBytes: 0 } });
  const on = (...nodes: ReturnType<typeof node>[]) => reasonsFor({ records: { nodes } }, larger);

  test('its own place, where that is left when the pod is gone', () => {
    expect(on(node('s', 'spot', used + 500), node('o', 'on-demand', used))).toEqual([]);
    expect(on(node('s', 'spot', used + 499), node('o', 'on-demand', used))).toEqual(['NoRoomOnSide']);
  });

  test('its own place in memory, too', () => {
    const memoryUsed =
      pods.filter(({ nodeName }) => nodeName === 's').length * (pods[0]?.template.requests.memoryBytes ?? 0);
    const more = decision({ growth: { cpuMillis: 0, memoryBytes: GIB } });
    const on = (memoryBytes: number) => {
      const own = aNode('s', 'spot', { allocatable: { cpuMillis: used, memoryBytes } });
      return reasonsFor({ records: { nodes: [own, node('o', 'on-demand', used)] } }, more);
    };
    expect(on(memoryUsed + GIB)).toEqual([]);
    expect(on(memoryUsed + GIB - 1)).toEqual(['NoRoomOnSide']);
    // Another node must have the whole of it.
    const single = pods[0]?.template.requests ?? { cpuMillis: 0, memoryBytes: 0 };
    const elsewhere = (memoryBytes: number) => {
      const free = aNode('s2', 'spot', { allocatable: { cpuMillis: single.cpuMillis, memoryBytes } });
      const full = aNode('s', 'spot', { allocatable: { cpuMillis: used, memoryBytes: memoryUsed } });
      return reasonsFor({ records: { nodes: [full, free, node('o', 'on-demand', used)] } }, more);
    };
    expect(elsewhere(single.memoryBytes + GIB)).toEqual([]);
    expect(elsewhere(single.memoryBytes + GIB - 1)).toEqual(['NoRoomOnSide']);
  });

  test('its own place is none where its node takes no new pods', () => {
    const own = { ...node('s', 'spot', used + 500), unschedulable: true };
    expect(on(own, node('o', 'on-demand', used))).toEqual(['NoRoomOnSide']);
    expect(on(own, node('s2', 'spot', 16_000), node('o', 'on-demand', used))).toEqual([]);
  });

  test('no place is left that is known where pods of other namespaces are not seen', () => {
    const records = { nodes: [node('s', 'spot', used + 500), node('s2', 'spot', 16_000)], isPartial: true };
    expect(reasonsFor({ records }, larger)).toEqual(['NoRoomOnSide']);
  });

  test('another node of its side; one of the other side does not help where placement has a say', () => {
    const full = node('s', 'spot', used);
    expect(on(full, node('o', 'on-demand', used), node('s2', 'spot', 16_000))).toEqual([]);
    expect(on(full, node('o', 'on-demand', 16_000))).toEqual(['NoRoomOnSide']);
  });

  describe('an autoscaler’s promise', () => {
    const base = someSettings().nodeClasses;
    const nodeClasses = { ...base, provisionable: { spot: true, onDemand: false } };
    const single = pods[0]?.template.requests.cpuMillis ?? 0;
    const ask = (changes: SceneChanges, spotNode = node('s', 'spot', single + 500)) => {
      const records = { nodes: [spotNode, node('o', 'on-demand', used)] };
      return inspectAll(larger, scene({ settings: { nodeClasses }, records, ...changes }));
    };
    const spotIs = (state: SpotState) => ({ ...untroubledSpot, stateOf: () => state });

    test('is enough where a node as large as is needed is there already', () => {
      expect(ask({})).toEqual([]);
      const [block] = ask({}, node('s', 'spot', 400));
      expect(block).toMatchObject({
        reason: 'NoRoomOnSide',
        message: expect.stringMatching(/makes spot nodes, but none/),
      });
    });

    test.each<[SpotState, readonly string[]]>([
      [{ kind: 'open' }, []],
      [{ kind: 'closed', since: 0, until: NOON + 1 }, ['NoRoomOnSide']],
      [{ kind: 'probing', since: 0, isTaken: false }, ['NoRoomOnSide']],
    ])('is doubted where it was not kept a moment ago: %j', (state, expected) => {
      expect(ask({ spot: spotIs(state) }).map(({ reason }) => reason)).toEqual(expected);
    });

    test('one node of the side that is as large as is needed is enough, in CPU and in memory', () => {
      const on = (...spotNodes: ReturnType<typeof node>[]) =>
        ask({ records: { nodes: [node('s', 'spot', 400), ...spotNodes, node('o', 'on-demand', used)] } });
      const large = node('s2', 'spot', single + 500);
      const s2 = [...pods, pod('other', 's2')];
      expect(ask({ records: { nodes: [node('s', 'spot', 400), large], pods: s2 } })).toEqual([]);
      expect(on(aNode('s2', 'spot', { allocatable: { cpuMillis: single + 500, memoryBytes: 1 } }))).toHaveLength(1);
      // What on-demand has says nothing of the nodes that spot would get.
      const records = { nodes: [node('s', 'spot', 400), node('o', 'on-demand', 16_000)] };
      expect(ask({ records })).toHaveLength(1);
    });

    test('of one side is not doubted for what is amiss with the other', () => {
      const closed = spotIs({ kind: 'closed', since: 0, until: NOON + 1 });
      expect(ask({ waitingCovers: 9 })).toEqual([]);
      const settings = { nodeClasses: { ...base, provisionable: { spot: false, onDemand: true } } };
      const records = {
        nodes: [node('s', 'spot', used), node('o', 'on-demand', single + 500)],
        pods: [...pods, pod('o2', 'o')],
        workloads: [aDeployment({ replicas: 5 })],
      };
      const o1 = { ...larger, pod: { namespace: 'shop', name: 'o1', uid: 'o1' } };
      expect(reasonsFor({ settings, records, spot: closed }, o1)).toEqual([]);
    });

    test('is doubted where pods wait for on-demand already', () => {
      const settings = { nodeClasses: { ...base, provisionable: { spot: false, onDemand: true } } };
      const records = {
        nodes: [node('s', 'spot', used), node('o', 'on-demand', single + 500)],
        pods: [...pods, pod('o2', 'o')],
        workloads: [aDeployment({ replicas: 5 })],
      };
      const o1 = { ...larger, pod: { namespace: 'shop', name: 'o1', uid: 'o1' } };
      const wait = (waitingCovers: number) => reasonsFor({ settings, waitingCovers, records }, o1);
      expect([wait(0), wait(1)]).toEqual([[], ['NoRoomOnSide']]);
    });
  });

  test('any node, where it has none', () => {
    const policy = { state: 'unmanaged', reason: { name: 'NotEnabled', message: '', advice: '' } } as const;
    const nodes = [node('s', 'spot', used), node('o', 'on-demand', used)];
    const ask = (extra: ReturnType<typeof node>) =>
      reasonsFor({ policy, records: { nodes: [...nodes, extra] } }, larger);
    expect(ask(node('o2', 'on-demand', 16_000))).toEqual([]);
    expect(ask(node('x', undefined, 16_000))).toEqual([]);
    expect(ask(node('x', undefined, 400))).toEqual(['NoRoomOnSide']);
  });

  test.each<[string, SceneChanges['records']]>([
    ['takes no new pods', { nodes: [{ ...node('x', undefined, 16_000), unschedulable: true }] }],
    [
      'has a taint that the pod does not tolerate',
      { nodes: [{ ...node('x', undefined, 16_000), taints: [{ key: 'gpu', value: '', effect: 'NoSchedule' }] }] },
    ],
    [
      'is not the one that the pod selects',
      { workloads: [{ ...web, template: { ...web.template, nodeSelector: { disk: 'ssd' } } }] },
    ],
    ['may be out of reach of its volume', withPods({ s3: { claims: ['data'] } })],
  ])('a node of no known side is none where it %s', (_, changes) => {
    const policy = { state: 'unmanaged', reason: { name: 'NotEnabled', message: '', advice: '' } } as const;
    const known = [node('s', 'spot', used), node('o', 'on-demand', used)];
    const records = { ...changes, nodes: [...known, ...(changes?.nodes ?? [node('x', undefined, 16_000)])] };
    expect(reasonsFor({ policy, records }, larger)).toEqual(['NoRoomOnSide']);
  });

  test('of a pod on a node of no known side either side will do', () => {
    const u1 = { ...larger, pod: { namespace: 'shop', name: 'u1', uid: 'u1' } };
    const ask = (...roomy: ReturnType<typeof node>[]) => {
      const nodes = [node('s', 'spot', used), node('o', 'on-demand', used), node('x', undefined, used), ...roomy];
      const workloads = [aDeployment({ replicas: 5 })];
      return reasonsFor({ records: { nodes, pods: [...pods, pod('u1', 'x')], workloads } }, u1);
    };
    expect(ask()).toEqual(['NoRoomOnSide']);
    expect(ask(node('o2', 'on-demand', 16_000))).toEqual([]);
    expect(ask(node('s2', 'spot', 16_000))).toEqual([]);
  });

  test('a node of no known side is none where placement has a say: the replacement is steered to a side', () => {
    const nodes = [node('s', 'spot', used), node('o', 'on-demand', used), node('x', undefined, 16_000)];
    expect(reasonsFor({ records: { nodes } }, larger)).toEqual(['NoRoomOnSide']);
    const onUnknown = decision({ growth: larger.growth, pod: { namespace: 'shop', name: 'u1', uid: 'u1' } });
    const records = {
      nodes: [...nodes, node('x2', undefined, used)],
      pods: [...pods, pod('u1', 'x2')],
      workloads: [aDeployment({ replicas: 5 })],
    };
    expect(reasonsFor({ records }, onUnknown)).toEqual(['NoRoomOnSide']);
  });

  test('nor is one that runs a pod of the workload already, where the pods keep away from each other', () => {
    const policy = { state: 'unmanaged', reason: { name: 'NotEnabled', message: '', advice: '' } } as const;
    const apart = { ...web, template: { ...web.template, hasPodPlacementRules: true } };
    const nodes = [node('s', 'spot', used), node('o', 'on-demand', used), node('x', undefined, 16_000)];
    const ask = (extra: Parameters<typeof pod>[2]) =>
      reasonsFor({ policy, records: { nodes, workloads: [apart], pods: [...pods, pod('u1', 'x', extra)] } }, larger);
    expect(ask({})).toEqual(['NoRoomOnSide']);
    expect(ask({ phase: 'Succeeded' })).toEqual([]);
    const together = { nodes, pods: [...pods, pod('u1', 'x')] };
    expect(reasonsFor({ policy, records: together }, larger)).toEqual([]);
  });

  test('one that grows in nothing fits where it was, however full the node is', () => {
    const records = { nodes: [node('s', 'spot', 1), node('o', 'on-demand', 1)] };
    expect(reasonsFor({ records })).toEqual([]);
  });
});
