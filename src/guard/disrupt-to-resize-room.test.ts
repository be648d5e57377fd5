/** Where a pod is to become larger, its replacement needs room: what counts as such. */
import { describe, expect, test } from 'vitest';
import { type SpotState, untroubledSpot } from '../decide/placement/spot-outlook.ts';
import type { PodRecord, PodTemplate } from '../model/records.ts';
import { aDeployment, aNode, aSpreadRule, aTemplate, GIB, NOON, someSettings } from '../model/testing/records.ts';
import type { AwaitedReplacement } from './context.ts';
import { inspectAll } from './guard.ts';
import { pod, pods, type SceneChanges, scene, web, withPods } from './testing/scene.ts';
import { decision, reasonsFor } from './testing/size-eviction.ts';

const inSandbox = { key: 'runtime', operator: 'In', values: ['sandboxed'] } as const;

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

  test('what is left on another node is not counted on while the replacement of another pod may take it', () => {
    const single = pods[0]?.template.requests.cpuMillis ?? 0;
    const nodes = [node('s', 'spot', used), node('s2', 'spot', 2 * single + 500), node('o', 'on-demand', used)];
    const awaiting = (cpuMillis: number) => {
      const template = aTemplate({ requests: { cpuMillis, memoryBytes: 0 } });
      return reasonsFor({ records: { nodes }, awaited: [{ side: 'spot', template }] }, larger);
    };
    expect(awaiting(single)).toEqual([]);
    expect(awaiting(single + 1)).toEqual(['NoRoomOnSide']);
  });

  test('what two pods of one node would grow by is not counted on twice', () => {
    const requests = pods[0]?.template.requests ?? { cpuMillis: 0, memoryBytes: 0 };
    const template = aTemplate({ requests: { ...requests, cpuMillis: requests.cpuMillis + 200 } });
    const blocks = (left: number, awaited: Omit<AwaitedReplacement, 'template'>) => {
      const nodes = [node('s', 'spot', used + left), node('o', 'on-demand', used)];
      return inspectAll(larger, scene({ records: { nodes }, awaited: [{ ...awaited, template }] }));
    };
    const held = { node: 's', requests };
    expect(blocks(700, { side: undefined, held })).toEqual([]);
    expect(blocks(699, { side: undefined, held })).toMatchObject([{ reason: 'NoRoomOnSide', retryAfterMillis: 5_000 }]);
    expect(blocks(699, { side: 'on-demand', held })).toEqual([]);
    // One that was elsewhere, or is gone, has no place of its own there.
    const whole = 700 + requests.cpuMillis;
    expect(blocks(whole, { side: 'spot', held: { ...held, node: 'o' } })).toEqual([]);
    expect(blocks(whole - 1, { side: 'spot', held: { ...held, node: 'o' } })).toHaveLength(1);
    expect(blocks(whole - 1, { side: 'spot' })).toHaveLength(1);
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

  test.each<[string, Partial<PodTemplate>]>([
    ['node selector', { nodeSelector: { runtime: 'sandboxed' } }],
    ['affinity', { requiredNodeTerms: [{ expressions: [inSandbox], fields: [] }] }],
  ])('another node that takes pods with the %s that was added to this one', (_, added) => {
    const template = aTemplate(added);
    const free = node('s2', 'spot', 16_000);
    const reasons = (more: typeof free) => {
      const nodes = [node('s', 'spot', used), node('o', 'on-demand', used), more];
      return reasonsFor({ records: { ...withPods({ s3: { template } }), nodes } }, larger);
    };
    expect(reasons(free)).toEqual(['NoRoomOnSide']);
    expect(reasons({ ...free, labels: { ...free.labels, runtime: 'sandboxed' } })).toEqual([]);
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

    /** A pod on on-demand that has room there; an autoscaler makes nodes of that side alone. */
    const onDemandPod = { ...larger, pod: { namespace: 'shop', name: 'o1', uid: 'o1' } };
    const onDemandRoom = {
      settings: { nodeClasses: { ...base, provisionable: { spot: false, onDemand: true } } },
      records: {
        nodes: [node('s', 'spot', used), node('o', 'on-demand', single + 500)],
        pods: [...pods, pod('o2', 'o')],
        workloads: [aDeployment({ replicas: 5 })],
      },
    };

    test('of one side is not doubted for what is amiss with the other', () => {
      const closed = spotIs({ kind: 'closed', since: 0, until: NOON + 1 });
      expect(ask({ waitingCovers: 9 })).toEqual([]);
      expect(reasonsFor({ ...onDemandRoom, spot: closed }, onDemandPod)).toEqual([]);
    });

    test('is doubted where pods wait for on-demand already', () => {
      const wait = (waitingCovers: number) => reasonsFor({ ...onDemandRoom, waitingCovers }, onDemandPod);
      expect([wait(0), wait(1)]).toEqual([[], ['NoRoomOnSide']]);
      const moved = { workload: { kind: 'Deployment', namespace: 'shop', name: 'other' }, side: 'on-demand' } as const;
      const waitFor = (millis: number) => ({ ...onDemandRoom, stranded: [{ ...moved, since: NOON - millis }] });
      expect(reasonsFor(waitFor(119_999), onDemandPod)).toEqual([]);
      expect(reasonsFor(waitFor(120_000), onDemandPod)).toEqual(['NoRoomOnSide']);
    });

    test('is doubted where the last one that was made larger waits for it, unless the pod serves nobody', () => {
      const { records, settings } = onDemandRoom;
      const beside = (waiting: Partial<PodRecord>, victim: Partial<PodRecord> = {}) => {
        const waits = { phase: 'Pending', ready: false, createdAt: 0, readyChangedAt: undefined } as const;
        const last = pod('last', '', { ...waits, nodeName: undefined, unschedulableSince: NOON - 1, ...waiting });
        const all = [...records.pods.map((each) => (each.name === 'o1' ? { ...each, ...victim } : each)), last];
        const workloads = [aDeployment({ replicas: 12 })];
        const enough = Array.from({ length: 6 }, (_, index) => pod(`more${index}`, 's'));
        const nodes = [node('s', 'spot', used), node('o', 'on-demand', single + 500)];
        return reasonsFor({ settings, records: { nodes, workloads, pods: [...all, ...enough] } }, onDemandPod);
      };
      expect(beside({})).toEqual(['NoRoomOnSide']);
      expect(beside({ capacity: 'on-demand' })).toEqual(['NoRoomOnSide']);
      expect(beside({ capacity: 'spot' })).toEqual([]);
      expect(beside({ unschedulableSince: undefined })).toEqual([]);
      expect(beside({}, { ready: false })).toEqual([]);
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
    const machine = 'kubernetes.io/hostname';
    const rule = { kind: 'apart', topologyKey: machine, selector: {}, isOwn: true, isElsewhere: false } as const;
    const apart = { ...web, template: { ...web.template, podAffinity: [rule] } };
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

  test.each([
    ['unless it is to be spread, and others have gone from elsewhere since', 1, ['NoRoomOnSide']],
    ['where it is to be spread, as long as it may be there', 3, []],
  ])('%s', (_, maxSkew, expected) => {
    const spread = [aSpreadRule({ maxSkew })];
    const workloads = [{ ...web, template: { ...web.template, spread } }];
    // Three are on `s`; `s2` has none and takes none.
    const nodes = [node('s', 'spot', used), { ...node('s2', 'spot', used), maxPods: 0 }];
    expect(reasonsFor({ records: { workloads, nodes } })).toEqual(expected);
    // A rule that was added to the pod alone says the same.
    const template = { ...web.template, spread };
    expect(reasonsFor({ records: { ...withPods({ s3: { template } }), nodes } })).toEqual(expected);
  });
});
