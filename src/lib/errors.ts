/** Errors told apart by a stable `code`, never by their text; and one way to turn anything thrown into a sentence. */
import { quoted } from './shortened.ts';

/** Base of Stowage's own errors. `message` says what, where and how to mend it. */
export class StowageError extends Error {
  override readonly name: string = 'StowageError';
  /** Stable, upper-case; callers branch on it. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A value from outside (annotation, selector, quantity, file) that does not follow its grammar. */
export class InvalidValueError extends StowageError {
  override readonly name = 'InvalidValueError';
  /** The text that was refused. */
  readonly value: string;
  /** What would have been accepted, e.g. `a whole number from 0 to 100`. */
  readonly accepted: string;

  constructor(what: string, value: string, accepted: string) {
    super('INVALID_VALUE', `${what}: ${quoted(value)} is not valid; accepted: ${accepted}`);
    this.value = value;
    this.accepted = accepted;
  }
}

/** More than this are counted: a file that was named by mistake has thousands. */
const MAX_PROBLEMS = 50;

/**
 * The configuration cannot be used. `problems` holds every one of them, a line each: whoever mends a file wants to do
 * so once.
 */
export class ConfigError extends StowageError {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const told = problems.slice(0, MAX_PROBLEMS);
    const more = problems.length - told.length;
    super('INVALID_CONFIGURATION', (more === 0 ? told : [...told, `${more} more problems are not listed`]).join('\n'));
    this.problems = problems;
  }
}

/** True for errors of Node's system calls, e.g. `hasErrorCode(error, 'ENOENT')`, and for our own codes. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * One line for people: the message of what was thrown, followed by those of its causes until one is a whole sentence.
 * Never throws, whatever it is given; causes are followed at most 5 deep, so a cycle ends.
 */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth++) {
    const text = describeOne(current);
    // Wrappers often repeat the cause's text; saying it once is enough.
    if (!parts.some((part) => part.includes(text))) parts.push(text);
    if (text.endsWith('.')) break;
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join(': ') || 'unknown error';
}

/** Why a file or folder cannot be read, in words: the system's own names for it help nobody, and repeat the path. */
export function describeFileError(error: unknown, wanted: 'file' | 'folder' | 'file or folder' = 'file'): string {
  if (hasErrorCode(error, 'ENOENT')) return `there is no such ${wanted}`;
  if (hasErrorCode(error, 'EACCES')) return 'this user may not read it';
  if (hasErrorCode(error, 'EISDIR')) return 'it is a folder';
  if (hasErrorCode(error, 'ENOTDIR'))
    return wanted === 'folder' ? 'it is no folder' : 'a part of the path is no folder';
  if (hasErrorCode(error, 'ELOOP')) return 'its symbolic links lead in a circle';
  return describeError(error);
}

/** Why a file cannot be written, or a folder be made, in words that end with what to do where that is known. */
export function describeWriteError(error: unknown): string {
  if (hasErrorCode(error, 'ENOENT')) return 'there is no such folder; make it first';
  if (hasErrorCode(error, 'EACCES')) return 'permission denied; name a file in a folder of yours';
  if (hasErrorCode(error, 'EISDIR')) return 'it is a folder; name a file in it';
  // Of a folder that is to be made.
  if (hasErrorCode(error, 'EEXIST')) return 'it is a file; name a folder';
  if (hasErrorCode(error, 'ENOTDIR')) return 'a part of the path is no folder';
  if (hasErrorCode(error, 'ELOOP')) return 'its symbolic links lead in a circle';
  if (hasErrorCode(error, 'EROFS')) return 'nothing can be written there: the file system is read-only';
  if (hasErrorCode(error, 'ENOSPC')) return 'the disk is full';
  return describeError(error);
}

/**
 * What Node says besides of a certificate that nobody it trusts has signed: how to start it is none of the reader's
 * business.
 */
const NODE_HINT = /; if the root CA is installed locally, try running Node\.js with --use-system-ca$/;

/** Never throws: what cannot be turned into JSON has a tag at least. */
function describeOne(value: unknown): string {
  if (value instanceof AggregateError && value.message === '') {
    return value.errors.map((inner) => describeOne(inner)).join('; ') || 'several errors';
  }
  if (value instanceof Error) return value.message.replace(NODE_HINT, '') || codeOf(value) || value.name;
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
