/** The overlay of environment variables: `SPOTALIS_` and the name a key declares. */
import { quoted } from '../lib/shortened.ts';
import { listConfigKeys } from './schema.ts';

/** As `process.env`; injected, so that tests and checks of a file have one of their own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Spotalis's, for all engines: a deployment of it keeps its variables. */
export const ENV_PREFIX = 'SPOTALIS_';

interface EnvironmentValue {
  readonly variable: string;
  /** Path of the key. */
  readonly path: string;
  /** As it would stand in YAML. */
  readonly value: unknown;
}

/** What the variables say, and what is wrong with them. */
export interface EnvironmentOverlay {
  readonly values: readonly EnvironmentValue[];
  /** Variables that cannot be read, a sentence each. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Kubernetes puts variables for every Service of the namespace into each container; for a Service named
 * `spotalis-webhook` one of them is `SPOTALIS_WEBHOOK_PORT=tcp://10.0.0.1:443`. They are nobody's configuration.
 */
function isServiceLink(variable: string, text: string): boolean {
  return (
    /^(tcp|udp|sctp):\/\//.test(text) || /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(variable)
  );
}

/** Reads all variables of the prefix. Empty ones count as not set. */
export function readEnvironment(env: Environment): EnvironmentOverlay {
  const values: EnvironmentValue[] = [];
  const problems: string[] = [];
  const warnings: string[] = [];
  const keysByVariable = new Map(
    listConfigKeys().flatMap((named) =>
      named.key.env === undefined ? [] : [[ENV_PREFIX + named.key.env, named] as const],
    ),
  );

  for (const [variable, text = ''] of Object.entries(env)) {
    if (!variable.startsWith(ENV_PREFIX) || text === '' || isServiceLink(variable, text)) continue;
    const named = keysByVariable.get(variable);
    if (named === undefined) {
      warnings.push(`${variable}: no key of the configuration has this environment variable; it is ignored`);
      continue;
    }
    const value = named.key.fromText(text);
    if (value === undefined) {
      problems.push(`${variable} is not valid: ${quoted(text)}; accepted: ${named.key.accepted}`);
    } else {
      values.push({ variable, path: named.path, value });
    }
  }
  return { values, problems, warnings };
}
