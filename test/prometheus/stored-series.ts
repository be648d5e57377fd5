/** Puts series of the past into the storage of a Prometheus that is yet to start, by its own tool: it answers as if it had scraped them. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { EpochMillis } from '../../src/lib/units.ts';
import { ensurePrometheus } from './find-prometheus.ts';

export interface StoredMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly series: readonly StoredSeries[];
}

export interface StoredSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: Iterable<readonly [at: EpochMillis, value: number]>;
}

const run = promisify(execFile);
const PIECE = 1 << 20;
const FILL_MILLIS = 120_000;

/**
 * @param dir the folder of the Prometheus that will be started: its storage must not be there yet.
 * @throws Error of `promtool`, which comes with Prometheus.
 */
export async function storeSeries(dir: string, metrics: readonly StoredMetric[]): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, 'series.txt');
  const file = await open(path, 'w');
  try {
    let piece = '';
    for (const line of openMetrics(metrics)) {
      piece += `${line}\n`;
      if (piece.length < PIECE) continue;
      await file.write(piece);
      piece = '';
    }
    await file.write(piece);
  } finally {
    await file.close();
  }
  const promtool = join(dirname(await ensurePrometheus()), 'promtool');
  // One block for all of it: blocks of two hours would be hundreds.
  const args = ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', '--max-block-duration=720h', path];
  await run(promtool, [...args, join(dir, 'data')], { timeout: FILL_MILLIS });
  rmSync(path);
}

/** OpenMetrics 1.0: all of a metric together, instants in seconds. */
function* openMetrics(metrics: readonly StoredMetric[]): Generator<string> {
  for (const { name, type, series } of metrics) {
    // The family of a counter is without its suffix.
    yield `# TYPE ${name.replace(/_total$/, '')} ${type}`;
    for (const { labels, samples } of series) {
      const text = Object.entries(labels).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      const head = `${name}{${text.join(',')}}`;
      for (const [at, value] of samples) yield `${head} ${value} ${at / 1000}`;
    }
  }
  yield '# EOF';
}
