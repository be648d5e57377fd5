/** The options by which plan, explain and status are told what to look at. */
import { type Command, InvalidArgumentError } from 'commander';
import { collect } from './option-values.ts';

export interface InputOptions {
  /** Files, directories or `-`; undefined means the cluster of the kubeconfig. */
  readonly filename?: readonly string[];
  /** The operator's configuration file. */
  readonly config?: string;
  /** A prices file; without it, that of the configuration. */
  readonly prices?: string;
}

/** Files and the configuration are read when the command runs; here only the form of the options is checked. */
export function addInputOptions(command: Command): Command {
  return command
    .option(
      '-f, --filename <path>',
      'read files instead of a cluster: a file, a directory or - (may be repeated)',
      collect,
    )
    .option(
      '-c, --config <file>',
      "the operator's configuration file (default: built-in defaults and SPOTALIS_* variables)",
    )
    .option(
      '--prices <file>',
      'what instance types cost, to tell what the mix saves (default: placement.prices of the configuration)',
    );
}

/** Of explain and status. */
export interface OperatorOption {
  /** Base URL of the operator's metrics port. */
  readonly operator?: URL;
}

export function addOperatorOption(command: Command): Command {
  return command.option(
    '--operator <url>',
    'ask the running operator at its metrics port, such as http://localhost:8080',
    parseUrl,
  );
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new InvalidArgumentError('Give an address such as http://localhost:8080.');
}
