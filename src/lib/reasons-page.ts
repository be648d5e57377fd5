/** The page docs/reasons.md, written from the table of reasons. */
import type { ReasonKind } from './reason-definition.ts';
import { reasonTable } from './reason-table.ts';
import { describeReason, isReasonName, type ReasonName, withPlurals } from './reasons.ts';

interface Section {
  readonly kind: ReasonKind;
  readonly title: string;
  readonly intro: string;
}

const sections: readonly Section[] = [
  {
    kind: 'event',
    title: 'Events',
    intro:
      'Something was done or seen. They are events on the workload; those that begin with `CPU`, and `AgentGone`, on the pod; those of a policy as a whole on the policy.',
  },
  {
    kind: 'block',
    title: 'Blocks',
    intro:
      'Something that was wanted is not done now. They are in `stowage explain`, in the metric `spotalis_disruptions_blocked_total` and, once per reason and hour, events on the workload.',
  },
  {
    kind: 'unsteered',
    title: 'Unsteered admissions',
    intro: 'A pod was admitted as it came. They are in the metric `spotalis_admissions_unsteered_total`.',
  },
  {
    kind: 'skip',
    title: 'Recommendations that are not applied',
    intro:
      'Rightsizing has advice, or none yet, and does not act on it. They are `status.workloads[].reason` of the policy, in `stowage explain`, and labels of `optipod_workloads_skipped`.',
  },
  { kind: 'condition', title: 'Conditions', intro: 'The state of an object, as reason of a condition in its status.' },
];

/** The whole page in Markdown. */
export function renderReasonsPage(): string {
  const parts = [
    '# Reasons',
    'Every reason Stowage gives for what it does and does not do. A part in braces stands for a value. By symptom, with what to do: [troubleshooting](troubleshooting.md), and for sizes [skip reasons](skip-reasons.md).',
    '<!-- Written by `npm run docs` from src/lib/reason-*.ts; edit those. -->',
    ...sections.flatMap(renderSection),
  ];
  return `${parts.join('\n\n')}\n`;
}

function renderSection({ kind, title, intro }: Section): string[] {
  const names = Object.keys(reasonTable)
    .filter(isReasonName)
    .filter((name) => describeReason(name).kinds.includes(kind));
  if (names.length === 0) return [];
  return [
    `## ${title}`,
    intro,
    ['| Reason | Event type | Message | What to do |', '|---|---|---|---|', ...names.sort().map(renderRow)].join('\n'),
  ];
}

function renderRow(name: ReasonName): string {
  const { eventType, message, advice } = describeReason(name);
  return `| \`${name}\` | ${eventType} | ${escapeCell(withPlurals(message))} | ${escapeCell(withPlurals(advice))} |`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
