/** The process's output, whose readers may leave early (`stowage plan | head`): there is nobody left to tell then. */
import type { WriteStream } from 'node:tty';
import { describeWriteError } from '../lib/errors.ts';
import type { CliIo, Terminal } from './cli-context.ts';

export interface StandardStreams {
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  /** Ends the process. */
  readonly exit: (code: number) => void;
}

/** What changes pods goes on without a reader, to the end: half of it would pass for the whole. */
const FINISHED_UNHEARD = 'restore';

/** @param args the words after the program's name. */
export function terminalsOf(
  { stdout, stderr, exit }: StandardStreams,
  args: readonly string[],
): Pick<CliIo, 'out' | 'err'> {
  let isTold = false;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    const hasLeft = error.code === 'EPIPE';
    if (!hasLeft && !isTold) stderr.write(`stowage: the result cannot be written: ${describeWriteError(error)}\n`);
    isTold = true;
    if (!args.includes(FINISHED_UNHEARD)) exit(hasLeft ? 0 : 1);
  });
  // Who hears no notes may still want the result.
  stderr.on('error', () => {});
  return { out: terminal(stdout), err: terminal(stderr) };
}

function terminal(stream: WriteStream): Terminal {
  return {
    write: (line) => void stream.write(line),
    isTerminal: stream.isTTY === true,
    size: () => (stream.isTTY ? { columns: stream.columns, rows: stream.rows } : undefined),
  };
}
