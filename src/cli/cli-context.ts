/** What a command may use of the process it runs in. Tests give their own. */
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { OutputFormat } from './output.ts';
import type { Style } from './style.ts';

export interface Terminal {
  /** Writes text as it is. */
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Columns and rows of the terminal; undefined where it is none. Read anew for each screen. */
  size(): { readonly columns: number; readonly rows: number } | undefined;
}

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

/** Prints lines on standard output. */
export function printLines(context: CliContext, lines: readonly string[]): void {
  if (lines.length > 0) context.io.out.write(`${lines.join('\n')}\n`);
}
