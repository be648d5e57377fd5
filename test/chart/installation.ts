/** The chart installed on a real control plane as users do it, by helm or by kubectl; and the operator started with what was applied. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../../src/api/core.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { findFreePorts } from '../controlplane/ports.ts';
import { type Program, startProgram } from '../controlplane/process-group.ts';
import { launcher, plainEnvironment } from '../process/checkout.ts';
import { type Helm, runHelm } from './helm.ts';
import { at, CHART, type Manifest, type RenderOptions, render, root } from './render.ts';

export const RELEASE = 'placer';
export const NAMESPACE = 'stowage-install';

export interface ControlPlaneAccess {
  readonly url: string;
  readonly caPem: string;
  /** Holds the programs' logs; everything written here is removed with the control plane. */
  readonly directory: string;
  readonly adminKubeconfigPath: string;
}

export interface Installation {
  /** What was rendered last. */
  objects(): readonly Manifest[];
  /** `helm upgrade --install`. */
  upgrade(options: RenderOptions): void;
  /** `helm rollback` to the revision before the present one. */
  rollback(): void;
  /** `helm template | kubectl apply --server-side`. */
  apply(options: RenderOptions): void;
  /** Starts a process as the first container of the Deployment says, with the configuration that is in the cluster. */
  startOperator(): Promise<RunningOperator>;
  /** `helm uninstall`, or `kubectl delete` of what was applied last. Nothing installed is no error. */
  remove(): void;
  /** @throws Error with kubectl's words when it fails. */
  kubectl(args: readonly string[], input?: string): string;
  readonly ports: Readonly<Record<'webhook' | 'metrics' | 'health' | 'web', number>>;
}

export interface RunningOperator {
  isRunning(): boolean;
  log(): string;
  /** Status of the readiness probe. */
  readiness(): Promise<number>;
  /** Writes the configuration that is in the cluster now where the process reads it, as a kubelet does. */
  takeInConfig(): void;
  stop(): Promise<void>;
}

const STOP_GRACE_MILLIS = 20_000;
export async function prepareInstallation(
  programs: Helm,
  access: ControlPlaneAccess,
  clock: Clock,
): Promise<Installation> {
  const [webhook = 0, metrics = 0, health = 0, web = 0] = await findFreePorts(4);
  let objects: readonly Manifest[] = [];
  let applied = '';
  let started = 0;

  const kubectl = (args: readonly string[], input = ''): string => {
    const command = ['--kubeconfig', access.adminKubeconfigPath, ...args];
    const options = { encoding: 'utf8', input, maxBuffer: 64 * 1024 * 1024 } as const;
    const { status, stdout, stderr } = spawnSync(programs.kubectl, command, options);
    if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  };

  const helm = (args: readonly string[]): void => {
    const place = ['--kubeconfig', access.adminKubeconfigPath, '--namespace', NAMESPACE];
    const { status, stderr } = runHelm(programs, [...args, ...place], root);
    if (status !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`);
  };
  const valuesOf = ({ values = [], set = [] }: RenderOptions): string[] => [
    ...values.map((file) => `--values=${file}`),
    ...[...ports, ...set].map((each) => `--set=${each}`),
  ];
  // The processes of this machine share its ports.
  const ports = [
    `webhook.port=${webhook},service.webhookPort=${webhook}`,
    `config.observability.metrics.bindAddress=127.0.0.1:${metrics}`,
    `config.observability.health.bindAddress=127.0.0.1:${health}`,
    `config.web.bindAddress=127.0.0.1:${web}`,
  ];
  /** Without the pods of `helm test`, which only helm knows when to start. */
  const objectsFor = (options: RenderOptions): readonly Manifest[] =>
    render(programs, {
      ...options,
      release: RELEASE,
      namespace: NAMESPACE,
      set: [...ports, ...(options.set ?? [])],
    }).filter(({ metadata }) => metadata?.annotations?.['helm.sh/hook'] === undefined);

  const serviceName = (): string => objects.find(({ kind }) => kind === 'Service')?.metadata?.name ?? '';
  /** No node here resolves Services: this one leads to this machine, under its own name as far as certificates go. */
  const leadServiceHere = (): void => {
    const patch = JSON.stringify({ spec: { type: 'ExternalName', externalName: 'localhost', clusterIP: null } });
    kubectl(['-n', NAMESPACE, 'patch', 'service', serviceName(), '--type=merge', '-p', patch]);
  };
  /** Or helm would find its field changed by another. */
  const forgetService = (): void => {
    if (objects.length > 0) kubectl(['-n', NAMESPACE, 'delete', 'service', serviceName(), '--ignore-not-found']);
  };

  const account = (): string => {
    const name = at(deploymentOf(objects), 'spec.template.spec.serviceAccountName');
    return String(name);
  };

  return {
    objects: () => objects,
    kubectl,
    ports: { webhook, metrics, health, web },
    upgrade(options) {
      forgetService();
      objects = objectsFor(options);
      helm(['upgrade', '--install', RELEASE, CHART, '--create-namespace', ...valuesOf(options)]);
      leadServiceHere();
    },
    rollback() {
      forgetService();
      helm(['rollback', RELEASE]);
      leadServiceHere();
    },
    apply(options) {
      objects = objectsFor(options);
      applied = objects.map((object) => JSON.stringify(object)).join('\n---\n');
      kubectl(['apply', '--server-side', '-f', '-'], namespaceManifest());
      kubectl(['apply', '--server-side', '-f', '-'], applied);
      leadServiceHere();
    },
    async startOperator() {
      const name = `installed-${process.pid}-${started++}`;
      const folder = join(access.directory, name);
      mkdirSync(folder, { recursive: true });
      const takeInConfig = (): void => {
        const map = String(at(deploymentOf(objects), 'spec.template.spec.volumes.0.configMap.name'));
        const found: unknown = JSON.parse(kubectl(['-n', NAMESPACE, 'get', 'configmap', map, '-o', 'json']));
        const data = at(found, 'data');
        const content = typeof data === 'object' && data !== null && 'config.yaml' in data ? data['config.yaml'] : '';
        writeFileSync(join(folder, 'config.yaml'), String(content));
      };
      takeInConfig();
      writeFileSync(join(folder, 'kubeconfig'), kubeconfig(access, kubectl(tokenOf(account()))), { mode: 0o600 });
      const words = at(deploymentOf(objects), 'spec.template.spec.containers.0.args');
      const args = (Array.isArray(words) ? words : []).map((word) =>
        String(word).replace('/etc/stowage/', `${folder}/`),
      );
      const command = [launcher, ...args, '--kubeconfig', join(folder, 'kubeconfig')];
      const env = { ...plainEnvironment(), POD_IP: '127.0.0.1' };
      const program = await startProgram(
        { name, command: process.execPath, args: command, env },
        access.directory,
        clock,
      );
      return running(program, join(access.directory, `${name}.log`), health, takeInConfig);
    },
    remove() {
      if (applied !== '') kubectl(['delete', '--ignore-not-found', '-f', '-'], applied);
      applied = '';
      helm(['uninstall', RELEASE, '--ignore-not-found', '--wait']);
    },
  };
}

function running(program: Program, logFile: string, health: number, takeInConfig: () => void): RunningOperator {
  return {
    isRunning: program.isRunning,
    log: () => readFileSync(logFile, 'utf8'),
    takeInConfig,
    async readiness() {
      return fetch(`http://127.0.0.1:${health}/readyz`).then(
        ({ status }) => status,
        () => 0,
      );
    },
    stop: () => program.stop(STOP_GRACE_MILLIS),
  };
}

const tokenOf = (account: string): string[] => ['-n', NAMESPACE, 'create', 'token', account, '--duration=1h'];

function deploymentOf(objects: readonly Manifest[]): Manifest | undefined {
  return objects.find(({ kind }) => kind === 'Deployment');
}

function namespaceManifest(): string {
  const object: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  return JSON.stringify(object);
}

/** As a pod has it: the token of its account. */
function kubeconfig({ url, caPem }: ControlPlaneAccess, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'pod',
    clusters: [
      {
        name: 'pod',
        cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') },
      },
    ],
    users: [{ name: 'pod', user: { token: token.trim() } }],
    contexts: [{ name: 'pod', context: { cluster: 'pod', user: 'pod' } }],
  });
}
