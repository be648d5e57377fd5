/** A real Prometheus that scrapes pods at the port they call `metrics`, and what it says. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../../../src/api/core.ts';
import { type RunningPrometheus, startPrometheus } from '../../prometheus/prometheus.ts';

export interface Scraping {
  /** Value of an instant query by the label `pod`. */
  ask(query: string): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** @throws Error for a pod without an address or such a port. */
function targetOf({ metadata, spec, status }: Pod): object {
  const ports = spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
  const port = ports.find(({ name }) => name === 'metrics')?.containerPort;
  if (port === undefined || status?.podIP === undefined) throw new Error(`${metadata?.name} cannot be scraped`);
  return { targets: [`${status.podIP}:${port}`], labels: { pod: metadata?.name ?? '' } };
}

export interface ScrapeOptions {
  readonly overHttp: readonly Pod[];
  readonly overHttps: readonly Pod[];
  /** Whom the latter's certificate must be of, and what it must name. */
  readonly authorityPem: string;
  readonly serverName: string;
  /** The caller's to delete. */
  readonly dir: string;
}

export async function scrape(options: ScrapeOptions): Promise<Scraping> {
  const { overHttp, overHttps, authorityPem, serverName, dir } = options;
  mkdirSync(dir, { recursive: true });
  const authorityFile = join(dir, 'ca.crt');
  writeFileSync(authorityFile, authorityPem);
  const prometheus: RunningPrometheus = await startPrometheus({
    scrapeConfigs: [
      { job_name: 'http', honor_labels: false, static_configs: overHttp.map(targetOf) },
      {
        job_name: 'https',
        honor_labels: false,
        scheme: 'https',
        tls_config: { ca_file: authorityFile, server_name: serverName },
        static_configs: overHttps.map(targetOf),
      },
    ],
    scrapeInterval: '1s',
    dir,
  });
  return {
    async ask(query) {
      const response = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`);
      const { data }: { readonly data: { readonly result: readonly Sample[] } } = JSON.parse(await response.text());
      return Object.fromEntries(data.result.map(({ metric, value }) => [metric['pod'] ?? '', Number(value[1])]));
    },
    stop: () => prometheus.stop(),
  };
}
