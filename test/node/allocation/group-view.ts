/** A private view of the control groups in which one node is all there is, as on a machine of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isUnified } from '../host/cgroups.ts';

const ROOT = '/sys/fs/cgroup';
/** What the agent reads: quotas and shares, counters, pressure. */
const V1_TREES = ['cpu', 'cpuacct', 'unified'];

/** The command that runs `command` in a mount namespace in which the folder `view` shows only the group `cgroup`. */
export function insideGroupView(view: string, cgroup: string, command: readonly string[]): string[] {
  const steps = [`mount -t tmpfs tmpfs '${view}'`, `mkdir '${join(view, 'proc')}'`];
  const show = (tree: string): void => {
    const [source, target] = [join(ROOT, tree, cgroup), join(view, tree, cgroup)];
    steps.push(`mkdir -p '${target}'`, `mount --bind '${source}' '${target}'`);
    // How the agent tells which trees there are: only what lies in the group is shown of each.
    const sign = { '': 'cgroup.controllers', unified: 'cgroup.controllers', cpuacct: 'cpuacct.usage' }[tree];
    if (sign !== undefined) steps.push(`touch '${join(view, tree, sign)}'`);
  };
  if (isUnified()) show('');
  else for (const tree of V1_TREES) if (existsSync(join(ROOT, tree, cgroup))) show(tree);
  const script = `set -e; ${steps.join('; ')}; exec "$@"`;
  return ['unshare', '--mount', '--propagation', 'private', '--', '/bin/sh', '-c', script, 'sh', ...command];
}
