/** A real Prometheus on the loopback address, for suites that scrape and query. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, createSystemClock } from '../../src/lib/clock.ts';
import { waitUntilReady } from '../controlplane/health.ts';
import { findFreePorts } from '../controlplane/ports.ts';
import { readLogTail, startProgram } from '../controlplane/process-group.ts';
import { ensurePrometheus } from './find-prometheus.ts';

export interface PrometheusOptions {
  /** As in prometheus.yml; JSON is YAML. */
  readonly scrapeConfigs: readonly object[];
  /** For data, configuration and log; the caller's to delete. */
  readonly dir: string;
  /** Left out: a free one. */
  readonly port?: number;
  /** Between two scrapes, e.g. `1s`. */
  readonly scrapeInterval?: string;
  /** More arguments, e.g. a path prefix. */
  readonly args?: readonly string[];
  readonly clock?: Clock;
}

export interface RunningPrometheus {
  readonly url: string;
  readonly pid: number;
  /** Ends it and waits until it has ended. */
  stop(): Promise<void>;
}

const START_MILLIS = 120_000;
const STOP_MILLIS = 10_000;

/** @throws Error with the end of its log when it does not become ready. */
export async function startPrometheus(options: PrometheusOptions): Promise<RunningPrometheus> {
  const { dir, scrapeConfigs, scrapeInterval = '1s', args = [], clock = createSystemClock() } = options;
  const command = await ensurePrometheus();
  const [port = 0] = options.port === undefined ? await findFreePorts(1) : [options.port];
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'prometheus.yml');
  const config = {
    global: { scrape_interval: scrapeInterval, scrape_timeout: scrapeInterval },
    scrape_configs: scrapeConfigs,
  };
  writeFileSync(file, JSON.stringify(config));
  const program = await startProgram(
    {
      name: 'prometheus',
      command,
      args: [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(dir, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--web.enable-lifecycle',
        ...args,
      ],
    },
    dir,
    clock,
  );
  const stop = (): Promise<void> => program.stop(STOP_MILLIS);
  try {
    await waitUntilReady(
      'prometheus',
      { url: `${url}/-/ready` },
      { clock, timeoutMillis: START_MILLIS, isAlive: () => program.isRunning() },
    );
  } catch (cause) {
    await stop();
    throw new Error(`Prometheus did not start:\n${readLogTail(dir, 'prometheus', 20)}`, { cause });
  }
  return { url, pid: program.pid, stop };
}
