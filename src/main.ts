/** The process: gives the command line its input, output and signals, and the operator's wiring, which only this file may see. */
import { readFileSync } from 'node:fs';
import type { CliIo } from './cli/cli-context.ts';
import { createSystemClock } from './lib/clock.ts';
import { createSystemRandom } from './lib/random.ts';
import type { OperatorOptions } from './wire.ts';

/** A second Ctrl-C within this time is the same one, arriving by another way (npm and shells pass it on as well). */
const SAME_KEYPRESS_MILLIS = 1000;

/** Runs the command line and answers with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const stop = new AbortController();
  let firstSignalMillis: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = clock.now();
    firstSignalMillis ??= now;
    if (now - firstSignalMillis > SAME_KEYPRESS_MILLIS) process.exit(signal === 'SIGINT' ? 130 : 143);
    stop.abort(new DOMException(`stopped by ${signal}`, 'AbortError'));
  };
  // Kept to the very end: a signal that comes while the process winds down must not make it look killed.
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const given = { env: process.env, clock, random, signal: stop.signal };
  // The way of the node agent, which is to be small: nothing of the command line is loaded for it.
  if (args.includes('agent')) {
    const { runAgentDirectly } = await import('./agent/agent-process.ts');
    const code = await runAgentDirectly(args, { ...given, version: readVersion() });
    if (code !== undefined) return code;
  }
  const { terminalsOf } = await import('./cli/standard-streams.ts');
  const exit = (code: number): never => process.exit(code);
  const io: CliIo = {
    ...given,
    ...terminalsOf({ stdout: process.stdout, stderr: process.stderr, exit }, args),
    readStdin: async () => (await import('node:stream/consumers')).text(process.stdin),
  };
  const { runCli } = await import('./cli/program.ts');
  // Loaded when needed: most commands do without the operator.
  const startOperator = async (options: OperatorOptions) => (await import('./wire.ts')).startOperator(options);
  return await runCli(args, { io, version: readVersion(), startOperator });
}

/** This file and its compiled form both lie one folder below package.json. */
function readVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof parsed === 'object' && parsed !== null && 'version' in parsed ? String(parsed.version) : 'unknown';
}
