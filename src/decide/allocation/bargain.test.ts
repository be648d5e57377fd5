import { describe, expect, test } from 'vitest';
import { bargain, creditsOf } from './bargain.ts';
import { judgeNode } from './integrations/node-conditions.ts';
import type { NodeQuota } from './integrations/resource-quota.ts';
import { takeSeat } from './seat.ts';
import { T0, testInput, testNode, testPod, testRules, using } from './testing/pods.ts';

const table = { node: judgeNode(testNode().conditions, T0), rules: testRules, now: T0 };
const seatOf = (name: string, request: number, namespace: string, marks: Record<string, string> = {}) =>
  takeSeat({ pod: testPod(name, { request, namespace, marks }), measured: using(2000) }, undefined, table);
const quota = (cpuRequest: number): NodeQuota => ({ room: { cpuRequest, cpuLimit: undefined }, nodeShare: 1 });

describe('quota as a group', () => {
  const seats = [seatOf('a', 300, 'shop'), seatOf('b', 300, 'shop'), seatOf('c', 300, 'blog')];
  const mins = seats.map(({ box }) => box.min);
  const strike = (quotas: ReadonlyMap<string, NodeQuota>) => bargain(testInput([], { quotas }), seats, mins, 1800);

  test('integration 2: the namespace grows by no more than its room; the rest goes to the other', () => {
    const { solution, clamps } = strike(new Map([['shop', quota(100)]]));
    expect(solution.shares).toEqual([350, 350, 1100]);
    expect(clamps[0]).toEqual([{ reason: 'ResourceQuota', what: 'share', before: 600, after: 350 }]);
    expect(clamps[2]).toEqual([]);
  });

  test('integration 2: no room: the namespace keeps what it has', () => {
    expect(strike(new Map([['shop', quota(0)]])).solution.shares).toEqual([300, 300, 1200]);
  });

  test('integration 2: not known: no more than it has', () => {
    const unknown = new Map<string, NodeQuota>([['shop', { room: 'unknown', nodeShare: 1 }]]);
    expect(strike(unknown).solution.shares).toEqual([300, 300, 1200]);
  });

  test('integration 2: a quota that does not bind clamps nothing', () => {
    const { solution, clamps } = strike(new Map([['shop', quota(5000)]]));
    expect(solution.shares).toEqual([600, 600, 600]);
    expect(clamps.flat()).toEqual([]);
  });

  test('no quota, no group', () => {
    expect(strike(new Map())).toMatchObject({ clamps: [], solution: { shares: [600, 600, 600] } });
  });
});

describe('coalitions by annotation', () => {
  const team = { 'mbcas.io/coalition': 'team' };
  const heavy = { ...team, 'mbcas.io/weight': '8' };
  const seats = [seatOf('a', 300, 'shop', heavy), seatOf('b', 300, 'shop', team), seatOf('c', 300, 'shop')];

  test('the coalition has two thirds by need, and divides it by weight', () => {
    const { solution, clamps } = bargain(
      testInput([]),
      seats,
      seats.map(({ box }) => box.min),
      1800,
    );
    expect((solution.shares[0] ?? 0) + (solution.shares[1] ?? 0)).toBe(1200);
    expect(solution.shares[2]).toBe(600);
    expect(clamps.flat().map(({ reason }) => reason)).toEqual(['Coalition', 'Coalition']);
    const credits = creditsOf(seats, solution);
    expect([...credits.keys()]).toEqual([0, 1]);
    expect(credits.get(0)).toBeLessThan(0);
    expect((credits.get(0) ?? 0) + (credits.get(1) ?? 0)).toBe(0);
  });

  test('nobody joins the coalition of another namespace by writing its name', () => {
    const strangers = [
      seatOf('a', 300, 'shop', team),
      seatOf('b', 300, 'tenant', heavy),
      seatOf('c', 300, 'shop', team),
    ];
    const { solution } = bargain(
      testInput([]),
      strangers,
      strangers.map(({ box }) => box.min),
      1800,
    );
    expect([...creditsOf(strangers, solution).keys()]).toEqual([0, 2]);
  });

  test('one alone is no coalition', () => {
    const alone = [seatOf('a', 300, 'shop', team), seatOf('c', 300, 'shop')];
    const { solution } = bargain(
      testInput([]),
      alone,
      alone.map(({ box }) => box.min),
      1800,
    );
    expect(solution.shares).toEqual([900, 900]);
    expect(creditsOf(alone, solution).size).toBe(0);
  });
});

test('disagreement zero: totals by weight instead of surplus', () => {
  const seats = [seatOf('a', 900, 'shop'), seatOf('b', 150, 'shop')];
  const mins = seats.map(({ box }) => box.claim);
  const shares = (disagreement: 'claim' | 'zero') =>
    bargain(testInput([], { rules: { ...testRules, disagreement } }), seats, mins, 1800).solution.shares;
  expect(shares('claim')).toEqual([1000, 800]);
  expect(shares('zero')).toEqual([900, 900]);
});
