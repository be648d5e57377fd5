/** Writes the Prometheus text format as a kubelet does: help, type, labels in order, a timestamp on each sample. */
import { ascending } from '../../lib/ascending.ts';
import type { EpochMillis } from '../../lib/units.ts';

export type Labels = Readonly<Record<string, string>>;

/** Of a metric: labels and value, without the timestamp that all share. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface MetricsText {
  /** Adds a metric; without samples it is left out, as the kubelet leaves it out. */
  add(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): void;
  toString(): string;
}

/** @param now the timestamp of all samples; undefined for none. */
export function createMetricsText(now: EpochMillis | undefined): MetricsText {
  const lines: string[] = [];
  const time = now === undefined ? '' : ` ${Math.floor(now)}`;
  return {
    add(name, type, help, samples) {
      if (samples.length === 0) return;
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const { labels, value } of samples) lines.push(`${name}${labelText(labels)} ${value}${time}`);
    },
    toString: () => (lines.length === 0 ? '' : `${lines.join('\n')}\n`),
  };
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels)
    .sort(([left], [right]) => ascending(left, right))
    .map(([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
