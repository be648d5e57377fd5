/** What `kube/` needs of a logger; any pino logger fits. */

type LogLine = (fields: object, message: string) => void;

export interface Log {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

/** Drops every line; for tests and one-shot commands. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
