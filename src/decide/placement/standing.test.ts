import { describe, expect, test } from 'vitest';
import { aDeployment } from '../../model/testing/records.ts';
import { isBalanced, isLivePod, isMove, liveCounts, standingOf } from './standing.ts';
import { createWorld, plan, run, runUnsteered, UNKNOWN_NODE } from './testing/world.ts';

const half = { 'spotalis.io/spot-percentage': '50', 'spotalis.io/min-on-demand': '1' };
const worldOf = (annotations: Readonly<Record<string, string>> = half) =>
  createWorld(aDeployment({ replicas: 3, annotations }));
const whole = () => {
  const world = worldOf();
  while (world.pods.length < 3) run(world);
  return world;
};

describe('how a workload stands', () => {
  test('balanced with every replica on its side', () => {
    expect(standingOf(plan(whole()))).toBe('balanced');
  });

  test('drifted with a replica on the wrong side', () => {
    const world = worldOf();
    for (const name of ['a', 'b', 'c']) runUnsteered(world, 'spot', { name });
    expect(standingOf(plan(world))).toBe('drifted');
  });

  test('incomplete with a replica missing', () => {
    const world = worldOf();
    run(world);
    expect(standingOf(plan(world))).toBe('incomplete');
  });

  test('incomplete with a replica on an unknown side, though nothing can be moved', () => {
    const world = whole();
    world.pods.pop();
    runUnsteered(world, 'spot', { nodeName: UNKNOWN_NODE });
    expect(plan(world)).toMatchObject({ drift: 0, actual: { unknown: 1 } });
    expect(standingOf(plan(world))).toBe('incomplete');
  });

  test('incomplete with one pod too many on an unknown side, though both targets are met', () => {
    const world = whole();
    runUnsteered(world, 'spot', { nodeName: UNKNOWN_NODE });
    const { target, actual } = plan(world);
    expect(actual).toEqual({ ...target, unknown: 1 });
    expect(isBalanced({ target, actual })).toBe(false);
    expect(standingOf(plan(world))).toBe('incomplete');
  });

  test('unmanaged or invalid whatever its pods', () => {
    const unmanaged = plan(createWorld(aDeployment({ enabled: false })));
    expect(standingOf(unmanaged)).toBe('unmanaged');
    expect(isBalanced(unmanaged)).toBe(false);
    expect(standingOf(plan(worldOf({ 'spotalis.io/spot-percentage': '1000' })))).toBe('invalid');
  });
});

describe('moves', () => {
  test('an eviction is one', () => {
    const world = worldOf();
    for (const name of ['a', 'b', 'c']) runUnsteered(world, 'spot', { name });
    expect(plan(world).decisions.map(isMove)).toEqual([true]);
  });

  test('corrected stamps are none', () => {
    const world = worldOf({});
    for (const name of ['a', 'b', 'c']) runUnsteered(world, 'on-demand', { name });
    expect(plan(world).decisions.map(isMove)).toEqual([false, false, false]);
  });
});

describe('live pods', () => {
  test.each([
    ['settled', true],
    ['wrong-side', true],
    ['unknown', true],
    ['surplus', true],
    ['terminating', false],
    ['ended', false],
  ] as const)('%s: %s', (state, expected) => {
    expect(isLivePod({ state })).toBe(expected);
  });

  test('those that leave or have ended are neither ready nor pending', () => {
    const world = whole();
    runUnsteered(world, 'spot', { name: 'waiting', nodeName: undefined, ready: false });
    runUnsteered(world, 'spot', { name: 'going', deletingAt: world.now, ready: true });
    runUnsteered(world, 'spot', { name: 'over', phase: 'Failed', nodeName: undefined, ready: false });
    expect(liveCounts(plan(world))).toEqual({ ready: 3, pending: 1 });
  });
});
