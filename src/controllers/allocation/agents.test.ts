import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import { createAllocationAgents } from './agents.ts';

const record = (generation: number, isRenewed = true, renewed?: number): AllocationRecord => ({
  namespace: 'shop',
  name: 'a',
  uid: 'a',
  generation,
  renewed,
  version: undefined,
  cpuUsage: undefined,
  podName: 'web',
  podUID: undefined,
  nodeName: 'n1',
  phase: undefined,
  spec: {
    namespace: 'shop',
    podName: 'web',
    desiredCPURequest: '1',
    desiredCPULimit: '1',
    nodeName: 'n1',
    ...(isRenewed && { renewTime: '2026-01-01T00:00:00Z' }),
  },
  status: {},
});

function setUp() {
  const clock = createVirtualClock(0);
  let isFresh = true;
  const agents = createAllocationAgents({ clock, isFresh: () => isFresh, staleMillis: () => 60_000 });
  return {
    clock,
    agents,
    setFresh: (value: boolean) => {
      isFresh = value;
    },
  };
}

describe('whether an agent is alive', () => {
  test('is told by its objects changing: silent for half the time, gone for all of it, alive again at a word', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1));
    expect(agents.stateOf('n1')).toBe('alive');
    await clock.advance(30_000);
    expect(agents.stateOf('n1')).toBe('silent');
    expect(agents.review(() => true)).toEqual(['n1']);
    expect(agents.review(() => true)).toEqual([]);
    await clock.advance(30_000);
    expect(agents.review(() => true)).toEqual(['n1']);
    expect(agents.counts(() => true)).toEqual({ alive: 0, silent: 0, gone: 1 });
    // Without its node there is nobody to look for.
    expect(agents.counts(() => false)).toEqual({ alive: 0, silent: 0, gone: 0 });
    agents.note(record(1), record(2));
    expect(agents.review(() => true)).toEqual(['n1']);
    expect(agents.stateOf('n1')).toBe('alive');
  });

  test('is not told by what others write beside its last sign of life', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1, true, 1000));
    await clock.advance(59_000);
    agents.note(record(1, true, 1000), { ...record(1, true, 1000), status: { phase: 'Applied' } });
    await clock.advance(1000);
    expect(agents.stateOf('n1')).toBe('gone');
    agents.note(record(1, true, 1000), record(1, true, 2000));
    expect(agents.stateOf('n1')).toBe('alive');
  });

  test('a node that comes back under its name begins as any other: that its agent lives is no news', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1));
    await clock.advance(60_000);
    expect(agents.review(() => true)).toEqual(['n1']);
    agents.review(() => false);
    agents.note(undefined, record(1));
    expect(agents.review(() => true)).toEqual([]);
  });

  test('is no matter any more when its node is gone, until it is heard of anew', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1));
    await clock.advance(59_999);
    expect(agents.review(() => false)).toEqual(['n1']);
    await clock.advance(1);
    expect(agents.review(() => false)).toEqual([]);
    // Forgotten, and not only left out: what is never heard of is alive.
    expect(agents.counts(() => true)).toEqual({ alive: 0, silent: 0, gone: 0 });
    expect(agents.stateOf('n1')).toBe('alive');
    agents.note(record(1), record(2));
    await clock.advance(60_000);
    expect(agents.review(() => true)).toEqual(['n1']);
    expect(agents.stateOf('n1')).toBe('gone');
  });

  test('is no matter any more when the last allocation of its node is gone: nobody is left to speak for', async () => {
    const { clock, agents } = setUp();
    const [one, other] = [record(1), { ...record(1), name: 'b', uid: 'b' }];
    agents.note(undefined, one);
    agents.begin([one, other]);
    agents.note(one, undefined);
    await clock.advance(60_000);
    expect(agents.counts(() => true)).toMatchObject({ gone: 1 });
    agents.note(other, undefined);
    expect(agents.counts(() => true)).toEqual({ alive: 0, silent: 0, gone: 0 });
    agents.note(undefined, one);
    expect([agents.stateOf('n1'), agents.isUpToDate('n1')]).toEqual(['alive', true]);
    agents.note(one, record(2));
    agents.note(record(2), undefined);
    expect(agents.counts(() => true)).toEqual({ alive: 0, silent: 0, gone: 0 });
  });

  test('is told by signs of life, which leave the generation as it is', async () => {
    const { clock, agents } = setUp();
    let last = record(1);
    agents.note(undefined, last);
    for (let renewed = 30; renewed <= 600; renewed += 30) {
      await clock.advance(29_999);
      expect(agents.stateOf('n1')).toBe('alive');
      // Whatever the node's clock says, even the past: it is only seen to change.
      const next = record(1, true, 10_000 - renewed);
      agents.note(last, next);
      last = next;
    }
    agents.note(last, { ...last, status: { phase: 'Applied' } });
    await clock.advance(30_000);
    expect(agents.stateOf('n1')).toBe('silent');
    await clock.advance(30_000);
    expect(agents.stateOf('n1')).toBe('gone');
  });

  test('one that has not been upgraded writes its specs anew, and lives by that', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1, true, 5));
    for (let generation = 2; generation < 20; generation++) {
      await clock.advance(29_999);
      expect(agents.stateOf('n1')).toBe('alive');
      agents.note(record(generation - 1, true, 5), record(generation, true, 5));
    }
    expect(agents.review(() => true)).toEqual([]);
  });

  test('whoever takes the sign away says nothing', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1, true, 5));
    await clock.advance(40_000);
    agents.note(record(1, true, 5), record(1));
    expect(agents.stateOf('n1')).toBe('silent');
  });

  test('a status of ours is no word of the agent’s', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1));
    await clock.advance(40_000);
    agents.note(record(1), { ...record(1), status: { phase: 'Applied' } });
    expect(agents.stateOf('n1')).toBe('silent');
  });

  test('while nothing can be heard nobody falls silent', async () => {
    const { clock, agents, setFresh } = setUp();
    agents.note(undefined, record(1));
    setFresh(false);
    for (let second = 0; second < 120; second++) {
      await clock.advance(1000);
      expect(agents.review(() => true)).toEqual([]);
    }
    setFresh(true);
    expect(agents.stateOf('n1')).toBe('alive');
    await clock.advance(60_000);
    expect(agents.stateOf('n1')).toBe('gone');
  });

  test('agents of MBCAS, which do not say when they wrote, never fall silent', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1, false));
    await clock.advance(3_600_000);
    expect(agents.stateOf('n1')).toBe('alive');
    expect(agents.stateOf('never heard of')).toBe('alive');
  });

  test('silence that was heard is not ended by having been out of touch', async () => {
    const { clock, agents, setFresh } = setUp();
    for (const [after, state] of [
      [30_000, 'silent'],
      [60_000, 'gone'],
    ] as const) {
      agents.note(undefined, record(1));
      await clock.advance(after);
      expect(agents.review(() => true)).toEqual(['n1']);
      setFresh(false);
      expect(agents.review(() => true)).toEqual([]);
      setFresh(true);
      expect(agents.stateOf('n1')).toBe(state);
      expect(agents.counts(() => true)).toMatchObject({ alive: 0, [state]: 1 });
    }
  });
});

describe('whether what is asked for is of now', () => {
  test('not before the first word to who begins to lead; what was there is none, and silence counts from then', async () => {
    const { clock, agents } = setUp();
    await clock.advance(3_600_000);
    agents.note(undefined, record(1));
    agents.begin([record(1)]);
    expect(agents.stateOf('n1')).toBe('alive');
    expect(agents.isUpToDate('n1')).toBe(false);
    agents.note(record(1), { ...record(1), status: { phase: 'Applied' } });
    await clock.advance(29_999);
    expect(agents.review(() => true)).toEqual([]);
    expect(agents.isUpToDate('n1')).toBe(false);
    agents.note(record(1), record(1, true, 5));
    expect(agents.isUpToDate('n1')).toBe(true);
    agents.begin([record(1)]);
    await clock.advance(60_000);
    expect(agents.stateOf('n1')).toBe('gone');
  });

  test('of a node that is new, and of agents of MBCAS, at once', () => {
    const { agents } = setUp();
    agents.begin([record(1, false)]);
    expect(agents.isUpToDate('n1')).toBe(true);
    agents.note(undefined, record(2));
    expect(agents.isUpToDate('n1')).toBe(true);
  });

  test('ten seconds after an agent is back that was gone, however much it says', async () => {
    const { clock, agents } = setUp();
    agents.note(undefined, record(1));
    await clock.advance(59_999);
    agents.note(record(1), record(2));
    expect(agents.isUpToDate('n1')).toBe(true);
    await clock.advance(60_000);
    agents.note(record(2), record(3));
    expect(agents.stateOf('n1')).toBe('alive');
    await clock.advance(9999);
    agents.note(record(3), record(4));
    expect(agents.isUpToDate('n1')).toBe(false);
    await clock.advance(1);
    expect(agents.isUpToDate('n1')).toBe(true);
  });
});
