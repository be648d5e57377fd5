import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import { aNode, aVolumeClaim, NOON } from '../../model/testing/records.ts';
import { inspectAll } from '../guard.ts';
import { createDisruptionLog } from '../history.ts';
import { evict, nodes, scene, web, withPods } from '../testing/scene.ts';

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
    const template = { ...web.template, hasPodPlacementRules: true };
    const records = { workloads: [{ ...web, template }] };
    expect(inspectAll(evict(), scene({ records })).map(({ reason }) => reason)).toEqual(['NoRoomOnSide']);
    const another = { ...records, nodes: [...nodes, aNode('o2', 'on-demand')] };
    expect(inspectAll(evict(), scene({ records: another }))).toEqual([]);
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

test('cover that waits itself moves only to a node that is there, not to a promise', () => {
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
});
