/** The experiment in this machine's own control groups: the simulated machine is held to what the kernel does with the same pods. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { findHierarchy } from '../../agent/cgroup/hierarchy.ts';
import { createMonotonicTime, createSystemClock } from '../../lib/clock.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { eventually } from '../../lib/testing/eventually.ts';
import { arrivalsOf } from '../open-loop.ts';
import { createSimulatedSubstrate } from '../simulated-substrate.ts';
import type { CpuSettings, LabPod, Substrate } from '../substrate.ts';
import { createKernelSubstrate } from './kernel-substrate.ts';
import { createLabGroups, removeAbandonedLabs } from './lab-groups.ts';

const clock = createSystemClock();
const found = findHierarchy('/sys/fs/cgroup');
const LENGTH = 4000;

async function obstacle(): Promise<string | undefined> {
  if (typeof found === 'string') return found;
  try {
    await createLabGroups(found, clock).close();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const reason = await obstacle();
const why = reason === undefined ? '' : ` (${reason})`;
const hierarchy = () => {
  if (typeof found === 'string') throw new Error(found);
  return found;
};
const open = (): Substrate =>
  createKernelSubstrate({
    hierarchy: hierarchy(),
    lengthMillis: LENGTH,
    clock,
    monotonicMillis: createMonotonicTime(),
  });

const spinner = (name: string, threads: number): LabPod => ({
  name,
  load: { kind: 'spin', threads },
  request: 500,
  claim: 100,
  weight: 1,
  isBatch: true,
});

/** Of each pod what a period of its limit saw on average: that is the same however late somebody looks. */
async function periodsOf(substrate: Substrate, pods: readonly (readonly [LabPod, CpuSettings])[]) {
  try {
    for (const [pod, settings] of pods) await substrate.start(pod, settings, 1);
    await substrate.runUntil(0);
    const before = pods.map(([{ name }]) => substrate.counters(name));
    await substrate.runUntil(LENGTH);
    return pods.map(([{ name }], index) => {
      const { usedMillis, throttledPeriods, periods } = substrate.counters(name);
      const start = before[index];
      const count = periods - (start?.periods ?? 0);
      expect(count).toBeGreaterThan(LENGTH / 200);
      return {
        used: (usedMillis - (start?.usedMillis ?? 0)) / count,
        throttled: (throttledPeriods - (start?.throttledPeriods ?? 0)) / count,
      };
    });
  } finally {
    await substrate.close();
  }
}

/** Groups of this process's experiments. */
const groups = (): string[] =>
  readdirSync(hierarchy().cpu).filter((name) => name.startsWith(`stowage-lab-${process.pid}-`));

describe.skipIf(reason !== undefined)(`in control groups${why}`, () => {
  test.each([
    { what: 'one thread at half a core', pods: [[spinner('a', 1), { request: 500, limit: 500 }]] },
    { what: 'four threads at half a core', pods: [[spinner('a', 4), { request: 500, limit: 500 }]] },
  ] as const)('$what: usage within 10 % of the simulated machine, throttled periods within 20 %', async ({ pods }) => {
    const [real] = await periodsOf(open(), pods);
    const [simulated] = await periodsOf(createSimulatedSubstrate({ cpus: 2, lengthMillis: LENGTH }), pods);
    expect(Math.abs((real?.used ?? 0) / (simulated?.used ?? 1) - 1)).toBeLessThan(0.1);
    expect(Math.abs((real?.throttled ?? 0) / (simulated?.throttled ?? 1) - 1)).toBeLessThan(0.2);
  });

  test('requests are answered for about the CPU that they want, and what is closed leaves nothing', async () => {
    const substrate = open();
    const load = { kind: 'requests', ratePerSecond: () => 300, workMillis: 2, threads: 2 } as const;
    const wanted = arrivalsOf({ ...load, from: 0, until: LENGTH, random: createSeededRandom(1) }).reduce(
      (sum, { workMillis }) => sum + workMillis,
      0,
    );
    try {
      await substrate.start({ ...spinner('a', 2), load }, { request: 1000, limit: undefined }, 1);
      await substrate.runUntil(0);
      const { usedMillis } = substrate.counters('a');
      await substrate.runUntil(LENGTH);
      const share = (substrate.counters('a').usedMillis - usedMillis) / wanted;
      expect(share).toBeGreaterThan(0.5);
      expect(share).toBeLessThan(1.5);
      const replies = await substrate.replies('a');
      expect(replies.length).toBeGreaterThan(50);
      expect(replies.filter(({ latencyMillis }) => latencyMillis !== undefined).length).toBeGreaterThan(50);
      expect(groups()).toHaveLength(1);
    } finally {
      await substrate.close();
    }
    expect(groups()).toEqual([]);
  });
});

describe.skipIf(reason !== undefined)(`an experiment that is killed${why}`, () => {
  const made: string[] = [];
  afterEach(async () => {
    await removeAbandonedLabs(hierarchy(), clock);
    for (const path of made.splice(0)) if (existsSync(path)) rmdirSync(path);
  });

  test('is removed by the next one, with its pods; groups of others and of living experiments stay', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'testing', 'run-until-killed.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await eventually(() => expect(output).toContain('running'));
    const { cpu } = hierarchy();
    const [own] = readdirSync(cpu).filter((name) => name.startsWith(`stowage-lab-${child.pid}-`));
    const pods = readFileSync(join(cpu, own ?? '', 'pods', 'hog', 'cgroup.procs'), 'utf8')
      .trim()
      .split('\n');
    // Of this machine, not of this test alone: another run may have left some as well, or be quicker than this one.
    expect(await removeAbandonedLabs(hierarchy(), clock)).not.toContain(own);
    expect(existsSync(join(cpu, own ?? '', 'pods', 'hog'))).toBe(true);

    const stranger = join(cpu, `stowage-lab-of-somebody-else-${process.pid}`);
    mkdirSync(stranger);
    made.push(stranger);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await removeAbandonedLabs(hierarchy(), clock)).not.toContain(basename(stranger));
    expect(existsSync(join(cpu, own ?? ''))).toBe(false);
    expect(existsSync(stranger)).toBe(true);
    for (const pid of pods) await eventually(() => expect(isRunning(pid)).toBe(false));
  });
});

/** A process that has ended and was not collected yet runs no more. */
function isRunning(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}
