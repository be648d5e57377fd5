import { describe, expect, test } from 'vitest';
import { INSTANCE_TYPE_LABEL, ZONE_LABEL } from '../../model/spot-pool.ts';
import { aNode, CAPACITY_TYPE } from '../../model/testing/records.ts';
import { noteSpot } from './note-spot.ts';
import type { WorkloadPlan } from './plan.ts';
import { type SpotOutlook, untroubledSpot } from './spot-outlook.ts';
import { viewOf, worldOf } from './testing/world.ts';

const MINUTE = 60_000;

function notes(spot: Partial<SpotOutlook>, seen: Partial<WorkloadPlan['spot']> = {}, dueAt?: number): string[] {
  const world = worldOf(4, 50, 0);
  const labels = { [CAPACITY_TYPE]: 'spot', [ZONE_LABEL]: 'b', [INSTANCE_TYPE_LABEL]: 'm5.large' };
  world.nodes.push(aNode('spot-b', 'spot', { labels }));
  const view = viewOf(world);
  const { sides, settings, workload, now } = world;
  const input = { view, sides, settings, workload, now, policy: world.readPolicy(view, workload) };
  const outlook = { ...untroubledSpot, ...spot };
  return noteSpot({ ...input, spot: outlook }, { state: { kind: 'open' }, covered: 0, ...seen }, dueAt).map(
    ({ text }) => text,
  );
}

describe('noteSpot', () => {
  test('says nothing while all is well', () => {
    expect(notes({})).toEqual([]);
  });

  test.each<[string, Partial<WorkloadPlan['spot']>, RegExp]>([
    ['cover', { covered: 3 }, /^3 on on-demand as temporary cover for spot$/],
    ['a closure', { state: { kind: 'closed', since: 0, until: MINUTE } }, /tried again at 1970-01-01T00:01:00.000Z$/],
    ['a chance', { state: { kind: 'probing', since: 0, isTaken: false } }, /may be tried again with one pod$/],
    ['a probe', { state: { kind: 'probing', since: 0, isTaken: true } }, /is being tried with one pod$/],
  ])('tells of %s', (_, seen, text) => {
    expect(notes({}, seen)).toEqual([expect.stringMatching(text)]);
  });

  test('tells when the next pod falls back', () => {
    expect(notes({}, {}, MINUTE)).toEqual([
      expect.stringContaining('recreated on on-demand at 1970-01-01T00:01:00.000Z'),
    ]);
  });

  test('hazard H8: tells of a storm and when it is over', () => {
    expect(notes({ storm: () => ({ lost: 4, calmAt: MINUTE }) })).toEqual([
      expect.stringMatching(/^4 spot nodes were lost .*1970-01-01T00:01:00.000Z$/),
    ]);
  });

  test('bug 10: tells which pools new pods avoid, and why', () => {
    const pool = { key: 'a/m5', zone: 'a', instanceTypes: ['m5.large'], lost: 3, standing: 2 };
    expect(notes({ lossyPools: () => [pool] })).toEqual([
      'new pods avoid spot pool a/m5: it lost 3 of 5 nodes within an hour',
    ]);
  });
});
