import { describe, expect, test } from 'vitest';
import type { PdbRecord } from '../../../model/records.ts';
import { pdbBounds } from './disruption-budget.ts';

const pdb = (change: Partial<PdbRecord>): PdbRecord => ({
  namespace: 'shop',
  name: 'web',
  uid: 'pdb',
  selector: undefined,
  disruptionsAllowed: 1,
  observed: true,
  currentHealthy: 3,
  desiredHealthy: 2,
  alwaysAllowUnhealthy: false,
  ...change,
});
const held = [{ layer: 'pdb', reason: 'PodDisruptionBudget', min: 400 }];

describe('disruption budgets', () => {
  test.each<[string, readonly PdbRecord[], readonly unknown[]]>([
    ['none', [], []],
    ['one to spare', [pdb({})], []],
    ['none to spare', [pdb({ disruptionsAllowed: 0, currentHealthy: 2 })], held],
    ['short of healthy pods', [pdb({ currentHealthy: 1, disruptionsAllowed: 0 })], held],
    ['healthy, but the status lags behind', [pdb({ observed: false })], held],
    ['selects nothing', [pdb({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0 })], []],
    ['one of two is short', [pdb({}), pdb({ currentHealthy: 1 })], held],
  ])('integration 6: %s', (_name, pdbs, wanted) => {
    expect(pdbBounds(pdbs, 400, 400)).toEqual(wanted);
  });

  test('integration 6: raises are never held', () => {
    expect(pdbBounds([pdb({ currentHealthy: 0 })], 400, 400)[0]?.max).toBeUndefined();
  });

  test.each<[string, Partial<PdbRecord>, number]>([
    ['one that is short keeps what it has', { currentHealthy: 1, disruptionsAllowed: 0 }, 400],
    ['so does one of which that is not known', { disruptionsAllowed: 0, observed: false }, 400],
    ['one that has none to spare keeps what it came with', { currentHealthy: 2, disruptionsAllowed: 0 }, 100],
  ])('integration 6: of a pod that was raised, %s', (_name, change, min) => {
    expect(pdbBounds([pdb(change)], 400, 100)).toMatchObject([{ min }]);
  });

  test('integration 6: what it has less than it came with it need not get back', () => {
    const none = pdb({ currentHealthy: 2, disruptionsAllowed: 0 });
    expect(pdbBounds([none], 400, 900)).toMatchObject([{ min: 400 }]);
  });
});
