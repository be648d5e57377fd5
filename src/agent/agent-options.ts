/** The options of `stowage agent`: one table for the short way into the program and for the command's help. */
import { hostname } from 'node:os';
import type { LogFormat, LogLevel } from '../lib/log.ts';

export interface AgentCommandOptions {
  readonly nodeName: string;
  readonly configNamespace: string;
  readonly cgroupRoot: string;
  readonly procRoot: string;
  readonly bind: { readonly host: string | undefined; readonly port: number };
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly isObserving: boolean;
  readonly serviceAccount: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

interface OptionRow {
  readonly value?: string;
  readonly description: string;
  /** Used where the option is not given. */
  readonly env?: string;
  readonly fallback?: string;
}

/** By name as written after `--`. */
export const agentOptions = {
  'node-name': {
    value: 'name',
    env: 'NODE_NAME',
    description: 'the node this runs on (default: $NODE_NAME, then the host’s name)',
  },
  'config-namespace': {
    value: 'name',
    env: 'POD_NAMESPACE',
    fallback: 'mbcas-system',
    description:
      'namespace of the ConfigMaps mbcas-agent-config and mbcas-demand-queries (default: $POD_NAMESPACE, then mbcas-system)',
  },
  'cgroup-root': {
    value: 'folder',
    fallback: '/sys/fs/cgroup',
    description: 'where the host’s control groups are mounted',
  },
  'proc-root': { value: 'folder', fallback: '/proc', description: 'where the host’s /proc is mounted' },
  'bind-address': {
    value: 'address',
    fallback: ':8082',
    description: 'where /metrics, /healthz and /readyz are served; port 0 picks a free one',
  },
  'log-level': { value: 'level', env: 'LOG_LEVEL', fallback: 'info', description: 'debug, info, warn or error' },
  'log-format': { value: 'format', env: 'LOG_FORMAT', fallback: 'json', description: 'json or text' },
  observe: { description: 'write nothing, whatever the configuration says' },
  'service-account': {
    value: 'folder',
    description: 'folder with token, ca.crt and namespace, in place of the pod’s own',
  },
} as const satisfies Record<string, OptionRow>;

/** As written after `--`. */
export type AgentOptionName = keyof typeof agentOptions;
export const agentOptionNames = Object.keys(agentOptions).filter(
  (name): name is AgentOptionName => name in agentOptions,
);

/** What was given: texts by option, `true` for flags. */
export type GivenOptions = Readonly<Partial<Record<AgentOptionName | 'kubeconfig' | 'context', string | boolean>>>;

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const formats: readonly LogFormat[] = ['json', 'text'];

/** @returns the first mistake as a sentence. */
export function readAgentOptions(
  given: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
): AgentCommandOptions | string {
  const text = (name: AgentOptionName): string | undefined => {
    const { env: variable, fallback }: OptionRow = agentOptions[name];
    const fromEnv = variable === undefined ? undefined : env[variable] || undefined;
    return textOf(given[name]) ?? fromEnv ?? fallback;
  };
  const mistake = (name: AgentOptionName, value: string | undefined, accepted: string): string => {
    const { env: variable }: OptionRow = agentOptions[name];
    const isFromEnv = textOf(given[name]) === undefined && variable !== undefined && env[variable] === value;
    return `${isFromEnv ? variable : `--${name}`}: ${JSON.stringify(value)} is not ${accepted}`;
  };
  const address = text('bind-address') ?? '';
  const bind = bindOf(address);
  if (bind === undefined) return mistake('bind-address', address, '":PORT" or "HOST:PORT" with a port from 0 to 65535');
  const level = text('log-level');
  const logLevel = levels.find((each) => each === level);
  if (logLevel === undefined) return mistake('log-level', level, `one of ${levels.join(', ')}`);
  const format = text('log-format');
  const logFormat = formats.find((each) => each === format);
  if (logFormat === undefined) return mistake('log-format', format, `one of ${formats.join(', ')}`);
  const nodeName = text('node-name') ?? hostname();
  if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(nodeName)) {
    const accepted = 'the name of a node (lower-case letters, digits, dashes, dots); set NODE_NAME from spec.nodeName';
    return mistake('node-name', nodeName, accepted);
  }
  return {
    nodeName,
    configNamespace: text('config-namespace') ?? '',
    cgroupRoot: text('cgroup-root') ?? '',
    procRoot: text('proc-root') ?? '',
    bind,
    logLevel,
    logFormat,
    isObserving: given.observe === true,
    serviceAccount: text('service-account'),
    kubeconfig: textOf(given.kubeconfig),
    context: textOf(given.context),
  };
}

const textOf = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Undefined for what is no address with a port. */
function bindOf(text: string): AgentCommandOptions['bind'] | undefined {
  const [, bracketed, plain, digits = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) return undefined;
  return { host: bracketed ?? (plain === '' ? undefined : plain), port };
}
