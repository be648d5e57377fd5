/**
 * Logs of the agent: the records of lib/log.ts written by hand, because the logging library alone costs 4 MB of memory.
 */
import { writeSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { LogFormat, Logger, LogLevel } from '../lib/log.ts';
import { printable, printableJson } from '../lib/printable.ts';
import { isoText } from '../lib/utc-text.ts';

export interface LineLogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly clock: Clock;
  /** Receives whole lines, each ending in a newline. */
  readonly write: (line: string) => void;
}

type Fields = Readonly<Record<string, unknown>>;
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'fatal'];

/**
 * Writes at once, and never throws: a log that cannot be written must not stop the agent, be it a full pipe, a full
 * disk, or nobody who reads it.
 */
export function lineWriter(descriptor: number): (line: string) => void {
  return (line) => {
    try {
      writeSync(descriptor, line);
    } catch {
      // There is nobody to tell.
    }
  };
}

export function createLineLog(options: LineLogOptions): Logger {
  return loggerNamed(options, '', {});
}

function loggerNamed(options: LineLogOptions, name: string, context: Fields): Logger {
  const { clock, format, write } = options;
  const least = levels.indexOf(options.level);
  const log =
    (level: LogLevel) =>
    (fields: Fields, message: string): void => {
      if (levels.indexOf(level) < least) return;
      const time = isoText(clock.now());
      const values = readable({ ...context, ...fields });
      const logger = name === '' ? undefined : name;
      write(
        format === 'json'
          ? `${printableJson(JSON.stringify({ level, time, logger, ...values, msg: message }))}\n`
          : `${printable([`${time} ${level.toUpperCase().padEnd(5)} ${name === '' ? '' : `${name}: `}${message}`, ...pairs(values)].join(' '))}\n`,
      );
    };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (childName, fields = {}) =>
      loggerNamed(options, name === '' ? childName : `${name}.${childName}`, { ...context, ...fields }),
  };
}

/** Anything thrown becomes one sentence. */
function readable(fields: Fields): Fields {
  return 'error' in fields ? { ...fields, error: describeError(fields['error']) } : fields;
}

function pairs(fields: Fields): string[] {
  return Object.entries(fields).map(([key, value]) => {
    const text = typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
    return `${key}=${text}`;
  });
}
