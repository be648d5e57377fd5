/** What is written into a v2 tree, where the CPU controller can be had and where it cannot. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Hierarchy } from '../../agent/cgroup/hierarchy.ts';
import { createSystemClock } from '../../lib/clock.ts';
import { createLabGroups } from './lab-groups.ts';

const v2 = (tree: string): Hierarchy => ({ version: 2, cpu: tree, usage: tree, pressure: tree });
const clock = createSystemClock();

describe('in a v2 tree', () => {
  let tree: string;
  beforeEach(() => {
    tree = mkdtempSync(join(tmpdir(), 'stowage-lab-v2-'));
    writeFileSync(join(tree, 'cgroup.controllers'), 'cpuset cpu io memory pids\n');
    writeFileSync(join(tree, 'cgroup.subtree_control'), 'cpuset cpu memory\n');
  });
  afterEach(() => rmSync(tree, { recursive: true, force: true }));
  const fileOf = (path: string): string => {
    const [top = ''] = readdirSync(tree).filter((name) => name.startsWith('stowage-lab-'));
    return readFileSync(join(tree, top, path), 'utf8');
  };

  test('weights are in proportion to requests, and the pods are far above the machine, the steering above the pods', () => {
    const groups = createLabGroups(v2(tree), clock);
    groups.make('small', { request: 100, limit: undefined });
    groups.make('large', { request: 1800, limit: undefined });
    expect([fileOf('pods/small/cpu.weight'), fileOf('pods/large/cpu.weight')]).toEqual(['10', '180']);
    expect([fileOf('cpu.weight'), fileOf('pods/cpu.weight'), fileOf('steering/cpu.weight')]).toEqual([
      '10000',
      '2000',
      '8000',
    ]);
    // The steering process runs beside the pods, not above them: a v2 group has processes or groups.
    expect(fileOf('steering/cgroup.procs')).toBe(`${process.pid}`);
  });

  test.each([
    [500, '50000 100000'],
    [undefined, 'max 100000'],
    // The kernel takes no less than a millisecond.
    [5, '1000 100000'],
  ])('a limit of %j is cpu.max %j', (limit, text) => {
    const groups = createLabGroups(v2(tree), clock);
    groups.make('a', { request: 500, limit: 900 });
    groups.set('a', { request: 500, limit });
    expect(fileOf('pods/a/cpu.max')).toBe(text);
  });

  test('the controller is asked for in groups of ours only, and above them only where it is missing', () => {
    createLabGroups(v2(tree), clock);
    expect(readFileSync(join(tree, 'cgroup.subtree_control'), 'utf8')).toBe('cpuset cpu memory\n');
    expect([fileOf('cgroup.subtree_control'), fileOf('pods/cgroup.subtree_control')]).toEqual(['+cpu', '+cpu']);
    // `cpuset` is another one.
    writeFileSync(join(tree, 'cgroup.subtree_control'), 'cpuset memory\n');
    createLabGroups(v2(tree), clock);
    expect(readFileSync(join(tree, 'cgroup.subtree_control'), 'utf8')).toBe('+cpu');
  });

  test('a pod is read with what it used, was denied and waited for', () => {
    const groups = createLabGroups(v2(tree), clock);
    groups.make('a', { request: 500, limit: 500 });
    const [top = ''] = readdirSync(tree).filter((name) => name.startsWith('stowage-lab-'));
    const folder = join(tree, top, 'pods', 'a');
    mkdirSync(folder, { recursive: true });
    // As the kernel writes them (Documentation/admin-guide/cgroup-v2.rst, Documentation/accounting/psi.rst).
    const stat = [
      'usage_usec 2547981',
      'user_usec 2500112',
      'system_usec 47869',
      'nice_usec 0',
      'core_sched.force_idle_usec 0',
      'nr_periods 51',
      'nr_throttled 49',
      'throttled_usec 2412345',
      'nr_bursts 0',
      'burst_usec 0',
    ];
    writeFileSync(join(folder, 'cpu.stat'), `${stat.join('\n')}\n`);
    writeFileSync(
      join(folder, 'cpu.pressure'),
      'some avg10=41.20 avg60=12.34 avg300=3.10 total=2043000\nfull avg10=41.20 avg60=12.34 avg300=3.10 total=2041000\n',
    );
    expect(groups.counters('a')).toEqual({
      usedMillis: 2547.981,
      periods: 51,
      throttledPeriods: 49,
      throttledMillis: 2412.345,
      waitedMillis: 2043,
    });
  });
});

const UNIFIED = '/sys/fs/cgroup/unified';
const controllers = existsSync(join(UNIFIED, 'cgroup.controllers'))
  ? readFileSync(join(UNIFIED, 'cgroup.controllers'), 'utf8').trim().split(' ')
  : undefined;
// Where v1 has the CPU controller, the v2 tree beside it has none to give.
test.skipIf(controllers === undefined || controllers.includes('cpu'))(
  'a real v2 tree without the CPU controller: one sentence with the file that refused, and nothing is left',
  () => {
    expect(() => createLabGroups(v2(UNIFIED), clock)).toThrow(
      /^\/sys\/fs\/cgroup\/unified\/cgroup\.subtree_control does not take \+cpu: /,
    );
    expect(readdirSync(UNIFIED).filter((name) => name.startsWith(`stowage-lab-${process.pid}`))).toEqual([]);
  },
);
