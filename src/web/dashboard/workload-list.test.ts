import { describe, expect, test } from 'vitest';
import type { BlockTold } from './answers.ts';
import { fleetOf, row } from './testing/rows.ts';
import { workloadPage } from './workload-list.ts';

const blockedBy: BlockTold = { reason: 'BlockedByPdb', message: 'none allowed', advice: 'wait' };
const size = (cpuMillis: number) => ({
  policy: 'shop/p',
  mode: 'Auto',
  status: 'Applied',
  saving: { cpuMillis, memoryBytes: 0 },
});
const fleet = fleetOf(
  row({ name: 'balanced', replicas: 9 }),
  row({ name: 'off', state: 'unmanaged', namespace: 'other', size: size(10) }),
  row({ name: 'drifted', state: 'drifted', drift: 3, cost: { actual: 2, allOnDemand: 4 } }),
  row({ name: 'stuck', state: 'drifted', drift: 1, blockedBy, cost: { actual: 1, allOnDemand: 4 } }),
  row({ name: 'bad', state: 'invalid', kind: 'StatefulSet' }),
  row({ name: 'short', state: 'incomplete', size: size(500) }),
);
const page = (query: string) => workloadPage(fleet, new URLSearchParams(query), 5000);
const names = (query: string) => page(query).rows.map(({ name }) => name);

describe('the list of workloads', () => {
  test('begins with what wants somebody', () => {
    expect(names('')).toEqual(['bad', 'stuck', 'drifted', 'short', 'balanced', 'off']);
  });

  test.each([
    ['state=drifted', ['stuck', 'drifted']],
    ['state=blocked', ['stuck']],
    ['state=managed', ['stuck', 'drifted', 'short', 'balanced']],
    ['state=unmanaged', ['off']],
    ['state=nonsense', ['bad', 'stuck', 'drifted', 'short', 'balanced', 'off']],
    ['q=PDB', ['stuck']],
    ['q=statefulset%20shop', ['bad']],
    ['q=shop/dri', ['drifted']],
    ['q=applied', ['short', 'off']],
    ['q=no-such', []],
  ])('filtered by %s', (query, expected) => {
    expect(names(query)).toEqual(expected);
  });

  test.each([
    ['sort=name', ['bad', 'balanced', 'drifted', 'off', 'short', 'stuck']],
    ['sort=name&order=desc', ['stuck', 'short', 'off', 'drifted', 'balanced', 'bad']],
    ['sort=drift&order=desc', ['drifted', 'stuck', 'off', 'balanced', 'short', 'bad']],
    ['sort=cost&order=desc', ['drifted', 'stuck', 'off', 'balanced', 'short', 'bad']],
    ['sort=saving&order=desc', ['short', 'off', 'balanced', 'drifted', 'stuck', 'bad']],
    ['sort=replicas&order=desc', ['balanced', 'off', 'drifted', 'short', 'stuck', 'bad']],
    ['sort=namespace', ['off', 'balanced', 'drifted', 'short', 'stuck', 'bad']],
    ['sort=__proto__', ['bad', 'stuck', 'drifted', 'short', 'balanced', 'off']],
  ])('sorted by %s, equal ones by namespace, kind and name', (query, expected) => {
    expect(names(query)).toEqual(expected);
  });

  test('counts are of all, whatever the filter', () => {
    expect(page('state=invalid')).toMatchObject({
      at: 5000,
      scannedAt: 1000,
      matching: 1,
      counts: { all: 6, managed: 4, blocked: 1, invalid: 1, drifted: 2, incomplete: 1, balanced: 1, unmanaged: 1 },
    });
  });

  test('ten thousand come in pages; one beyond the last is the last', () => {
    const many = fleetOf(
      ...Array.from({ length: 10_000 }, (_, index) => row({ name: `w-${String(index).padStart(5, '0')}` })),
    );
    const at = (query: string) => workloadPage(many, new URLSearchParams(query), 0);
    expect(at('').rows).toHaveLength(50);
    expect(at('page=3').rows[0]?.name).toBe('w-00100');
    expect(at('page=99999')).toMatchObject({ page: 200, matching: 10_000 });
    expect(at('page=200').rows.at(-1)?.name).toBe('w-09999');
  });
});
