/** Vitest's global set-up of the suites on a real control plane: one for all files, each test in a namespace of its own. */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { createSystemClock } from '../../src/lib/clock.ts';
import { prepareAudit } from './audit-policy.ts';
import { ensureBinaries } from './build.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { existingKubeconfigPath } from './existing-cluster.ts';
import { readLogTail } from './process-group.ts';
import { type ComponentName, componentNames } from './versions.ts';

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
  vitest: { state: { getCountOfFailedTests(): number } };
}

const report = (line: string): void => void process.stderr.write(`control plane: ${line}\n`);

const ALL_LINES = Number.POSITIVE_INFINITY;

/** How long each log is now. Starting up is never without complaints; only what comes later tells something. */
function logLengths(controlPlane: ControlPlane): Map<ComponentName, number> {
  return new Map(componentNames.map((name) => [name, controlPlane.logs(name, ALL_LINES).split('\n').length]));
}

/** What is wrong in the logs, for the reader of a failed run: they are gone with the folder a moment later. */
function reportErrors(controlPlane: ControlPlane, since: Map<ComponentName, number>): void {
  const { directory } = controlPlane;
  const tell = (what: string, lines: readonly string[]): void => {
    if (lines.length > 0) report(`${what}:\n${lines.slice(-15).join('\n')}`);
  };
  for (const component of componentNames) {
    const lines = controlPlane.logs(component, ALL_LINES).split('\n').slice(since.get(component));
    const isError = /^[EF]\d{4} |^panic|"level":"(?:error|fatal)"/;
    tell(
      `errors of ${component}`,
      lines.filter((line) => isError.test(line)),
    );
  }
  for (const file of readdirSync(directory).filter((each) => /^(?:nodes|operator-.*)\.log$/.test(each))) {
    const lines = readLogTail(directory, basename(file, '.log'), ALL_LINES).split('\n');
    const isWarning = / (?:WARN|ERROR) |"level":"(?:warn|error|fatal)"/;
    tell(
      `warnings in ${file}`,
      lines.filter((line) => isWarning.test(line)),
    );
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
  const controlPlane = await startControlPlane({
    binaries,
    clock,
    prepare: async (directory) => prepareAudit(directory),
  });
  report(`ready at ${controlPlane.url} after ${((clock.now() - startMillis) / 1000).toFixed(1)} s`);
  const linesAtStart = logLengths(controlPlane);
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
    if (project.vitest.state.getCountOfFailedTests() > 0) reportErrors(controlPlane, linesAtStart);
    await controlPlane.stop();
  };
}
