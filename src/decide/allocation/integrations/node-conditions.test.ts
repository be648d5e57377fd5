import { describe, expect, test } from 'vitest';
import { capacityUnderPressure, judgeNode, type NodeCondition } from './node-conditions.ts';

const NOW = 10_000_000;
const ready: NodeCondition = { type: 'Ready', status: 'True', since: 0 };
const condition = (type: NodeCondition['type'], status: NodeCondition['status'], age = 600_000): NodeCondition => ({
  type,
  status,
  since: NOW - age,
});

describe('state of the node', () => {
  test.each<[string, readonly NodeCondition[] | undefined, object]>([
    ['all well', [ready], { isFrozen: false, isUnderPressure: false, factor: 1 }],
    ['memory', [ready, condition('MemoryPressure', 'True')], { isFrozen: false, isUnderPressure: true, factor: 0.9 }],
    ['disk', [ready, condition('DiskPressure', 'True')], { isUnderPressure: true, factor: 0.95 }],
    ['processes', [ready, condition('PIDPressure', 'True')], { isUnderPressure: true, factor: 0.9 }],
    [
      'memory and processes',
      [ready, condition('MemoryPressure', 'True'), condition('PIDPressure', 'True')],
      { factor: 0.81 },
    ],
    [
      'pressure that ended long ago',
      [ready, condition('MemoryPressure', 'False')],
      { isUnderPressure: false, factor: 1 },
    ],
    [
      'pressure that ended half a minute ago',
      [ready, condition('MemoryPressure', 'False', 30_000)],
      { isUnderPressure: true, factor: 0.9 },
    ],
    [
      'pressure that ended as of two hours to come: the clock was set back since',
      [ready, condition('MemoryPressure', 'False', -7_200_000)],
      { isUnderPressure: false },
    ],
    [
      'a node that has just started never had any',
      [condition('Ready', 'True', 20_000), condition('MemoryPressure', 'False', 30_000)],
      { isUnderPressure: false },
    ],
    ['pressure not known is not pressure', [ready, condition('MemoryPressure', 'Unknown')], { isUnderPressure: false }],
    ['not ready', [condition('Ready', 'False')], { isFrozen: true, frozenBecause: 'NodeNotReady' }],
    ['lost', [condition('Ready', 'Unknown')], { isFrozen: true, frozenBecause: 'NodeNotReady' }],
    ['nothing known', undefined, { isFrozen: true, frozenBecause: 'DataUnknown' }],
    [
      'no word about readiness',
      [condition('MemoryPressure', 'False')],
      { isFrozen: true, frozenBecause: 'DataUnknown' },
    ],
  ])('integration 3: %s', (_name, conditions, wanted) => {
    const state = judgeNode(conditions, NOW);
    expect({ ...state, factor: Math.round(state.factor * 100) / 100 }).toMatchObject(wanted);
  });
});

describe('capacity under pressure', () => {
  const pressed = judgeNode([ready, condition('MemoryPressure', 'True')], NOW);

  test.each([
    ['the surplus shrinks', 1000, 500, 900],
    ['claims do not', 1000, 950, 950],
    ['claims that did not fit before do not now', 1000, 1500, 1000],
  ])('integration 3: %s', (_name, capacity, claims, after) => {
    const found = capacityUnderPressure(capacity, claims, pressed);
    expect(found.capacity).toBe(after);
    expect(found.clamps).toEqual(
      after < capacity ? [{ reason: 'NodePressure', what: 'capacity', before: capacity, after }] : [],
    );
  });

  test('integration 3: of all three, their product; never below seven tenths', () => {
    const all = (['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const).map((type) => condition(type, 'True'));
    const worst = judgeNode([ready, ...all], NOW);
    expect(worst.factor).toBeCloseTo(0.7695, 6);
    expect(capacityUnderPressure(1000, 0, worst).capacity).toBe(769);
    // As no node has it: what the three come to is above the floor.
    expect(capacityUnderPressure(1000, 0, judgeNode([ready, ...all, ...all], NOW)).capacity).toBe(700);
  });
});
