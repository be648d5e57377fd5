/** `stowage operator` as a process of its own, started as the container of its pod says, with a kubeconfig in place of the mounted account. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import type { Clock } from '../../src/lib/clock.ts';
import { findFreePorts } from '../controlplane/ports.ts';
import { type Ended, startProgram } from '../controlplane/process-group.ts';
import { launcher, plainEnvironment } from '../process/checkout.ts';
import { parseMetrics, type Sample } from './metrics-text.ts';
import type { PodCommand, ProcessPorts } from './release.ts';

export interface OperatorProcess {
  readonly name: string;
  readonly pid: number;
  readonly webhookPort: number;
  /** Path of its configuration file; what is written to it is followed. */
  readonly configPath: string;
  /** Its log, one object a record. @throws SyntaxError if a line is not JSON. */
  records(): LogRecord[];
  /** All it has said, records or not. */
  output(): string;
  metrics(): Promise<readonly Sample[]>;
  metricsText(): Promise<string>;
  health(path: '/healthz' | '/readyz'): Promise<{ readonly status: number; readonly body: string }>;
  signal(signal: NodeJS.Signals): void;
  isRunning(): boolean;
  /** How it ended; undefined while it runs. */
  ended(): Ended | undefined;
  /** SIGTERM, and SIGKILL if that is not heard. */
  stop(): Promise<void>;
}

export interface LogRecord {
  readonly level: string;
  readonly msg: string;
  readonly time: string;
  readonly [field: string]: unknown;
}

export interface OperatorProcessOptions {
  readonly name: string;
  /** The control plane's folder: log, pid and configuration go there, and what still runs in the end is ended with it. */
  readonly directory: string;
  readonly kubeconfigPath: string;
  readonly clock: Clock;
  /** What the container of its pod would be started with, given where this process may listen. */
  readonly pod: (ports: ProcessPorts) => PodCommand;
}

const STOP_GRACE_MILLIS = 20_000;

/** A pod with this configuration, no webhook, and no chart around it. */
export const podWith =
  (config: object) =>
  ({ metrics, health }: ProcessPorts): PodCommand => {
    const own = {
      webhook: { enabled: false },
      web: { enabled: false },
      observability: {
        metrics: { bindAddress: `127.0.0.1:${metrics}` },
        health: { bindAddress: `127.0.0.1:${health}` },
      },
    };
    return {
      configText: JSON.stringify({ ...config, ...own }, null, 2),
      args: ['operator', '--config=/etc/stowage/config.yaml'],
      env: {},
    };
  };

export async function startOperatorProcess(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const { name, directory, kubeconfigPath, clock, pod } = options;
  const [webhookPort = 0, metricsPort = 0, healthPort = 0] = await findFreePorts(3);
  const command = pod({ webhook: webhookPort, metrics: metricsPort, health: healthPort });
  const folder = join(directory, name);
  mkdirSync(folder, { recursive: true });
  const configPath = join(folder, 'config.yaml');
  writeFileSync(configPath, command.configText);
  const words = command.args.map((word) => word.replace('/etc/stowage/', `${folder}/`));
  const args = [launcher, ...words, '--kubeconfig', kubeconfigPath];
  const env = { ...plainEnvironment(), ...command.env };
  const program = await startProgram({ name, command: process.execPath, args, env }, directory, clock);
  const output = (): string => readFileSync(join(directory, `${name}.log`), 'utf8');
  const metricsText = async (): Promise<string> => (await fetchText(metricsPort, '/metrics')).body;
  return {
    name,
    pid: program.pid,
    webhookPort,
    configPath,
    records: () => parseLog(output()),
    output,
    metricsText,
    metrics: async () => parseMetrics(await metricsText()),
    health: (path) => fetchText(healthPort, path),
    signal: program.signal,
    isRunning: program.isRunning,
    ended: program.ended,
    stop: () => program.stop(STOP_GRACE_MILLIS),
  };
}

function parseLog(text: string): LogRecord[] {
  // The last line may be in the making.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

function fetchText(port: number, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}
