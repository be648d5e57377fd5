import { describe, expect, test } from 'vitest';
import { createTimerGroup } from './timer-group.ts';
import { createVirtualClock } from './virtual-clock.ts';

function setUp() {
  const clock = createVirtualClock(0);
  const group = createTimerGroup(clock);
  const fired: string[] = [];
  const set = (name: string, delayMillis: number) => group.after(delayMillis, () => fired.push(name));
  return { clock, group, fired, set };
}

describe('timers of a group', () => {
  test('fire as others do', async () => {
    const { clock, fired, set } = setUp();
    set('late', 20);
    set('early', 10);
    await clock.advance(10);
    expect(fired).toEqual(['early']);
    await clock.advance(10);
    expect(fired).toEqual(['early', 'late']);
  });

  test('are cancelled alone', async () => {
    const { clock, fired, set } = setUp();
    set('stays', 10);
    set('cancelled', 10).cancel();
    await clock.advance(20);
    expect(fired).toEqual(['stays']);
  });

  test('end together, and leave nothing behind on the clock', async () => {
    const { clock, group, fired, set } = setUp();
    set('before', 10);
    set('after', 20);
    await clock.advance(15);
    group.end();
    expect(clock.pendingTimers()).toBe(0);
    await clock.advance(100);
    expect(fired).toEqual(['before']);
  });

  test('may end their group while one of them fires', async () => {
    const { clock, group, fired, set } = setUp();
    group.after(10, group.end);
    set('after', 10);
    await clock.advance(100);
    expect(fired).toEqual([]);
  });

  test('do not begin once the group has ended', async () => {
    const { clock, group, fired, set } = setUp();
    group.end();
    set('never', 0).cancel();
    expect(clock.pendingTimers()).toBe(0);
    await clock.advance(100);
    expect(fired).toEqual([]);
  });
});
