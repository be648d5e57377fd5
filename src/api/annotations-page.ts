/** The page docs/annotations.md, written from the catalogue of labels and annotations. */
import { type KeyDescription, placementKeyDescriptions } from './annotations.ts';

/** The whole page in Markdown. */
export function renderAnnotationsPage(): string {
  const written = (byUser: boolean): string[] =>
    placementKeyDescriptions.filter(({ writtenBy }) => (writtenBy === 'user') === byUser).flatMap(renderKey);
  const parts = [
    '# Labels and annotations of placement',
    '<!-- Written by `npm run docs` from src/api/annotations.ts; edit that. -->',
    'A value that is not accepted is never guessed at: the workload is left alone, its pods are admitted as they come, and a Warning event on it names the key, the value and what is accepted. Namespace annotations are defaults for the workloads in it; what stands on the workload wins, key by key. The schedule and the duration count as one key.',
    'Those of the other engines: [rightsizing](rightsizing.md#what-is-written-and-what-never-is), [allocation](allocation.md#opt-in-opt-out).',
    '## Yours to write',
    ...written(true),
    '## Written by Stowage on pods',
    ...written(false),
  ];
  return `${parts.join('\n\n')}\n`;
}

function renderKey({ key, form, where, meaning, accepted, absent }: KeyDescription): string[] {
  return [
    `### \`${key}\``,
    meaning,
    [`- ${form} on the ${where}`, `- accepted: ${accepted}`, `- absent: ${absent}`].join('\n'),
  ];
}
