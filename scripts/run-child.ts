/** Runs a program as a process of its own. SIGINT and SIGTERM are passed on: it then stops what it has started itself. */
import { type SpawnOptions, spawn } from 'node:child_process';

/** @returns its exit code; 1 where a signal ended it. Rejects where it cannot be started. */
export function runChild(command: string, args: readonly string[], options: SpawnOptions): Promise<number> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, options);
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    process.on('SIGINT', pass).on('SIGTERM', pass);
    child.once('error', fail);
    child.once('close', (code) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      done(code ?? 1);
    });
  });
}
