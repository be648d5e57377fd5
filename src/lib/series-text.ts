/** Series of a metric in the Prometheus text format, version 0.0.4. */

/**
 * One line a series, each with its line break in front: they follow the lines HELP and TYPE. Values that are no number
 * are left out.
 */
export function* seriesText(
  name: string,
  series: Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>,
): Generator<string> {
  for (const [labels, value] of series) {
    if (Number.isNaN(value)) continue;
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    yield `\n${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${valueText(value)}`;
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
