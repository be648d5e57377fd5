/**
 * Structured logs, one line a record: JSON for machines, text for consoles. Written synchronously, so that nothing is
 * lost at exit.
 */
import pino from 'pino';
import type { Clock } from './clock.ts';
import { describeError } from './errors.ts';
import { printable, printableJson } from './printable.ts';

/** `fatal` is for limits only: nothing is logged at it, so that a log may be switched off. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal';
export type LogFormat = 'json' | 'text';
/**
 * Values of a record. An `error` may be anything thrown; it is printed as one sentence, with its stack at debug level.
 */
type LogFields = Readonly<Record<string, unknown>>;

/** Never throws and never waits. Secrets are the caller's business: nothing is removed from a record. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger whose records carry `logger: name` (dotted below this one's) and `fields`. */
  child(name: string, fields?: LogFields): Logger;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly clock: Clock;
  /** Receives whole lines, each ending in a newline. */
  readonly write: (line: string) => void;
}

/**
 * A logger that writes to `options.write`. Records have `level` (lower case), `time` (ISO 8601, UTC), `msg` and
 * `logger`.
 */
export function createLogger(options: LogOptions): Logger {
  const { level, clock, format, write } = options;
  const root = pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      serializers: { error: describeError },
    },
    { write: (line: string) => write(format === 'json' ? printableJson(line) : toTextLine(line)) },
  );
  return wrap(root, '', {});
}

/** A logger for tests and pure callers: drops every record. */
export function createSilentLogger(): Logger {
  const ignore = (): void => {};
  const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => silent };
  return silent;
}

/** Of lines that could not be written yet. */
const MAX_WAITING_BYTES = 1 << 20;

/**
 * Writes to standard error at once, blocking; the process may exit right after. What cannot be written, as on a full
 * disk, waits for a later line, and is lost where there is too much of it: no log may end a process, or fill its memory.
 * @param descriptor another one, in tests.
 */
export function createStderrWriter(descriptor = 2): (line: string) => void {
  const destination = pino.destination({ dest: descriptor, sync: true, maxLength: MAX_WAITING_BYTES });
  destination.on('error', () => {});
  return (line) => destination.write(line);
}

/**
 * Each logger is a direct child of the root: pino repeats the bindings of nested children, and `logger` must be there
 * once.
 */
function wrap(root: pino.Logger, name: string, fields: LogFields): Logger {
  const target = root.child(name === '' ? fields : { logger: name, ...fields });
  return {
    debug: (record, message) => target.debug(record, message),
    info: (record, message) => target.info(record, message),
    warn: (record, message) => target.warn(record, message),
    error: (record, message) => target.error(withStack(target, record), message),
    child: (childName, more) => wrap(root, name === '' ? childName : `${name}.${childName}`, { ...fields, ...more }),
  };
}

/** The stack tells a developer where; to everybody else it is noise. */
function withStack(target: pino.Logger, record: LogFields): LogFields {
  const { error } = record;
  return error instanceof Error && target.isLevelEnabled('debug') ? { ...record, stacktrace: error.stack } : record;
}

/** `2026-03-29T01:00:00.000Z WARN  guard: message key=value`; values with spaces are quoted as JSON. */
function toTextLine(line: string): string {
  const { time, level, logger, msg, ...fields } = JSON.parse(line) as LogFields;
  const name = logger === undefined ? '' : `${plainText(logger)}: `;
  const head = `${plainText(time)} ${plainText(level).toUpperCase().padEnd(5)} ${name}${plainText(msg)}`;
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${quotedText(value)}`);
  return `${printable([head, ...pairs].join(' '))}\n`;
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function quotedText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
