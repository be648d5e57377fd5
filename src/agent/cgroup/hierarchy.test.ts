import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findHierarchy } from './hierarchy.ts';

let mount: string;
beforeEach(() => {
  mount = mkdtempSync(join(tmpdir(), 'stowage-hierarchy-'));
});
afterEach(() => rmSync(mount, { recursive: true, force: true }));

/** Files that tell trees apart, with what is in them after a colon; the rest of a tree does not matter here. */
function plant(...paths: readonly string[]): void {
  for (const path of paths) {
    const [file = '', text = ''] = path.split(': ');
    mkdirSync(join(mount, dirname(file)), { recursive: true });
    writeFileSync(join(mount, file), `${text}\n`);
  }
}
const V1 = ['cpu/cpu.shares', 'cpuacct/cpuacct.usage'];
const at = (path: string): string => join(mount, path);
const v2 = (path: string) => ({ version: 2, cpu: at(path), usage: at(path), pressure: at(path) });

test.each([
  ['v2 alone', ['cgroup.controllers'], () => v2('')],
  ['v1 in folders of their own', V1, () => ({ version: 1, cpu: at('cpu'), usage: at('cpuacct'), pressure: undefined })],
  [
    'v1 in a joint folder',
    ['cpu,cpuacct/cpuacct.usage'],
    () => ({ version: 1, cpu: at('cpu,cpuacct'), usage: at('cpu,cpuacct'), pressure: undefined }),
  ],
  [
    'hybrid with CPU in v1: quotas are there, pressure is in v2',
    [...V1, 'unified/cgroup.controllers'],
    () => ({ version: 1, cpu: at('cpu'), usage: at('cpuacct'), pressure: at('unified') }),
  ],
  [
    'hybrid with CPU in v2: other controllers of v1 do not count',
    ['memory/memory.stat', 'unified/cgroup.controllers: cpuset cpu io'],
    () => v2('unified'),
  ],
  [
    'hybrid with CPU in v2, and an empty folder where v1 would be',
    ['cpu/.keep', 'cpuacct/.keep', 'unified/cgroup.controllers: cpu'],
    () => v2('unified'),
  ],
])('%s', (_, paths, expected) => {
  plant(...paths);
  expect(findHierarchy(mount)).toEqual(expected());
});

test.each([
  [[]],
  [['cpu/cpu.shares']],
  [['memory/memory.stat', 'systemd/tasks']],
  // Quotas are in a tree that is not counted in: use alone would hide that pods are throttled.
  [['cpu/cpu.shares', 'unified/cgroup.controllers: cpuset hugetlb']],
])('%j is none', (paths) => {
  plant(...paths);
  expect(findHierarchy(mount)).toMatch(/holds no control groups with CPU accounting .* --cgroup-root$/);
});
