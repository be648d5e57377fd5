/** Exit codes of every command, as documented in docs/cli.md. */
export const exitCodes = {
  ok: 0,
  /** Something could not be done; the one line on standard error says what and what to do. */
  failure: 1,
  /** The command line is wrong. */
  usage: 2,
  /** `plan --exit-code`: the cluster is not as wanted, so there is something to do. */
  differences: 3,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
