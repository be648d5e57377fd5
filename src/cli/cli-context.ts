/** What a command may use of the process it runs in. Tests give their own. */
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { OutputFormat } from './output.ts';
import type { Style } from './style.ts';
import { printableLine } from './text-width.ts';
import { wrapLine } from './wrap-line.ts';

/** One of the two output streams. */
export interface Terminal {
  /** Writes text as it is. */
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Columns and rows of the terminal; undefined where it is none. Read anew for each screen. */
  size(): { readonly columns: number; readonly rows: number } | undefined;
}

/** Everything of the process that commands touch; nothing else of it is used. */
export interface CliIo {
  readonly out: Terminal;
  readonly err: Terminal;
  /** Everything on standard input, as UTF-8. */
  readStdin(): Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts when the user or a supervisor asks to stop (SIGINT, SIGTERM). */
  readonly signal: AbortSignal;
}

/** Options every command takes. */
export interface GlobalOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Undefined means all namespaces where a command lists, `default` where it names one object. */
  readonly namespace: string | undefined;
  readonly output: OutputFormat;
  readonly debug: boolean;
}

export interface CliContext {
  readonly io: CliIo;
  readonly global: GlobalOptions;
  readonly style: Style;
}

/** Prints lines on standard output; on a terminal those too long for it are broken between words. */
export function printLines({ io }: Pick<CliContext, 'io'>, lines: readonly string[]): void {
  printTo(io.out, lines);
}

/** The same for what is said about the output, on standard error. */
export function printNotes({ io }: Pick<CliContext, 'io'>, lines: readonly string[]): void {
  printTo(io.err, lines);
}

function printTo(terminal: Terminal, lines: readonly string[]): void {
  const columns = terminal.size()?.columns;
  const broken = lines.flatMap((line) => wrapLine(printableLine(line), columns));
  if (broken.length > 0) terminal.write(`${broken.join('\n')}\n`);
}
