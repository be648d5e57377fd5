import { describe, expect, test } from 'vitest';
import { createHistoryGathering } from './container-history.ts';

const STEP = 300_000;
const HOUR = 3_600_000;
const points = (...values: readonly (readonly [at: number, value: number])[]) =>
  values.map(([at, value]) => ({ at, value }));

describe('gathered usage of a workload', () => {
  test('is in order of time, replicas of an instant together, containers apart', () => {
    const gathering = createHistoryGathering();
    gathering.add([
      { pod: 'a', container: 'app', cpu: points([0, 1], [STEP, 2]), memory: points([0, 10], [STEP, 20]) },
      { pod: 'b', container: 'app', cpu: points([0, 3], [STEP, 4]), memory: points([STEP, 30]) },
      { pod: 'a', container: 'aid', cpu: [], memory: points([0, 5]) },
    ]);
    gathering.add([{ pod: 'a', container: 'app', cpu: points([2 * STEP, 5]), memory: points([2 * STEP, 40]) }]);
    const [aid, app] = gathering.containers();
    expect(aid).toEqual({
      container: 'aid',
      cpu: undefined,
      memory: [{ at: 0, demand: [5], replicas: [0], isSeen: true }],
    });
    expect([...(app?.cpu?.at ?? [])]).toEqual([0, 0, STEP, STEP, 2 * STEP]);
    expect([...(app?.cpu?.usage ?? [])]).toEqual([1, 3, 2, 4, 5]);
    expect([...(app?.cpu?.replicas ?? [])]).toEqual([0, 1, 0, 1, 0]);
    expect(app?.memory.map(({ demand, replicas }) => [demand, replicas])).toEqual([
      [[10], [0]],
      [
        [20, 30],
        [0, 1],
      ],
      [[40], [0]],
    ]);
    expect(gathering.samples()).toBe(10);
  });

  test('a pod that begins earlier than another one told before it does not break the order', () => {
    const gathering = createHistoryGathering();
    gathering.add([
      { pod: 'late', container: 'app', cpu: [], memory: points([STEP, 1]) },
      { pod: 'early', container: 'app', cpu: [], memory: points([0, 2], [STEP, 3]) },
    ]);
    expect(gathering.containers()[0]?.memory.map(({ at }) => at)).toEqual([0, STEP]);
  });

  test('the place of a pod that is gone is taken by the next, that of one that pauses is not', () => {
    const gathering = createHistoryGathering();
    const seen = (pod: string, at: number) => ({ pod, container: 'app', cpu: [], memory: points([at, 1]) });
    gathering.add([seen('a', 0), seen('b', 0)]);
    gathering.add([seen('b', HOUR), seen('c', HOUR)]);
    gathering.add([seen('d', HOUR + STEP), seen('c', HOUR + STEP)]);
    gathering.add([seen('a', HOUR + 2 * STEP)]);
    const places = gathering.containers()[0]?.memory.map(({ replicas }) => replicas);
    // `c` comes when `a` might be back; `d` when it is not, and `a` itself has to take a new place then.
    expect(places).toEqual([[0, 1], [1, 2], [0, 2], [3]]);
  });

  test('places of CPU and of memory go by their own time: one is told after all of the other', () => {
    const gathering = createHistoryGathering();
    const whole = (pod: string, ...at: number[]) => ({
      pod,
      container: 'app',
      cpu: points(...at.map((each) => [each, 1] as const)),
      memory: points(...at.map((each) => [each, 1] as const)),
    });
    gathering.add([whole('old', 0, STEP), whole('new', 2 * HOUR, 3 * HOUR)]);
    const [app] = gathering.containers();
    expect([...(app?.cpu?.replicas ?? [])]).toEqual([0, 0, 0, 0]);
    expect(app?.memory.map(({ replicas }) => replicas)).toEqual([[0], [0], [0], [0]]);
  });

  test('without an answer there is nothing', () => {
    const gathering = createHistoryGathering();
    gathering.add([]);
    expect(gathering.containers()).toEqual([]);
    expect(gathering.samples()).toBe(0);
  });
});
