import { describe, expect, test } from 'vitest';
import { aDeployment, NOON } from '../../model/testing/records.ts';
import { createWorld, place, plan, run, runUnsteered, UNKNOWN_NODE, worldOf } from './testing/world.ts';

describe('describePods', () => {
  test('every pod has a state and a sentence', () => {
    const world = worldOf(5, 50, 2);
    place(world, 3, 0);
    runUnsteered(world, 'spot', { name: 'going', deletingAt: NOON });
    runUnsteered(world, 'spot', { name: 'failed', phase: 'Failed' });
    runUnsteered(world, 'spot', { name: 'lost', nodeName: UNKNOWN_NODE });
    runUnsteered(world, 'spot', { name: 'waiting', nodeName: undefined, phase: 'Pending', ready: false });
    runUnsteered(world, 'spot', {
      name: 'due',
      nodeName: undefined,
      capacity: 'on-demand',
      phase: 'Pending',
      ready: false,
    });
    const states = Object.fromEntries(plan(world).pods.map(({ ref, state, note }) => [ref.name, [state, note]]));
    expect(states).toEqual({
      s0: ['settled', 'runs on spot, counted as slot 3'],
      s1: ['settled', 'runs on spot, counted as slot 4'],
      s2: ['settled', 'runs on spot, counted as slot 5'],
      due: ['settled', 'waits for a place on on-demand'],
      going: ['terminating', 'terminating: holds no slot'],
      failed: ['ended', 'failed: holds no slot'],
      lost: ['unknown', `node ${UNKNOWN_NODE} is of no known class: counts for neither side`],
      waiting: ['unknown', 'not scheduled, and nothing says on which side it will run'],
    });
  });

  test('says where a wrong-sided, a surplus and a stamped pod stand', () => {
    const world = worldOf(2, 50, 1);
    const stamped = run(world);
    place(world, 0, 1);
    runUnsteered(world, 'on-demand', { name: 'extra', uid: 'extra' });
    const notes = Object.fromEntries(
      plan(world).pods.map(({ ref, state, note, slot }) => [ref.name, [state, slot, note]]),
    );
    expect(notes).toEqual({
      [stamped.name]: ['settled', 1, 'runs on on-demand, as its slot asks'],
      extra: ['wrong-side', 2, 'runs on on-demand, its slot is spot'],
      o0: ['surplus', 3, 'one more than the replicas asked for, on on-demand'],
    });
  });

  test('without a policy nobody holds a slot, but everybody is seen', () => {
    const world = createWorld(aDeployment({ enabled: false }));
    place(world, 1, 0);
    expect(plan(world).pods).toMatchObject([
      { slot: undefined, wantedSide: undefined, actualSide: 'spot', state: 'settled', note: 'runs on spot' },
    ]);
  });
});
