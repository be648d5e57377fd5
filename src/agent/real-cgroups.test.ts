/** The sampler on this machine's own control groups: a group of ours, burnt in, read back, removed; in every tree there is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { findHierarchy, type Hierarchy } from './cgroup/hierarchy.ts';
import { fakeContainerId, fakeUid } from './testing/fake-tree.ts';
import { createSampling } from './testing/sampling.ts';

const MOUNT = '/sys/fs/cgroup';
const pod = {
  groupUid: fakeUid(process.pid),
  label: 'test/burner',
  containers: [{ name: 'main', id: fakeContainerId(process.pid) }],
};
const top = `stowage-agent-test-${process.pid}`;
const containerPath = `${top}/kubepods/burstable/pod${pod.groupUid}/${pod.containers[0]?.id}`;
/** Burns until it has used 0.2 s of CPU, whatever time that takes. */
const BURN = 'while (process.cpuUsage().user + process.cpuUsage().system < 200_000);';
/** More than there are CPUs, as a rule, so that somebody waits. */
const BURNERS = 4;

const treesOf = ({ cpu, usage, pressure }: Hierarchy): string[] => [
  ...new Set([cpu, usage, ...(pressure === undefined ? [] : [pressure])]),
];

/** Why groups cannot be made below a mount; undefined where they can. */
function obstacle(mount: string): string | undefined {
  const hierarchy = findHierarchy(mount);
  if (typeof hierarchy === 'string') return hierarchy;
  try {
    for (const tree of treesOf(hierarchy)) {
      mkdirSync(join(tree, top));
      rmdirSync(join(tree, top));
    }
    return existsSync(join(hierarchy.cpu, 'cgroup.procs')) ? undefined : 'no groups';
  } catch (error) {
    return `groups cannot be made: ${error instanceof Error ? error.message : error}`;
  }
}

/** With `psi=0` there is no such file, or it cannot be read (Documentation/accounting/psi.rst). */
function isReadable(path: string): boolean {
  try {
    return readFileSync(path, 'utf8') !== '';
  } catch {
    return false;
  }
}

/** A hybrid machine has two: v1 with pressure from v2, and v2 alone, there without the CPU controller. */
const mounts = [MOUNT, ...(existsSync(join(MOUNT, 'unified', 'cgroup.controllers')) ? [join(MOUNT, 'unified')] : [])];

describe.each(mounts)('below %s', (mount) => {
  const reason = obstacle(mount);
  const hierarchy = findHierarchy(mount);

  afterEach(() => {
    for (const tree of typeof hierarchy === 'string' ? [] : treesOf(hierarchy))
      for (let path = containerPath; path !== '.'; path = dirname(path))
        if (existsSync(join(tree, path))) rmdirSync(join(tree, path));
  });

  test.skipIf(reason !== undefined)(
    `usage, throttling and pressure of a real group${reason === undefined ? '' : ` (${reason})`}`,
    async () => {
      if (typeof hierarchy === 'string') throw new Error(hierarchy);
      const trees = treesOf(hierarchy);
      for (const tree of trees) mkdirSync(join(tree, containerPath), { recursive: true });
      const [file, text] = hierarchy.version === 2 ? ['cpu.max', '10000 100000'] : ['cpu.cfs_quota_us', '10000'];
      const hasQuota = existsSync(join(hierarchy.cpu, containerPath, file));
      const hasPressure =
        hierarchy.pressure !== undefined && isReadable(join(hierarchy.pressure, containerPath, 'cpu.pressure'));
      // A tenth of a core, so that the burners are throttled in nearly every period.
      if (hasQuota) writeFileSync(join(hierarchy.cpu, containerPath, file), text);
      const { sampler, step, warnings } = createSampling({ mount, proc: '/proc' });
      sampler.track([pod]);
      step();

      const enter = trees.map((tree) => `echo $$ > ${join(tree, containerPath, 'cgroup.procs')}`).join(' && ');
      const burners = Array.from({ length: hasQuota ? 2 : BURNERS }, () =>
        spawn('sh', ['-c', `${enter} && exec "$0" -e "$1"`, process.execPath, BURN], { stdio: 'ignore' }),
      );
      const ends = await Promise.all(burners.map((burner) => once(burner, 'exit')));
      expect(ends).toEqual(burners.map(() => [0, null]));
      step(4000);

      const use = sampler.pod(pod.groupUid);
      const burnt = (burners.length * 200) / 4;
      // By the test's own clock; the kernel counts by the tick, and a program that starts uses some CPU, too.
      for (const window of [use?.window(4000), use?.container('main')?.window(4000)]) {
        expect(window?.usageMillicores).toBeGreaterThan(0.8 * burnt);
        expect(window?.usageMillicores).toBeLessThan(4 * burnt);
      }
      const main = use?.container('main');
      expect(main?.window(4000)?.throttledRatio !== undefined).toBe(hasQuota);
      if (hasQuota) {
        expect(main?.settings()?.quota).toEqual({ quotaMicros: 10_000, periodMicros: 100_000 });
        expect(main?.window(4000)?.throttledRatio).toBeGreaterThan(0.3);
      }
      if (hasPressure) expect(use?.window(4000)?.pressureRatio).toBeGreaterThan(0);
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
});
