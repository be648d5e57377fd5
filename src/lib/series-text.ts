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
    // Joined: there may be a line of each pod, and a text that is added to is many until somebody reads it.
    const parts = ['\n', name];
    let before = '{';
    for (const label in labels) {
      parts.push(before, label, '="', escaped(labels[label] ?? ''), '"');
      before = ',';
    }
    parts.push(before === ',' ? '} ' : ' ', valueText(value));
    yield parts.join('');
  }
}

function escaped(text: string): string {
  if (!/[\\\n"]/.test(text)) return text;
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
