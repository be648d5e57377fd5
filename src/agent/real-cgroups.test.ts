/** The sampler on this machine's own control groups: a group of ours, burnt in, read back, removed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findHierarchy } from './cgroup/hierarchy.ts';
import { fakeContainerId, fakeUid } from './testing/fake-tree.ts';
import { createSampling } from './testing/sampling.ts';

const MOUNT = '/sys/fs/cgroup';
const hierarchy = findHierarchy(MOUNT);
const pod = {
  groupUid: fakeUid(process.pid),
  label: 'test/burner',
  containers: [{ name: 'main', id: fakeContainerId(process.pid) }],
};
const top = `stowage-agent-test-${process.pid}`;
const containerPath = `${top}/kubepods/burstable/pod${pod.groupUid}/${pod.containers[0]?.id}`;
const trees = typeof hierarchy === 'string' ? [] : [...new Set([hierarchy.cpu, hierarchy.usage])];
/** Burns until it has used 0.4 s of CPU, whatever time that takes. */
const BURN = 'while (process.cpuUsage().user + process.cpuUsage().system < 400_000);';

/** Why groups cannot be made here; undefined where they can. */
function obstacle(): string | undefined {
  if (typeof hierarchy === 'string') return hierarchy;
  try {
    for (const tree of trees) {
      mkdirSync(join(tree, top));
      rmdirSync(join(tree, top));
    }
    return existsSync(join(hierarchy.cpu, hierarchy.version === 2 ? 'cgroup.procs' : 'tasks'))
      ? undefined
      : 'no groups';
  } catch (error) {
    return `groups cannot be made: ${error instanceof Error ? error.message : error}`;
  }
}

afterEach(() => {
  for (const tree of trees)
    for (let path = containerPath; path !== '.'; path = dirname(path))
      if (existsSync(join(tree, path))) rmdirSync(join(tree, path));
});

const reason = obstacle();
test.skipIf(reason !== undefined)(
  `usage and throttling of a real group${reason === undefined ? '' : ` (${reason})`}`,
  async () => {
    if (typeof hierarchy === 'string') throw new Error(hierarchy);
    for (const tree of trees) mkdirSync(join(tree, containerPath), { recursive: true });
    // A tenth of a core, so that the burner is throttled in nearly every period.
    const [file, text] = hierarchy.version === 2 ? ['cpu.max', '10000 100000'] : ['cpu.cfs_quota_us', '10000'];
    if (existsSync(join(hierarchy.cpu, containerPath, file)))
      writeFileSync(join(hierarchy.cpu, containerPath, file), text);
    const { sampler, step, warnings } = createSampling({ mount: MOUNT, proc: '/proc' });
    sampler.track([pod]);
    step();

    const join_ = trees.map((tree) => `echo $$ > ${join(tree, containerPath, 'cgroup.procs')}`).join(' && ');
    const child = spawn('sh', ['-c', `${join_} && exec "$0" -e "$1"`, process.execPath, BURN], { stdio: 'ignore' });
    expect(await once(child, 'exit')).toEqual([0, null]);
    step(4000);

    const use = sampler.pod(pod.groupUid);
    // 0.4 s of CPU as the program counts them, in 4 s by the test's own clock; the kernel counts by the tick.
    for (const window of [use?.window(4000), use?.container('main')?.window(4000)]) {
      expect(window?.usageMillicores).toBeGreaterThan(80);
      expect(window?.usageMillicores).toBeLessThan(400);
    }
    const settings = use?.container('main')?.settings();
    if (settings?.quota?.quotaMicros !== undefined) {
      expect(settings.quota).toEqual({ quotaMicros: 10_000, periodMicros: 100_000 });
      expect(use?.container('main')?.window(4000)?.throttledRatio).toBeGreaterThan(0.3);
    }
    expect(sampler.node(4000).total).toBeGreaterThan(0);
    expect(warnings).toEqual([]);

    for (const tree of trees) rmdirSync(join(tree, containerPath));
    step();
    step();
    expect(use?.container('main')?.window(4000)).toBeUndefined();
    sampler.close();
  },
  60_000,
);
