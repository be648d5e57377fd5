/** Runs the kubectl found on the PATH against a server, with nothing of the machine's own configuration. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KubectlResult {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

export interface Kubectl {
  /** Runs to the end; `input` goes to its standard input. */
  run(args: readonly string[], input?: string): Promise<KubectlResult>;
  /** Starts one that runs until it is killed. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams;
  /** Removes what the commands have cached. */
  cleanUp(): Promise<void>;
}

/** @param url asked when a command runs, so that the server may be started later. */
export function createKubectl(url: () => string): Kubectl {
  const cache = join(tmpdir(), `stowage-kubectl-${process.pid}`);
  const common = (): string[] => ['--server', url(), '--kubeconfig', '/dev/null', '--cache-dir', cache];
  return {
    run: (args, input) =>
      new Promise((resolve) => {
        const child = execFile('kubectl', [...common(), ...args], (error, out, err) => {
          resolve({ out, err, code: error === null ? 0 : Number(error.code ?? 1) });
        });
        if (input !== undefined) child.stdin?.end(input);
      }),
    start: (args) => spawn('kubectl', [...common(), ...args]),
    cleanUp: () => rm(cache, { recursive: true, force: true }),
  };
}
