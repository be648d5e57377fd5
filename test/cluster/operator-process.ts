/** `stowage operator` as a process of its own, with a configuration file and a kubeconfig, as a Deployment would start it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import type { Clock } from '../../src/lib/clock.ts';
import { findFreePorts } from '../controlplane/ports.ts';
import { type Ended, startProgram } from '../controlplane/process-group.ts';
import { launcher, plainEnvironment } from '../process/checkout.ts';
import { parseMetrics, type Sample } from './metrics-text.ts';

export interface OperatorProcess {
  readonly name: string;
  readonly pid: number;
  readonly webhookPort: number;
  /** Path of its configuration file; what is written to it is followed. */
  readonly configPath: string;
  /** Its log, one object a record. @throws SyntaxError if a line is not JSON. */
  records(): LogRecord[];
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
  readonly certDirectory: string;
  readonly clock: Clock;
  /** Besides the ports and the certificate: top-level sections of the configuration file. */
  readonly config?: Readonly<Record<string, unknown>>;
}

const STOP_GRACE_MILLIS = 20_000;

export async function startOperatorProcess(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const { name, directory, kubeconfigPath, certDirectory, clock, config = {} } = options;
  const [webhookPort = 0, metricsPort = 0, healthPort = 0] = await findFreePorts(3);
  const configPath = join(directory, `${name}-config.yaml`);
  const sections = {
    ...config,
    webhook: Object.assign({ port: webhookPort, certDir: certDirectory }, config['webhook']),
    observability: {
      metrics: { bindAddress: `127.0.0.1:${metricsPort}` },
      health: { bindAddress: `127.0.0.1:${healthPort}` },
    },
  };
  writeFileSync(configPath, JSON.stringify(sections, null, 2));
  const args = [launcher, 'operator', '--config', configPath, '--kubeconfig', kubeconfigPath];
  // As the Deployment sets it: where the other replicas find this one's webhook.
  const env = { ...plainEnvironment(), POD_IP: '127.0.0.1' };
  const program = await startProgram({ name, command: process.execPath, args, env }, directory, clock);
  const metricsText = async (): Promise<string> => (await fetchText(metricsPort, '/metrics')).body;
  return {
    name,
    pid: program.pid,
    webhookPort,
    configPath,
    records: () => parseLog(readFileSync(join(directory, `${name}.log`), 'utf8')),
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
