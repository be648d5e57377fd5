/** Starts a real Kubernetes control plane on loopback: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, with certificates of its own. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificatePair } from '../../src/lib/certificates.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createTestAuthority, createTokenKeys, type TestAuthority } from './authority.ts';
import type { Binaries } from './build.ts';
import {
  apiServerFlags,
  controllerManagerFlags,
  etcdFlags,
  etcdUrl,
  type FlagInput,
  goEnvironment,
  KUBERNETES_SERVICE_IP,
  type Ports,
  schedulerFlags,
} from './component-flags.ts';
import { type Probe, waitUntilReady } from './health.ts';
import { formatKubeconfig } from './kubeconfig.ts';
import { findFreePorts } from './ports.ts';
import { type Program, readLogTail, startProgram } from './process-group.ts';
import { createRunDirectory, killPrograms, removeAbandonedRuns } from './run-directory.ts';
import { type ComponentName, componentNames } from './versions.ts';

export interface ControlPlaneOptions {
  readonly binaries: Binaries;
  readonly clock: Clock;
  /** See {@link FlagInput}. */
  readonly serviceAccountAdmission?: boolean;
  readonly nodeLifecycle?: boolean;
  /** False: nobody changes an object but who asks for it; there is no controller-manager and no scheduler. Default true. */
  readonly controllers?: boolean;
  readonly extraApiServerFlags?: readonly string[];
  /** Called before anything starts: writes more files into the run's folder and returns more flags of the API server. */
  readonly prepare?: (directory: string, authority: TestAuthority) => Promise<readonly string[]>;
}

export interface ControlPlane {
  readonly url: string;
  readonly caPem: string;
  readonly adminKubeconfigPath: string;
  /** Temporary folder with certificates and logs; gone after {@link ControlPlane.stop}. */
  readonly directory: string;
  readonly authority: TestAuthority;
  readonly etcdUrl: string;
  /** Path of a kubeconfig whose client certificate names this user and these groups. */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
  logs(component: ComponentName, lines?: number): string;
  /** Ends one program without notice (SIGKILL), as a crash would. */
  kill(component: ComponentName): Promise<void>;
  /** SIGSTOP: the program keeps its connections and answers nothing. */
  freeze(component: ComponentName): void;
  thaw(component: ComponentName): void;
  /** Starts a program that was killed, or stops and starts a running one; resolves when it is ready. */
  restart(component: ComponentName): Promise<void>;
  /** Ends everything and removes the folder. Safe to call twice. */
  stop(): Promise<void>;
}

const STOP_GRACE_MILLIS = 5_000;
const ADMIN = { user: 'stowage-test-admin', groups: ['system:masters'] } as const;

async function choosePorts(): Promise<Ports> {
  const [etcdClient = 0, etcdPeer = 0, apiServer = 0, controllerManager = 0, scheduler = 0] = await findFreePorts(5);
  return { etcdClient, etcdPeer, apiServer, controllerManager, scheduler };
}

/** Writes every certificate and kubeconfig the programs read. */
async function writeCredentials(directory: string, url: string, authority: TestAuthority): Promise<CertificatePair> {
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text, { mode: 0o600 });
  const writePair = (name: string, pair: CertificatePair): void => {
    write(`${name}.crt`, pair.certificatePem);
    write(`${name}.key`, pair.privateKeyPem);
  };
  write('ca.crt', authority.caPem);
  write('ca.key', authority.caKeyPem);
  const tokenKeys = createTokenKeys();
  write('sa.pub', tokenKeys.publicPem);
  write('sa.key', tokenKeys.privatePem);
  writePair(
    'server',
    await authority.issueServer(['kubernetes.default.svc', 'kubernetes.default'], [KUBERNETES_SERVICE_IP]),
  );
  writePair('front-proxy', await authority.issueClient('front-proxy', []));
  for (const component of ['kube-controller-manager', 'kube-scheduler']) {
    const user = `system:${component}`;
    const credentials = await authority.issueClient(user, []);
    write(`${component}.kubeconfig`, formatKubeconfig({ url, caPem: authority.caPem, user, credentials }));
  }
  const admin = await authority.issueClient(ADMIN.user, ADMIN.groups);
  write('admin.kubeconfig', formatKubeconfig({ url, caPem: authority.caPem, user: ADMIN.user, credentials: admin }));
  return admin;
}

/**
 * Starts the four programs in order and resolves when all are ready.
 * @throws Error with the end of the failing program's log; nothing is left running then.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { binaries, clock } = options;
  removeAbandonedRuns(clock);
  const directory = createRunDirectory();
  const ports = await choosePorts();
  const url = `https://127.0.0.1:${ports.apiServer}`;
  const authority = await createTestAuthority(clock);
  const admin = await writeCredentials(directory, url, authority);
  const preparedFlags = (await options.prepare?.(directory, authority)) ?? [];
  const input: FlagInput = {
    directory,
    ports,
    serviceAccountAdmission: options.serviceAccountAdmission ?? false,
    nodeLifecycle: options.nodeLifecycle ?? false,
    extraApiServerFlags: [...(options.extraApiServerFlags ?? []), ...preparedFlags],
  };
  const loopback = (port: number): Probe => ({
    url: `https://127.0.0.1:${port}/healthz`,
    caPem: authority.caPem,
    credentials: admin,
  });
  const parts: Record<ComponentName, { args: string[]; probe: Probe }> = {
    etcd: { args: etcdFlags(input), probe: { url: `${etcdUrl(ports)}/health` } },
    'kube-apiserver': {
      args: apiServerFlags(input),
      probe: { url: `${url}/readyz`, caPem: authority.caPem, credentials: admin },
    },
    'kube-controller-manager': { args: controllerManagerFlags(input), probe: loopback(ports.controllerManager) },
    'kube-scheduler': { args: schedulerFlags(input), probe: loopback(ports.scheduler) },
  };
  const programs = new Map<ComponentName, Program>();

  const start = async (component: ComponentName): Promise<void> => {
    const { args, probe } = parts[component];
    const env = { ...goEnvironment, ...process.env };
    const program = await startProgram({ name: component, command: binaries[component], args, env }, directory, clock);
    programs.set(component, program);
    try {
      await waitUntilReady(component, probe, { clock, isAlive: program.isRunning });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${reason}\nend of its log:\n${readLogTail(directory, component, 30)}`);
    }
  };
  const stopOne = async (component: ComponentName, graceMillis: number): Promise<void> => {
    await programs.get(component)?.stop(graceMillis);
    programs.delete(component);
  };
  // The last resort, when the owner ends without stop(). After SIGKILL of the owner itself the programs end all the same; their folder goes with the next start.
  const onExit = (): void => {
    killPrograms(directory);
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', onExit);

  const stop = async (): Promise<void> => {
    process.off('exit', onExit);
    // Clients before the servers they talk to, so that no log fills with refused connections.
    for (const component of componentNames.toReversed()) await stopOne(component, STOP_GRACE_MILLIS);
    // Programs of a test process that has died before it could stop them.
    killPrograms(directory);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };

  try {
    await start('etcd');
    await start('kube-apiserver');
    if (options.controllers ?? true) await Promise.all([start('kube-controller-manager'), start('kube-scheduler')]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    caPem: authority.caPem,
    adminKubeconfigPath: join(directory, 'admin.kubeconfig'),
    directory,
    authority,
    etcdUrl: etcdUrl(ports),
    async kubeconfigFor(user, groups = []) {
      const credentials = await authority.issueClient(user, groups);
      const path = join(directory, `user-${user.replaceAll(/[^A-Za-z0-9.-]/g, '_')}.kubeconfig`);
      writeFileSync(path, formatKubeconfig({ url, caPem: authority.caPem, user, credentials }), { mode: 0o600 });
      return path;
    },
    logs: (component, lines = 200) => readLogTail(directory, component, lines),
    kill: (component) => stopOne(component, 0),
    freeze: (component) => programs.get(component)?.signal('SIGSTOP'),
    thaw: (component) => programs.get(component)?.signal('SIGCONT'),
    async restart(component) {
      await stopOne(component, STOP_GRACE_MILLIS);
      await start(component);
    },
    stop,
  };
}
