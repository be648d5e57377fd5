/** Errors that end a command with one line: what is wrong and what to do about it. */
import { StowageError } from '../lib/errors.ts';

/** The command could not do its work (exit code 1). */
export class CommandError extends StowageError {
  override readonly name = 'CommandError';

  constructor(message: string, options?: ErrorOptions) {
    super('COMMAND_FAILED', message, options);
  }
}

/** The command line cannot be understood (exit code 2). */
export class UsageError extends StowageError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super('USAGE', message);
  }
}
