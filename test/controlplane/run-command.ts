/** What `npm run test:build`, `test:cluster` and `test:node` share: they say what they do line by line, run suites in parts, and end on a signal. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createSystemClock } from '../../src/lib/clock.ts';
import { formatElapsed } from './build.ts';

export interface RunningCommand {
  readonly clock: Clock;
  readonly report: (line: string) => void;
  /**
   * Aborts on SIGINT and SIGTERM. Runners are passed the signal itself; a build under way has to be ended by this, as its
   * compiler would go on for minutes.
   */
  readonly signal: AbortSignal;
  /** A part of the suites, which does not begin once the command is to end. @param run is given a file for what it says, shown when it has ended. @returns its exit code. */
  runPart(name: string, run: (output: string) => Promise<number>): Promise<number>;
  /** The last line. @returns the exit code. */
  conclude(hasPassed: boolean, target?: string): number;
}

/** @param name stands in front of every line. @param main resolves with the exit code; what it throws is told, and is a 1. */
export async function runCommand(name: string, main: (command: RunningCommand) => Promise<number>): Promise<void> {
  const clock = createSystemClock();
  const startMillis = clock.now();
  const report = (line: string): void => void process.stderr.write(`${name}: ${line}\n`);
  const stopper = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stopper.abort(new Error(`stopped by ${signal}`)));

  const tell = (what: string, hasPassed: boolean, sinceMillis: number, where = ''): void => {
    const took = formatElapsed(clock.now() - sinceMillis);
    report(`${what} ${hasPassed ? 'passed' : 'FAILED'}${where} in ${took}`);
  };

  try {
    process.exitCode = await main({
      clock,
      report,
      signal: stopper.signal,
      async runPart(part, run) {
        if (stopper.signal.aborted) return 1;
        const fromMillis = clock.now();
        const folder = mkdtempSync(join(tmpdir(), 'stowage-part-'));
        try {
          const output = join(folder, 'output');
          const code = await run(output);
          process.stdout.write(readFileSync(output));
          tell(`part ${part}`, code === 0, fromMillis);
          return code;
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
      conclude(hasPassed, target) {
        tell('suites', hasPassed, startMillis, target && ` on ${target}`);
        return hasPassed ? 0 : 1;
      },
    });
  } catch (error) {
    report(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
