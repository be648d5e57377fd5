import { describe, expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { FallbackDecision } from '../../decide/decision.ts';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { NodeRecord, PodRecord, PodTemplate, Side, SpreadRule, WorkloadRecord } from '../../model/records.ts';
import type { SnapshotRecords } from '../../model/snapshot.ts';
import { aNode, aSpreadRule, aTemplate, aVolumeClaim, CAPACITY_TYPE, GIB, NOON } from '../../model/testing/records.ts';
import { aContainer, aPodSizing, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { inspectAll } from '../guard.ts';
import { createDisruptionLog } from '../history.ts';
import { evict, nodes, restamp, scene, web, withPods } from '../testing/scene.ts';

describe('a place for the replacement', () => {
  const full = aNode('o', 'on-demand', { maxPods: 1 });

  test('bug 17: none on the other side: nothing is evicted, and the obstacle is told', () => {
    const records = { nodes: [aNode('s', 'spot'), full] };
    expect(inspectAll(evict(), scene({ records }))).toMatchObject([
      {
        rule: 'has-room',
        reason: 'NoRoomOnSide',
        message: 'No on-demand node has room for pod s3: 1 without room for its requests',
        retryAfterMillis: 60_000,
      },
    ]);
  });

  test('what its pods are made larger at admission is counted: the template alone would prove a place too small', () => {
    const sized = aSizedWorkload({
      containers: [aContainer({ size: { cpuRequest: 200 } })],
      annotations: { [rightsizingKeys.appliedSizes]: '{"app":{"cpuRequest":[200,4200]}}' },
    });
    const small = aNode('o', 'on-demand', { allocatable: { cpuMillis: 4_000, memoryBytes: 8 * GIB } });
    const records = (workload: WorkloadRecord) => ({ workloads: [workload], nodes: [aNode('s', 'spot'), small] });
    const reasons = (workload: WorkloadRecord) =>
      inspectAll(evict(), scene({ records: records(workload) })).map(({ reason }) => reason);
    expect(reasons(web)).toEqual([]);
    expect(reasons({ ...web, sized })).toEqual(['NoRoomOnSide']);
  });

  test('what others add to its pods is counted, as a sidecar is; what Stowage has resized one to is not', () => {
    const small = aNode('o', 'on-demand', { allocatable: { cpuMillis: 4_000, memoryBytes: 8 * GIB } });
    const nodesWithSmall = [aNode('s', 'spot'), small];
    const reasons = (changes: Partial<PodRecord>) => {
      const records = { ...withPods({ s3: changes }), nodes: nodesWithSmall };
      return inspectAll(evict(), scene({ records })).map(({ reason }) => reason);
    };
    const larger = (requests: Partial<PodTemplate['requests']>) =>
      aTemplate({ requests: { ...web.template.requests, ...requests } });
    expect(reasons({})).toEqual([]);
    expect(reasons({ template: larger({ cpuMillis: 4_001 }) })).toEqual(['NoRoomOnSide']);
    expect(reasons({ template: larger({ memoryBytes: 9 * GIB }) })).toEqual(['NoRoomOnSide']);
    for (const key of ['optipod.io/original-resources', 'mbcas.io/original-resources']) {
      const sizing = aPodSizing({ marks: { [key]: '{}' } });
      expect(reasons({ template: larger({ cpuMillis: 4_001 }), sizing })).toEqual([]);
    }
  });

  test('selectors and tolerations of a RuntimeClass or namespace, which the pod alone shows, are kept to', () => {
    const sandboxed = { key: 'sandboxed', value: '', effect: 'NoSchedule' } as const;
    const toleration = { ...sandboxed, operator: 'Exists' } as const;
    const pool = aNode('p', 'on-demand', { taints: [sandboxed] });
    const inPool = { ...pool, labels: { ...pool.labels, runtime: 'sandboxed' } };
    const messages = (changes: Partial<PodTemplate>, extraNodes: readonly NodeRecord[]) => {
      const records = { ...withPods({ s3: { template: aTemplate(changes) } }), nodes: [...nodes, ...extraNodes] };
      return inspectAll(evict(), scene({ records })).map(({ message }) => message);
    };
    const nodeSelector = { [CAPACITY_TYPE]: 'spot', runtime: 'sandboxed' };
    expect(messages({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } }, [])).toEqual([]);
    expect(messages({ nodeSelector }, [])).toEqual([
      'No on-demand node has room for pod s3: 1 excluded by the node selector or affinity of the pod',
    ]);
    expect(messages({ nodeSelector }, [inPool])).toEqual([expect.stringContaining('1 tainted')]);
    expect(messages({ nodeSelector, tolerations: [toleration] }, [inPool])).toEqual([]);
  });

  test('affinity and devices that a webhook added to the pod are kept to', () => {
    const ssd = { key: 'disk', operator: 'In', values: ['ssd'] } as const;
    const terms = [{ expressions: [ssd], fields: [] }];
    const reasons = (template: PodTemplate, node: NodeRecord) => {
      const records = { ...withPods({ s3: { template } }), nodes: [aNode('s', 'spot'), node] };
      return inspectAll(evict(), scene({ records })).map(({ reason }) => reason);
    };
    const plain = aNode('o', 'on-demand');
    const rich = { ...plain, labels: { ...plain.labels, disk: 'ssd' }, extraAllocatable: { gpu: 1 } };
    for (const template of [aTemplate({ requiredNodeTerms: terms }), aTemplate({ extraRequests: { gpu: 1 } })]) {
      expect(reasons(template, plain)).toEqual(['NoRoomOnSide']);
      expect(reasons(template, rich)).toEqual([]);
    }
  });

  test('room that pods on their way may take is none: several workloads saw the last place at once, and all went for it', () => {
    const size = web.template.requests.cpuMillis;
    const left = (places: number) => {
      const allocatable = { cpuMillis: size * (1 + places), memoryBytes: 64 * GIB };
      return { nodes: [aNode('s', 'spot'), aNode('o', 'on-demand', { allocatable })] };
    };
    const awaited = (...sides: (Side | undefined)[]) => sides.map((side) => ({ side, template: web.template }));
    const blocks = (places: number, ...sides: (Side | undefined)[]) =>
      inspectAll(evict(), scene({ records: left(places), awaited: awaited(...sides) }));
    expect(blocks(1, 'spot')).toEqual([]);
    expect(blocks(1, 'on-demand')).toMatchObject([
      {
        message: 'No on-demand node has room for pod s3: 1 with room that pods on their way may take',
        retryAfterMillis: 5_000,
      },
    ]);
    expect(blocks(1, undefined)).toHaveLength(1);
    expect(blocks(2, 'on-demand')).toEqual([]);
    expect(blocks(2, 'on-demand', undefined)).toHaveLength(1);
    const elsewhere = { side: 'on-demand', template: { ...web.template, nodeSelector: { disk: 'ssd' } } } as const;
    expect(inspectAll(evict(), scene({ records: left(1), awaited: [elsewhere] }))).toEqual([]);
  });

  test('hazard H12: a volume bound to a zone without such a node', () => {
    const terms = [{ expressions: [{ key: 'zone', operator: 'In' as const, values: ['a'] }], fields: [] }];
    const volumeClaims = [aVolumeClaim('data', { requiredNodeTerms: terms })];
    const records = { ...withPods({ s3: { claims: ['data'] } }), nodes, volumeClaims };
    expect(inspectAll(evict(), scene({ records }))).toMatchObject([
      { reason: 'NoRoomOnSide', message: expect.stringContaining('outside the reach of the pod’s volume') },
    ]);
  });

  test('an autoscaler that makes such nodes is a place', () => {
    const base = scene().settings.nodeClasses;
    const nodeClasses = { ...base, provisionable: { spot: true, onDemand: true } };
    const records = { nodes: [aNode('s', 'spot')] };
    const rulesOf = inspectAll(evict(), scene({ records, settings: { nodeClasses } })).map(({ rule }) => rule);
    expect(rulesOf).not.toContain('has-room');
  });

  test('hazard H20: pods that must not share a node find none where their siblings run', () => {
    const machine = 'kubernetes.io/hostname';
    const apart = { kind: 'apart', topologyKey: machine, selector: {}, isOwn: true, isElsewhere: false } as const;
    const template = { ...web.template, podAffinity: [apart] };
    const records = { workloads: [{ ...web, template }] };
    expect(inspectAll(evict(), scene({ records })).map(({ reason }) => reason)).toEqual(['NoRoomOnSide']);
    const another = { ...records, nodes: [...nodes, aNode('o2', 'on-demand')] };
    expect(inspectAll(evict(), scene({ records: another }))).toEqual([]);
  });
});

describe('hazard H20: topology spread with DoNotSchedule', () => {
  const inZone = (name: string, type: string, zone: string, maxPods = 1000) => {
    const node = aNode(name, type, { maxPods });
    return { ...node, labels: { ...node.labels, zone } };
  };
  /** The workload is spread by this rule, as are its pods; on-demand has zone a, with `o1` and room, and zone b. */
  const spreadBy = (rule: Partial<SpreadRule>, zoneB: readonly NodeRecord[]) => {
    const template = { ...web.template, spread: [aSpreadRule(rule)] };
    const nodes = [inZone('s', 'spot', 'a'), inZone('o', 'on-demand', 'a'), ...zoneB];
    return { workloads: [{ ...web, template }], nodes };
  };
  const blocksOf = (records: SnapshotRecords, settings: Partial<PlacementSettings> = {}) =>
    inspectAll(evict(), scene({ records, settings })).map(({ reason, message }) => `${reason}: ${message}`);
  const full = inZone('o2', 'on-demand', 'b', 0);

  test('a move to the only zone with room is refused where that zone has one too many, and says so', () => {
    expect(blocksOf(spreadBy({ topologyKey: 'zone' }, [full]))).toEqual([
      'NoRoomOnSide: No on-demand node has room for pod s3: 1 where its topology spread constraints allow no further pod, 1 without room for its requests',
    ]);
    expect(blocksOf(spreadBy({ topologyKey: 'zone', maxSkew: 2 }, [full]))).toEqual([]);
    expect(blocksOf(spreadBy({ topologyKey: 'zone' }, [inZone('o2', 'on-demand', 'b')]))).toEqual([]);
  });

  test('over machines as well', () => {
    expect(blocksOf(spreadBy({}, [full]))).toHaveLength(1);
    expect(blocksOf(spreadBy({ maxSkew: 2 }, [full]))).toEqual([]);
  });

  test('zones of the other side do not count, as pods are pinned to theirs, unless the rule says they do', () => {
    const spotInC = inZone('s2', 'spot', 'c');
    expect(blocksOf(spreadBy({ topologyKey: 'zone' }, [spotInC]))).toEqual([]);
    expect(blocksOf(spreadBy({ topologyKey: 'zone', honorsAffinity: false }, [spotInC]))).toHaveLength(1);
  });

  test('an autoscaler’s promise holds where a zone that it is known to make nodes in would do', () => {
    const nodeClasses = { ...scene().settings.nodeClasses, provisionable: { spot: true, onDemand: true } };
    const known = spreadBy({ topologyKey: 'zone' }, [full]);
    expect(blocksOf(known, { nodeClasses })).toEqual([]);
    const unknown = spreadBy({ topologyKey: 'zone', minDomains: 2 }, []);
    expect(blocksOf(unknown, { nodeClasses })).toEqual([expect.stringContaining('where none is yet')]);
  });

  test('a pod that waits for spot is not sent to where it could not run either', () => {
    const waiting = {
      nodeName: undefined,
      phase: 'Pending',
      ready: false,
      unschedulableSince: NOON - 600_000,
    } as const;
    const fallback: FallbackDecision = {
      ...evict(),
      kind: 'fallback',
      to: 'on-demand',
      resourceVersion: '1',
      slot: 3,
      waitingSince: NOON - 600_000,
      excess: 1,
      maxExcess: 2,
    };
    const inspectWith = (rule: Partial<SpreadRule>) =>
      inspectAll(fallback, scene({ records: { ...spreadBy(rule, [full]), ...withPods({ s3: waiting }) } })).map(
        ({ reason }) => reason,
      );
    expect(inspectWith({ topologyKey: 'zone' })).toEqual(['NoRoomOnSide']);
    expect(inspectWith({ topologyKey: 'zone', maxSkew: 2 })).toEqual([]);
  });
});

describe('a side that found no place a moment ago', () => {
  test('bug 18: bug 21: is left alone until its back-off ends, to the millisecond', () => {
    const log = createDisruptionLog({ initial: 180_000, max: 3_600_000 });
    log.recordFailedMove(web.uid, 'on-demand', NOON - 100_000);
    const at = (now: number) => inspectAll(evict(), scene({ history: log, now }));
    expect(at(NOON)).toMatchObject([{ reason: 'SideInBackoff', retryAfterMillis: 80_000 }]);
    expect(at(NOON + 79_999)).toHaveLength(1);
    expect(at(NOON + 80_000)).toEqual([]);
  });

  test('does not hinder moves to the other side', () => {
    const log = createDisruptionLog({ initial: 180_000, max: 3_600_000 });
    log.recordFailedMove(web.uid, 'spot', NOON);
    expect(inspectAll(evict(), scene({ history: log }))).toEqual([]);
  });
});

test('while new pods miss the webhook none of any workload is moved, to whichever side, until a minute is over', () => {
  const log = createDisruptionLog({ initial: 180_000, max: 3_600_000 });
  log.steering.recordMissed('other', { namespace: 'x', name: 'x-1', createdAt: NOON }, NOON - 1, NOON - 40_000);
  const at = (now: number, decision: Parameters<typeof inspectAll>[0] = evict()) =>
    inspectAll(decision, scene({ history: log, now })).filter(({ rule }) => rule === 'new-pods-steered');
  expect(at(NOON)).toMatchObject([{ reason: 'NewPodsMissAdmission', retryAfterMillis: 20_000 }]);
  expect(at(NOON, evict({ to: 'spot' }))).toHaveLength(1);
  expect(at(NOON, restamp())).toEqual([]);
  expect(at(NOON + 19_999)).toHaveLength(1);
  expect(at(NOON + 20_000)).toEqual([]);
  log.steering.recordSteered({ namespace: 'y', createdAt: NOON });
  expect(at(NOON)).toEqual([]);
});

test('cover that waits itself moves only to a node that is there, not to a promise, until it has waited as long as for spot', () => {
  const nodeClasses = nodeClassProfile(['karpenter']);
  const returning = evict({ from: 'on-demand', to: 'spot', isReturn: true });
  const waiting = { nodeName: undefined, phase: 'Pending', ready: false } as const;
  const records = { ...withPods({ s3: waiting }), nodes: nodes.filter(({ name }) => name !== 's') };
  const reasons = (context: ReturnType<typeof scene>) => inspectAll(returning, context).map(({ reason }) => reason);
  expect(reasons(scene({ records, settings: { nodeClasses } }))).toContain('NoRoomOnSide');
  expect(reasons(scene({ records: withPods({ s3: waiting }), settings: { nodeClasses } }))).not.toContain(
    'NoRoomOnSide',
  );
  expect(reasons(scene({ records: { nodes: records.nodes }, settings: { nodeClasses } }))).not.toContain(
    'NoRoomOnSide',
  );
  const since = (millis: number) => withPods({ s3: { ...waiting, unschedulableSince: NOON - millis } });
  const nowhere = { nodes: records.nodes };
  expect(reasons(scene({ records: { ...since(299_999), ...nowhere }, settings: { nodeClasses } }))).toEqual([
    'NoRoomOnSide',
  ]);
  expect(reasons(scene({ records: { ...since(300_000), ...nowhere }, settings: { nodeClasses } }))).toEqual([]);
  expect(reasons(scene({ records: { ...since(300_000), ...nowhere } }))).toEqual([]);
  const terms = [{ expressions: [{ key: 'zone', operator: 'In' as const, values: ['a'] }], fields: [] }];
  const volumeClaims = [aVolumeClaim('data', { requiredNodeTerms: terms })];
  const tied = withPods({ s3: { ...waiting, unschedulableSince: NOON - 300_000, claims: ['data'] } });
  expect(reasons(scene({ records: { ...tied, nodes, volumeClaims } }))).toEqual(['NoRoomOnSide']);
});
