import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import { createLedger } from './ledger.ts';
import { createProgressJudge } from './progress-judge.ts';
import { aFleet } from './testing/facts.ts';

const ten = aFleet({ replicas: 10, spotPercentage: 70 });

/** So many run on spot and on on-demand; the others are missing. */
function fleet(spot: number, onDemand: number): WorkloadFacts {
  return { ...ten, counts: { ...ten.counts, live: spot + onDemand, spot, onDemand } };
}

function setUp() {
  const clock = createVirtualClock(0);
  const ledger = createLedger(clock);
  const judge = createProgressJudge(clock, ledger);
  let pods = 0;
  return {
    judge,
    clock,
    broken: () => ledger.broken().progress,
    detail: () => ledger.violations()[0]?.detail,
    /** A pod is replaced so many times, one each `everyMillis`, and comes back to where it was. */
    async replace(times: number, everyMillis: number, before: WorkloadFacts, after = before) {
      for (let index = 0; index < times; index++) {
        const uid = `pod-${pods++}`;
        judge.beforeChange(before);
        judge.replaced(before, uid);
        judge.podGone(before, uid);
        judge.beforeChange(after);
        await clock.advance(everyMillis);
      }
    },
  };
}

describe('moves that come to nothing', () => {
  test('are seen where one follows the other for ever', async () => {
    const { replace, broken, detail } = setUp();
    await replace(60, 10_000, fleet(6, 4));
    expect(broken()).toBeGreaterThan(0);
    expect(detail()).toBe(
      'shop/web: 25 pods replaced in 0.1 hours in which nobody else changed anything; it was 1 steps from its mix, and got to 1',
    );
  });

  test('are fine where they come ever more rarely', async () => {
    const { replace, broken } = setUp();
    for (let pause = 30_000; pause < 3_600_000; pause *= 2) await replace(2, pause, fleet(6, 4));
    await replace(40, 3_600_000, fleet(6, 4));
    expect(broken()).toBe(0);
  });

  test.each<[string, (judge: ReturnType<typeof setUp>['judge']) => void]>([
    ['of this workload', (judge) => judge.onCause('web')],
    ['of all', (judge) => judge.onCause()],
    ['which took a pod of it', (judge) => judge.podGone(ten, 'another')],
  ])('begin anew with a change by others %s', async (_, change) => {
    const { replace, broken, judge } = setUp();
    for (let round = 0; round < 10; round++) {
      await replace(20, 10_000, fleet(6, 4));
      change(judge);
    }
    expect(broken()).toBe(0);
  });

  test('do not begin anew with a change of another workload', async () => {
    const { replace, broken, judge } = setUp();
    for (let round = 0; round < 3; round++) {
      await replace(20, 10_000, fleet(6, 4));
      judge.onCause('other');
    }
    expect(broken()).toBeGreaterThan(0);
  });
});

test('moves that each bring it nearer to its mix are as many as it takes', async () => {
  const { replace, broken } = setUp();
  const large = { ...ten, replicas: 100, targetSpot: 100 };
  const at = (spot: number): WorkloadFacts => ({
    ...large,
    counts: { ...ten.counts, live: 100, spot, onDemand: 100 - spot },
  });
  for (let spot = 0; spot < 100; spot++) await replace(1, 1000, at(spot), at(spot + 1));
  expect(broken()).toBe(0);
});
