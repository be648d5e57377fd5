import { describe, expect, test } from 'vitest';
import type { Clock } from '../../lib/clock.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { containerToStart } from '../testing/container-runtime.ts';
import type { Behaviour } from './behaviour.ts';
import { createScriptedRun } from './scripted-run.ts';

const behaviour: Behaviour = {
  startMillis: 0,
  readyMillis: 200,
  unreadyAfterMillis: 1000,
  unreadyForMillis: 1000,
  crashAfterMillis: 'never',
  completeAfterMillis: 'never',
  stopMillis: 0,
  hasImageError: false,
};

/** On a machine so busy that the process stands still for 300 ms at its n-th look at the clock, from 1 on. */
function setUp(n: number) {
  const clock = createVirtualClock(0);
  let [looks, late] = [0, 0];
  const busy: Clock = {
    now() {
      if (++looks === n) late = 300;
      return clock.now() + late;
    },
    setTimer: clock.setTimer,
  };
  const container = containerToStart();
  const reported: boolean[] = [];
  const report = (): void => void reported.push(container.isReady);
  const run = createScriptedRun({ clock: busy, behaviour, after: clock.setTimer, report, end: () => {} });
  return { clock, container, run, reported };
}

describe('readiness by the script of a pod', () => {
  const looks = Array.from({ length: 12 }, (_, index) => index + 1);

  test.each(looks)('changes as it says where the process stands still at look %d at the clock', async (n) => {
    const { clock, container, run, reported } = setUp(n);
    run.start(container);
    await clock.advance(4500);
    expect(reported.slice(0, 4)).toEqual([true, false, true, false]);
  });

  test.each(looks)('goes on so under a new kubelet that stands still at its look %d', async (n) => {
    const { clock, container, run, reported } = setUp(n);
    container.state = { kind: 'running', startedAtMillis: 0 };
    run.goOn(container, undefined);
    await clock.advance(4500);
    expect(reported.slice(0, 4)).toEqual([true, false, true, false]);
  });
});
