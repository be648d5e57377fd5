/** Warnings to whoever sent a request, as the API server passes them on. */

/** The API server cuts a warning at 256 characters, and drops all of them beyond 4 KiB. */
const MAX_WARNING_LENGTH = 250;

/** One printable line that begins with who warns: it becomes an HTTP header. */
export function toWarning(from: 'spotalis' | 'optipod', message: string): string {
  return `${from}: ${message.replaceAll('’', "'").replace(/[^\x20-\x7e]+/g, ' ')}`.slice(0, MAX_WARNING_LENGTH);
}
