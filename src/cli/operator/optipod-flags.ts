/** OptiPod's flags on `stowage operator`, so that an existing Deployment's arguments keep their meaning: each stands for a key of the configuration. */
import { optipodProvider } from '../../config/aliases.ts';
import type { Environment } from '../../config/environment.ts';
import { ConfigError } from '../../lib/errors.ts';

export interface OptipodFlag {
  /** As commander takes it. */
  readonly flags: string;
  readonly description: string;
  /** Variables that say the same; undefined: the flag has no effect, and `why` says why. */
  readonly toVariables?: (value: string) => Readonly<Record<string, string>>;
  readonly why?: string;
}

const variable =
  (name: string, convert: (value: string) => string = (value) => value) =>
  (value: string): Readonly<Record<string, string>> => ({ [name]: convert(value) });

/** An address that is given is served, whatever the file says; the `0` of controller-runtime the key itself understands. */
const server =
  (name: string) =>
  (value: string): Readonly<Record<string, string>> => ({
    [`SPOTALIS_${name}_ENABLED`]: 'true',
    [`SPOTALIS_${name}_BIND_ADDRESS`]: value,
  });

/** zap's levels, or its numbers: the larger, the more is told. Its `panic` is told by nobody here: only what ends the process is left. */
const logLevel = (value: string): string => {
  if (/^\d+$/.test(value)) return 'debug';
  return value === 'panic' ? 'fatal' : value;
};
const election = variable('SPOTALIS_LEADER_ELECTION_ENABLED');

/** All flags OptiPod's manager takes: none may end the operator, or its Deployment would crash after the upgrade. */
export const optipodFlags: readonly OptipodFlag[] = [
  {
    flags: '--dry-run [bool]',
    description: 'rightsizing.dryRun',
    toVariables: variable('SPOTALIS_RIGHTSIZING_DRY_RUN'),
  },
  {
    flags: '--metrics-provider <name>',
    description: 'rightsizing.provider',
    toVariables: variable('SPOTALIS_RIGHTSIZING_PROVIDER', optipodProvider),
  },
  {
    flags: '--prometheus-url <url>',
    description: 'rightsizing.prometheus.url',
    toVariables: variable('SPOTALIS_RIGHTSIZING_PROMETHEUS_URL'),
  },
  {
    flags: '--reconciliation-interval <duration>',
    description: 'rightsizing.reconcileInterval',
    toVariables: variable('SPOTALIS_RIGHTSIZING_RECONCILE_INTERVAL'),
  },
  {
    flags: '--metrics-sample-interval <seconds>',
    description: 'rightsizing.sampleInterval',
    // OptiPod's 0 stands for its default.
    toVariables: (value): Record<string, string> =>
      value === '0' ? {} : { SPOTALIS_RIGHTSIZING_SAMPLE_INTERVAL: /^\d+$/.test(value) ? `${value}s` : value },
  },
  {
    flags: '--metrics-max-samples <count>',
    description: 'no effect',
    why: 'samples are taken all the time and remembered, not gathered anew for each look',
  },
  { flags: '--leader-elect [bool]', description: 'operator.leaderElection.enabled', toVariables: election },
  { flags: '--enable-leader-election [bool]', description: 'operator.leaderElection.enabled', toVariables: election },
  {
    flags: '--metrics-bind-address <address>',
    description: 'observability.metrics; 0 switches it off',
    toVariables: server('METRICS'),
  },
  {
    flags: '--metrics-addr <address>',
    description: 'observability.metrics; 0 switches it off',
    toVariables: server('METRICS'),
  },
  {
    flags: '--health-probe-bind-address <address>',
    description: 'observability.health; 0 switches it off',
    toVariables: server('HEALTH'),
  },
  {
    flags: '--webhook-cert-path <directory>',
    description: 'webhook.certDir',
    toVariables: variable('SPOTALIS_WEBHOOK_CERT_DIR'),
  },
  {
    flags: '--zap-log-level <level>',
    description: 'observability.logging.level',
    toVariables: variable('SPOTALIS_LOGGING_LEVEL', logLevel),
  },
  {
    flags: '--zap-encoder <encoder>',
    description: 'observability.logging.format',
    toVariables: variable('SPOTALIS_LOGGING_FORMAT', (value) => (value === 'console' ? 'text' : value)),
  },
  { flags: '--webhook-cert-name <file>', description: 'no effect', why: 'the file is tls.crt' },
  { flags: '--webhook-cert-key <file>', description: 'no effect', why: 'the file is tls.key' },
  {
    flags: '--metrics-secure [bool]',
    description: 'no effect',
    why: 'observability.metrics.tls and authentication say it',
  },
  {
    flags: '--metrics-cert-path <directory>',
    description: 'no effect',
    why: 'with observability.metrics.tls the certificate of the webhook is served',
  },
  {
    flags: '--metrics-cert-name <file>',
    description: 'no effect',
    why: 'with observability.metrics.tls the certificate of the webhook is served',
  },
  {
    flags: '--metrics-cert-key <file>',
    description: 'no effect',
    why: 'with observability.metrics.tls the certificate of the webhook is served',
  },
  { flags: '--enable-http2 [bool]', description: 'no effect', why: 'the webhook speaks HTTP/1.1' },
  { flags: '--zap-devel [bool]', description: 'no effect', why: 'set observability.logging' },
  { flags: '--zap-stacktrace-level <level>', description: 'no effect', why: 'errors have their stack in the record' },
  { flags: '--zap-time-encoding <encoding>', description: 'no effect', why: 'times are ISO 8601' },
];

export interface FlagOverlay {
  /** The environment with what the flags say on top: a flag is nearer to hand than a variable. */
  readonly env: Environment;
  readonly warnings: readonly string[];
  /** The flag by the variable it stands for. */
  readonly flagOf: ReadonlyMap<string, string>;
}

/** @param given commander's values by camel-cased name; `true` for a flag without a value. */
export function withOptipodFlags(env: Environment, given: Readonly<Record<string, unknown>>): FlagOverlay {
  const overlay: Record<string, string> = {};
  const warnings: string[] = [];
  const flagOf = new Map<string, string>();
  for (const { flags, toVariables, why } of optipodFlags) {
    const [name = ''] = flags.split(' ');
    const value = given[camelCase(name)];
    if (typeof value !== 'string' && typeof value !== 'boolean') continue;
    if (toVariables === undefined) {
      warnings.push(`${name} has no effect: ${why}`);
      continue;
    }
    const variables = toVariables(String(value));
    Object.assign(overlay, variables);
    for (const each of Object.keys(variables)) flagOf.set(each, name);
  }
  return { env: { ...env, ...overlay }, warnings, flagOf };
}

/** @throws ConfigError of `work`, with the flags in place of the variables they stand for: nobody has set those. */
export function namingFlags<Result>(flagOf: FlagOverlay['flagOf'], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      error.problems.map((problem) => problem.replace(/^SPOTALIS_\w+/, (name) => flagOf.get(name) ?? name)),
    );
  }
}

/** As commander names options: `--dry-run` is `dryRun`. */
function camelCase(name: string): string {
  return name.replace(/^--/, '').replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
