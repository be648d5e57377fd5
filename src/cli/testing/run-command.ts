/** Runs a command line in this process, with everything it prints collected. */
import { createSystemClock } from '../../lib/clock.ts';
import { createSeededRandom } from '../../lib/random.ts';
import type { CliIo, Terminal } from '../cli-context.ts';
import type { StartOperator } from '../operator-port.ts';
import { runCli } from '../program.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandSetting {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Columns of the terminal; a pipe when left out. */
  readonly columns?: number;
  readonly startOperator?: StartOperator;
  /** Default: one that never aborts. */
  readonly signal?: AbortSignal;
}

/** The version the tests' command line reports. */
const TEST_VERSION = '1.2.3';

export async function runCommand(args: readonly string[], setting: CommandSetting = {}): Promise<CommandResult> {
  const printed = { out: '', err: '' };
  const terminal = (stream: 'out' | 'err'): Terminal => ({
    write: (text) => {
      printed[stream] += text;
    },
    isTerminal: setting.columns !== undefined,
    size: () => (setting.columns === undefined ? undefined : { columns: setting.columns, rows: 40 }),
  });
  const io: CliIo = {
    out: terminal('out'),
    err: terminal('err'),
    readStdin: async () => setting.stdin ?? '',
    env: setting.env ?? {},
    clock: createSystemClock(),
    random: createSeededRandom(1),
    signal: setting.signal ?? new AbortController().signal,
  };
  const { startOperator = () => Promise.reject(new Error('not expected in this test')) } = setting;
  const code = await runCli(args, { io, version: TEST_VERSION, startOperator });
  return { code, stdout: printed.out, stderr: printed.err };
}
