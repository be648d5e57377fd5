import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import { createRestJudge } from './rest-judge.ts';
import { aFleet } from './testing/facts.ts';

const MINUTE = 60_000;
const web = aFleet({ replicas: 4, spotPercentage: 50 });
const nothing = (): undefined => undefined;

function setUp(hasQuota = false) {
  const clock = createVirtualClock(0);
  const mixes: unknown[] = [];
  const sizes: unknown[] = [];
  const judge = createRestJudge({
    clock,
    hasQuota: (namespace) => hasQuota && namespace === 'shop',
    monitor: { judgeRest: ({ key }, explanation) => mixes.push([key, explanation]) },
    sizes: { judgeRest: ({ key }, explanation) => sizes.push([key, explanation()]) },
  });
  return { clock, judge, mixes, sizes };
}

describe('a workload', () => {
  test('is looked at when nothing has happened to it for twenty minutes', async () => {
    const { clock, judge, mixes, sizes } = setUp();
    judge.onChange(web);
    await clock.advance(20 * MINUTE - 1);
    judge.judge([web], nothing, nothing);
    expect([mixes, sizes]).toEqual([[], []]);
    await clock.advance(1);
    judge.judge([web], nothing, nothing);
    expect([mixes, sizes]).toEqual([[['shop/web', undefined]], [['shop/web', undefined]]]);
    judge.onChange(web);
    judge.judge([web], nothing, nothing);
    expect(mixes).toHaveLength(1);
  });

  test('has a mix only where it is managed, and sizes all the same', async () => {
    const { clock, judge, mixes, sizes } = setUp();
    const unmanaged = { ...web, rule: undefined };
    judge.onChange(unmanaged);
    await clock.advance(20 * MINUTE);
    judge.judge([unmanaged], nothing, nothing);
    expect([mixes.length, sizes.length]).toEqual([0, 1]);
  });
});

describe('what explains', () => {
  const short: WorkloadFacts = { ...web, counts: { ...web.counts, live: 3 } };
  const none: WorkloadFacts = { ...web, counts: { ...web.counts, live: 0 } };

  test.each<[string, WorkloadFacts, boolean, string | undefined, string | undefined]>([
    ['a mix is told by the operator', short, true, 'no spot to be had', 'no spot to be had'],
    ['one that it does not explain may be a quota', short, true, undefined, 'a quota keeps pods from being made'],
    ['is no quota where all pods are there', web, true, undefined, undefined],
    ['is no quota where there is none', short, false, undefined, undefined],
    [
      'is a pause where no pod was ever made',
      { ...none, isPaused: true },
      false,
      undefined,
      'it is paused and was never rolled out',
    ],
    ['is no pause where some were', { ...short, isPaused: true }, false, undefined, undefined],
    ['is nothing where there is no pod and no pause', none, false, undefined, undefined],
  ])('%s', async (_name, facts, hasQuota, told, expected) => {
    const { clock, judge, mixes } = setUp(hasQuota);
    judge.onChange(facts);
    await clock.advance(20 * MINUTE);
    judge.judge([facts], () => told, nothing);
    expect(mixes).toEqual([['shop/web', expected]]);
  });

  test('sizes is told by the status of a policy, or else by the operator', async () => {
    const { clock, judge, sizes } = setUp();
    judge.onChange(web);
    await clock.advance(20 * MINUTE);
    judge.judge([web], nothing, () => 'told by the operator');
    const entry = { kind: 'Deployment', namespace: 'shop', name: 'web', reason: 'OutsideUpdateWindow' };
    judge.onStatus({ metadata: { namespace: 'shop', name: 'policy' }, status: { workloads: [entry] } });
    judge.judge([web], nothing, () => 'told by the operator');
    expect(sizes).toEqual([
      ['shop/web', 'told by the operator'],
      ['shop/web', 'OutsideUpdateWindow'],
    ]);
  });
});
