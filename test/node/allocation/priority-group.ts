/**
 * A control group for what must not starve beside pods that take all they can: on a machine of its own a node's system has
 * CPU kept back for it; here control plane, kubelet and load generator share the machine with the node's pods.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUnified } from '../host/cgroups.ts';
import { type NodeRun, recordCgroup } from '../host/node-run.ts';

export interface PriorityGroup {
  /** Moves a process with its threads; what it starts from then on is born there. */
  take(pid: number): void;
  /** The command that runs `command` in the group from its beginning. */
  wrap(command: readonly string[]): readonly string[];
}

/** One task of the machine weighs 1024: others' work hardly counts while these run. The ratios are those of the pilot. */
const NODE_SHARES = 65_536;
export const SYSTEM_SHARES = 131_072;
/** Who measures must not wait for what is measured. */
export const DRIVER_SHARES = 262_144;

const directoryOf = (group: string): string => join('/sys/fs/cgroup', isUnified() ? '' : 'cpu', group);

function weigh(directory: string, shares: number): void {
  const weight = join(directory, 'cpu.weight');
  if (!isUnified()) writeFileSync(join(directory, 'cpu.shares'), String(shares));
  // As the kubelet translates shares (KEP-2254).
  else if (existsSync(weight)) writeFileSync(weight, String(1 + Math.floor(((shares - 2) * 9999) / 262_142)));
}

/** Weighs all pods of a node together, by its control group; for as long as the run lasts. */
export function weighNode(cgroup: string): void {
  weigh(directoryOf(cgroup), NODE_SHARES);
}

/** Removed with the run. */
export function createPriorityGroup(run: NodeRun, name: string, shares: number): PriorityGroup {
  const group = `${run.id}-${name}`;
  const directory = directoryOf(group);
  recordCgroup(run, group);
  mkdirSync(directory, { recursive: true });
  weigh(directory, shares);
  const processes = join(directory, 'cgroup.procs');
  return {
    take: (pid) => writeFileSync(processes, String(pid)),
    wrap: (command) => ['/bin/sh', '-c', `echo $$ > '${processes}' && exec "$@"`, 'sh', ...command],
  };
}
