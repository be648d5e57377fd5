/** The chart as a release on the cluster under test: installed, tested, changed and removed by the real helm. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Helm } from '../../chart/helm.ts';
import { CHART, root } from '../../chart/render.ts';

const execute = promisify(execFile);
/** Whatever the chart may install, and what comes of it. */
const KINDS = [
  'pods,deployments,replicasets,daemonsets,services,configmaps,secrets,serviceaccounts,roles,rolebindings',
  'poddisruptionbudgets,networkpolicies,clusterroles,clusterrolebindings',
  'mutatingwebhookconfigurations,validatingwebhookconfigurations',
].join(',');
const WAIT = ['--wait', '--timeout=170s'];

export interface ChartRelease {
  /** Each resolves when what it installs is ready. @param values files, relative to the root of the repository. */
  install(values: readonly string[]): Promise<void>;
  upgrade(values: readonly string[]): Promise<void>;
  /** To the revision before the present one. */
  rollback(): Promise<void>;
  /** `helm test`. @returns what helm says of it. */
  test(): Promise<string>;
  /** Nothing installed is no error. */
  uninstall(): Promise<void>;
  /** Of the kinds the chart brings, which helm never removes; and with them all objects of these kinds. */
  removeDefinitions(): Promise<void>;
  /** Everything in the cluster that is labelled as part of the release, as `kind/name`. */
  objects(): Promise<string[]>;
}

export interface ReleaseOptions {
  readonly programs: Helm;
  readonly kubeconfigPath: string;
  readonly release: string;
  readonly namespace: string;
}

/** Every function throws an Error with helm's words where it fails. */
export function chartRelease({ programs, kubeconfigPath, release, namespace }: ReleaseOptions): ChartRelease {
  /** Without blocking: the name server answers from this process. */
  const helm = async (...args: readonly string[]): Promise<string> => {
    const home = mkdtempSync(join(tmpdir(), 'stowage-helm-home-'));
    try {
      const env = { PATH: process.env['PATH'], HOME: home };
      const place = ['--kubeconfig', kubeconfigPath, '--namespace', namespace];
      return (await execute(programs.helm, [...args, ...place], { cwd: root, env })).stdout;
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  };
  const kubectl = async (...args: readonly string[]): Promise<string> =>
    (await execute(programs.kubectl, ['--kubeconfig', kubeconfigPath, ...args])).stdout;
  const files = (values: readonly string[]): string[] => values.map((file) => `--values=${file}`);
  return {
    install: async (values) =>
      void (await helm('install', release, CHART, '--create-namespace', ...WAIT, ...files(values))),
    upgrade: async (values) => void (await helm('upgrade', release, CHART, ...WAIT, ...files(values))),
    rollback: async () => void (await helm('rollback', release, ...WAIT)),
    test: () => helm('test', release, '--timeout=170s'),
    async objects() {
      const stdout = await kubectl('get', KINDS, '-A', '-l', `app.kubernetes.io/instance=${release}`, '-o', 'name');
      return stdout.split('\n').filter((line) => line !== '');
    },
    removeDefinitions: async () =>
      void (await kubectl('delete', '--ignore-not-found', '-f', join(root, CHART, 'crds'))),
    uninstall: async () => void (await helm('uninstall', release, '--ignore-not-found', ...WAIT)),
  };
}
