/** One real node: containerd and the kubelet, with a control group, a mount namespace and a folder of their own. Runs inside the run's network namespace. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { isNotFound } from '../../../src/api/kube-error.ts';
import { resources } from '../../../src/api/resources.ts';
import { type Clock, sleep } from '../../../src/lib/clock.ts';
import type { Millicores } from '../../../src/lib/units.ts';
import type { ControlPlane } from '../../controlplane/control-plane.ts';
import { START_TIMEOUT_MILLIS, waitUntilReady } from '../../controlplane/health.ts';
import { type Program, readLogTail, startProgram } from '../../controlplane/process-group.ts';
import { createCgroup } from '../host/cgroups.ts';
import { NODE_ADDRESS } from '../host/network-namespace.ts';
import { type NodeRun, recordCgroup } from '../host/node-run.ts';
import { PAUSE_IMAGE } from '../image/images.ts';
import type { NodePrograms } from '../programs/ensure-programs.ts';
import { insideMountNamespaceOf, insideNewMountNamespace, nodeFolders } from './mount-namespace.ts';
import { containerdConfig, kubeletConfig, kubeletHealthPort, kubeletPort, networkConfig } from './node-files.ts';

const execute = promisify(execFile);

export interface RealNodeSpec {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Kept back from pods, so that each node offers a part of the machine only. */
  readonly reserved: { readonly cpu: string; readonly memory: string };
  /** Merged over the kubelet's configuration file. */
  readonly kubelet?: Readonly<Record<string, unknown>>;
  /** More arguments, for what the file cannot say. */
  readonly kubeletFlags?: readonly string[];
  /** What all its pods together can ever get of the machine's CPU. Default: whatever is free. */
  readonly mostCpu?: Millicores;
}

export interface RealNodeOptions {
  readonly run: NodeRun;
  readonly controlPlane: ControlPlane;
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly programs: NodePrograms;
  /** Image archives to import. */
  readonly images: readonly string[];
  /** Distinct among the nodes of a run, 1..20. */
  readonly index: number;
}

export interface RealNode {
  readonly name: string;
  readonly index: number;
  /** Control group, relative to each hierarchy's root. */
  readonly cgroup: string;
  readonly kubeletUrl: string;
  /** Ends and starts the kubelet; the pods go on. */
  restartKubelet(): Promise<void>;
  logs(program: 'kubelet' | 'containerd', lines?: number): string;
  /** Ends both programs. What the pods leave is removed with the run. */
  stop(): Promise<void>;
}

const STOP_GRACE_MILLIS = 3_000;
const POLL_MILLIS = 50;
const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';

/** Without CAP_SYS_RESOURCE (bit 24, capabilities(7)) no process may lower an oom_score_adj. */
function mayLowerOomScore(): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> 24n) & 1n) === 1n;
}

/** Resolves when the node is registered and Ready. @throws Error with the end of the log of what failed. */
export async function startRealNode(spec: RealNodeSpec, options: RealNodeOptions): Promise<RealNode> {
  const { run, controlPlane, api, clock, programs, index } = options;
  const { name } = spec;
  const directory = join(run.directory, name);
  const cgroup = `${run.id}-${name}`;
  const folders = nodeFolders(directory);
  const program = (file: string): string => join(programs.directory, file);
  mkdirSync(join(folders.lib, 'cni', 'conf'), { recursive: true });

  const write = (file: string, content: string): string => {
    const path = join(directory, file);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const serving = await controlPlane.authority.issueServer([name], [NODE_ADDRESS]);
  write(`${name}-serving.crt`, serving.certificatePem);
  write(`${name}-serving.key`, serving.privateKeyPem);
  write('ca.crt', controlPlane.caPem);
  const resolvConf = write('resolv.conf', 'options ndots:5\n');
  const kubeconfig = await controlPlane.kubeconfigFor(`system:node:${name}`, ['system:nodes']);
  const input = {
    name,
    cgroup,
    certificates: directory,
    plugins: programs.directory,
    runc: program('runc'),
    pauseImage: PAUSE_IMAGE,
    index,
    reserved: spec.reserved,
    resolvConf,
    nameServer: NODE_ADDRESS,
    ...(spec.kubelet === undefined ? {} : { kubelet: spec.kubelet }),
  };
  write('containerd.toml', containerdConfig(input, !mayLowerOomScore()));
  write('kubelet.json', kubeletConfig(input));
  write('lib/cni/conf/10-stowage.conflist', networkConfig(input));

  recordCgroup(run, cgroup);
  createCgroup(cgroup, spec.mostCpu);
  const env = { ...process.env, PATH: `${programs.directory}:${process.env['PATH'] ?? ''}` };
  const start = (programName: string, [command = '', ...args]: readonly string[]): Promise<Program> =>
    startProgram({ name: programName, command, args, env }, directory, clock);
  const failure = (programName: string, error: unknown): Error =>
    new Error(
      `${programName} of node ${name}: ${error instanceof Error ? error.message : String(error)}\nend of its log:\n${readLogTail(directory, programName, 30)}`,
    );

  const containerd = await start(
    'containerd',
    insideNewMountNamespace(directory, [program('containerd'), '--config', join(directory, 'containerd.toml')]),
  );
  const socket = join(folders.run, 'containerd', 'containerd.sock');
  const ctr = (...args: string[]): Promise<unknown> =>
    execute(program('ctr'), ['--address', socket, '--namespace', 'k8s.io', ...args]);
  const deadline = clock.now() + START_TIMEOUT_MILLIS;
  for (;;) {
    try {
      await ctr('version');
      break;
    } catch (error) {
      if (clock.now() > deadline || !containerd.isRunning()) throw failure('containerd', error);
      await sleep(clock, POLL_MILLIS);
    }
  }
  for (const image of options.images) await ctr('images', 'import', image);

  const labels = Object.entries(spec.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const startKubelet = async (): Promise<Program> => {
    const started = await start(
      'kubelet',
      insideMountNamespaceOf(containerd.pid, [
        program('kubelet'),
        `--config=${join(directory, 'kubelet.json')}`,
        `--kubeconfig=${kubeconfig}`,
        `--hostname-override=${name}`,
        `--node-ip=${NODE_ADDRESS}`,
        ...(labels.length === 0 ? [] : [`--node-labels=${labels.join(',')}`]),
        '--v=2',
        ...(spec.kubeletFlags ?? []),
      ]),
    );
    try {
      await waitUntilReady(
        'kubelet',
        { url: `http://127.0.0.1:${kubeletHealthPort(input)}/healthz` },
        { clock, isAlive: started.isRunning },
      );
    } catch (error) {
      throw failure('kubelet', error);
    }
    return started;
  };
  let kubelet = await startKubelet();
  await waitUntilNodeReady(api, clock, name, () => failure('kubelet', 'the node did not get Ready in time'));

  return {
    name,
    index,
    cgroup,
    kubeletUrl: `https://${NODE_ADDRESS}:${kubeletPort(input)}`,
    async restartKubelet() {
      await kubelet.stop(STOP_GRACE_MILLIS);
      kubelet = await startKubelet();
    },
    logs: (programName, lines = 200) => readLogTail(directory, programName, lines),
    async stop() {
      await kubelet.stop(STOP_GRACE_MILLIS);
      await containerd.stop(STOP_GRACE_MILLIS);
      rmSync(join(directory, 'kubelet.json'), { force: true });
    },
  };
}

/** Ready, and free of the taint a new node has until the node lifecycle controller has seen it. */
async function waitUntilNodeReady(api: KubeApi, clock: Clock, name: string, failure: () => Error): Promise<void> {
  const deadline = clock.now() + START_TIMEOUT_MILLIS;
  for (;;) {
    try {
      const node = await api.get(resources.nodes, name);
      const isReady = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
      const isNew = (node.spec?.taints ?? []).some(({ key }) => key === NOT_READY_TAINT);
      if (isReady && !isNew) return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    if (clock.now() > deadline) throw failure();
    await sleep(clock, POLL_MILLIS);
  }
}
