/** Vitest's global set-up of the suites on a real control plane: one for all files, each test in a namespace of its own. */
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureBinaries } from './build.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { existingKubeconfigPath } from './existing-cluster.ts';
import { componentNames } from './versions.ts';

/** What the test files get through `inject('cluster')`. */
export interface ClusterAccess {
  readonly kubeconfigPath: string;
  /** Absent on an existing cluster, whose certificate authority and etcd are not ours. */
  readonly own?: {
    readonly url: string;
    readonly caPem: string;
    readonly caKeyPem: string;
    readonly etcdUrl: string;
    /** Holds the programs' logs. */
    readonly directory: string;
  };
}

declare module 'vitest' {
  interface ProvidedContext {
    cluster: ClusterAccess;
  }
}

/** The part of vitest's project this set-up uses. */
interface Project {
  provide(key: 'cluster', value: ClusterAccess): void;
  onTestsRerun?: unknown;
  vitest: { state: { getCountOfFailedTests(): number } };
}

const report = (line: string): void => void process.stderr.write(`control plane: ${line}\n`);

/** Ends of the logs, for the reader of a failed run: they are gone with the folder a moment later. */
function reportLogs(controlPlane: ControlPlane): void {
  for (const component of componentNames) {
    const lines = controlPlane
      .logs(component, 2_000)
      .split('\n')
      .filter((line) => /^[EF]\d{4} |^panic|"level":"(?:error|fatal)"/.test(line));
    if (lines.length > 0) report(`errors of ${component}:\n${lines.slice(-15).join('\n')}`);
  }
}

/** Called by vitest once before all files; the function it returns is called once after them. */
export async function setup(project: Project): Promise<() => Promise<void>> {
  const existing = existingKubeconfigPath(process.env);
  if (existing !== undefined) {
    report(`using the existing cluster of ${existing}`);
    project.provide('cluster', { kubeconfigPath: existing });
    return async () => undefined;
  }
  const clock = createSystemClock();
  const binaries = await ensureBinaries({ clock, env: process.env, report });
  const startMillis = clock.now();
  const controlPlane = await startControlPlane({ binaries, clock });
  report(`ready at ${controlPlane.url} after ${((clock.now() - startMillis) / 1000).toFixed(1)} s`);
  project.provide('cluster', {
    kubeconfigPath: controlPlane.adminKubeconfigPath,
    own: {
      url: controlPlane.url,
      caPem: controlPlane.caPem,
      caKeyPem: controlPlane.authority.caKeyPem,
      etcdUrl: controlPlane.etcdUrl,
      directory: controlPlane.directory,
    },
  });
  return async () => {
    if (project.vitest.state.getCountOfFailedTests() > 0) reportLogs(controlPlane);
    await controlPlane.stop();
  };
}
