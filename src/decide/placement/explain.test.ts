import { describe, expect, test } from 'vitest';
import { aDeployment, NOON } from '../../model/testing/records.ts';
import { type Blocking, explainPlan } from './explain.ts';
import { createWorld, plan, run, runUnsteered, UNKNOWN_NODE, type World } from './testing/world.ts';

function worldOf(annotations: Readonly<Record<string, string>>, replicas = 3): World {
  return createWorld(aDeployment({ replicas, annotations }));
}
const half = { 'spotalis.io/spot-percentage': '50', 'spotalis.io/min-on-demand': '1' };
const explain = (world: World, blocks: readonly Blocking[] = []) => explainPlan(plan(world), blocks, NOON);
const excess = (): World => {
  const world = worldOf(half);
  for (const name of ['a', 'b', 'c']) runUnsteered(world, 'spot', { name });
  return world;
};
const blocked = (retryAfterMillis: number | undefined): Blocking => ({
  reason: 'CooldownActive',
  message: 'The last disruption was 4s ago',
  advice: 'Nothing to do.',
  retryAfterMillis,
});

test('pods stand in the order of their slots, those without one last', () => {
  const world = excess();
  runUnsteered(world, 'spot', { name: 'old', phase: 'Failed' });
  expect(explain(world).pods.map(({ slot, ref }) => [slot, ref.name])).toEqual([
    [1, 'c'],
    [2, 'a'],
    [3, 'b'],
    [undefined, 'old'],
  ]);
});

describe('the headline', () => {
  test('says that all is well', () => {
    const world = worldOf(half);
    while (world.pods.length < 3) run(world);
    expect(explain(world).headline).toBe('2 on spot, 1 on on-demand, 2 and 1 wanted; as it should be');
    expect(explain(world).next).toBe('nothing to do');
  });

  test('says how much is to be moved', () => {
    expect(explain(excess()).headline).toBe('3 on spot, 0 on on-demand, 2 and 1 wanted; 1 to move');
  });

  test('says what is not settled or not known', () => {
    const world = worldOf(half);
    runUnsteered(world, 'spot', { nodeName: UNKNOWN_NODE });
    expect(explain(world).headline).toBe(
      '0 on spot, 0 on on-demand, 1 on an unknown side, 2 and 1 wanted; not settled yet',
    );
    expect(explain(world).next).toBe('nothing to move: 2 of 3 replicas are not there, 1 on an unknown side');
    const surplus = worldOf(half);
    while (surplus.pods.length < 3) run(surplus);
    runUnsteered(surplus, 'spot', { nodeName: UNKNOWN_NODE });
    expect(explain(surplus).headline).toBe(
      '2 on spot, 1 on on-demand, 1 on an unknown side, 2 and 1 wanted; not settled yet',
    );
    expect(explain(surplus).next).toBe('nothing to move: 1 more than the 3 asked for, 1 on an unknown side');
  });

  test('says why a workload is left alone, and what to write instead', () => {
    expect(explain(createWorld(aDeployment({ enabled: false })))).toMatchObject({
      headline: 'not managed',
      policy: [expect.stringContaining('spotalis.io/enabled')],
    });
    expect(explain(worldOf({ 'spotalis.io/spot-percentage': '1000' }))).toMatchObject({
      headline: 'left alone, its configuration is not valid',
      policy: [
        expect.stringMatching(/^workload spotalis.io\/spot-percentage: "1000" is not valid; accepted: a whole number/),
      ],
    });
  });
});

describe('the policy', () => {
  test('is told with the source of each value', () => {
    expect(explain(worldOf(half)).policy).toEqual([
      'spot percentage 50 of all replicas, rounded up (from workload)',
      'at least 1 on on-demand (from workload)',
      'pods may be moved at any time',
    ]);
  });

  test('is told with basis, rounding, percent floor and window', () => {
    const annotations = {
      'spotalis.io/min-on-demand': '30%',
      'spotalis.io/disruption-schedule': '0 2 * * *',
      'spotalis.io/disruption-duration': '4h',
    };
    const world = createWorld(aDeployment({ annotations }), { rounding: 'floor', basis: 'aboveBase' });
    expect(explain(world).policy).toEqual([
      'spot percentage 0 of the replicas above the floor, rounded down (from config)',
      'at least 30% of the replicas on on-demand (from workload)',
      'pods may be moved 0 2 * * * for 4h, closed now (from workload)',
    ]);
  });
});

describe('what happens next', () => {
  test('a move that nothing blocks', () => {
    expect(explain(excess()).next).toBe('pod a moves from spot to on-demand now');
  });

  test('a move that time will unblock, when the last wait is over', () => {
    expect(explain(excess(), [blocked(6000), blocked(90_000)]).next).toBe(
      'pod a moves from spot to on-demand at 2026-03-02T12:01:30.000Z, in 1m30s',
    );
  });

  test('a move that waits for the cluster', () => {
    expect(explain(excess(), [blocked(6000), blocked(undefined)]).next).toBe(
      'pod a moves from spot to on-demand once nothing blocks it: The last disruption was 4s ago',
    );
  });

  test('stamps to correct', () => {
    const world = worldOf({});
    for (const name of ['a', 'b', 'c']) runUnsteered(world, 'on-demand', { name });
    expect(explain(world).next).toBe('the stamps of 3 pods are corrected; no pod is moved');
  });

  test('drift that cannot be mended points to the notes', () => {
    const world = excess();
    const template = { ...world.workload.template, nodeSelector: { 'karpenter.sh/capacity-type': 'spot' } };
    world.workload = { ...world.workload, template };
    expect(explain(world).next).toBe('nothing: no pod can be moved, see the notes');
    expect(explain(world).notes.join('; ')).toContain('pins spot');
  });
});
