/** What a reader must know about the input to judge the result: on standard error, so that output stays clean for pipes. */
import { printable } from '../../lib/printable.ts';
import { type CliContext, printNotes } from '../cli-context.ts';
import type { LoadedInput } from './load-input.ts';
import { DUMP_COMMAND } from './missing-data.ts';

/** More problems than this are counted, not listed. */
const MAX_PROBLEMS = 20;

export function printInputNotes(
  context: CliContext,
  { origin, problems, repeated, missing, ignored }: LoadedInput,
): void {
  const { style } = context;
  const lines = problems.slice(0, MAX_PROBLEMS).map((problem) => style('warning', `warning: ${printable(problem)}`));
  if (problems.length > MAX_PROBLEMS)
    lines.push(style('warning', `warning: ${problems.length - MAX_PROBLEMS} more like these are not listed`));
  if (repeated !== undefined) lines.push(style('muted', `note: ${printable(repeated)}`));
  for (const { data, meaning } of missing) {
    const fact = origin === 'files' ? `no ${data} in the input` : `${data} may not be read with these credentials`;
    lines.push(style('muted', `note: ${fact}: ${meaning}`));
  }
  if (origin === 'files' && missing.length > 0)
    lines.push(style('muted', `note: a dump with everything: ${DUMP_COMMAND}`));
  if (ignored.size > 0) lines.push(style('muted', `note: ignored ${describeIgnored(ignored)}`));
  printNotes(context, lines);
}

/** `29 objects of kinds without replicas to place: 17 Service, 11 ServiceAccount, 1 StorageClass`. */
function describeIgnored(ignored: ReadonlyMap<string, number>): string {
  const total = [...ignored.values()].reduce((sum, count) => sum + count, 0);
  const byCount = [...ignored].sort(([, a], [, b]) => b - a).map(([kind, count]) => `${count} ${printable(kind)}`);
  return `${total} ${total === 1 ? 'object' : 'objects'} of other kinds: ${byCount.join(', ')}`;
}
