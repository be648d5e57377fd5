/** How the pods of a workload share the CPU of their nodes: what each is owed, could use, uses and gets. */
import type { AllocatedPodTold } from '../workload-answer.ts';
import { dataTable } from './data-table.ts';
import { h } from './dom.ts';
import { cpu } from './format.ts';
import { badge, bar, card } from './parts.ts';

const MAX_PODS = 60;

/** All bars to one scale, so that pods can be compared: the most that any of them is given, wants or uses. */
export function allocationPart(pods: readonly AllocatedPodTold[]): HTMLElement {
  const shown = pods.slice(0, MAX_PODS);
  const widest = Math.max(
    ...shown.flatMap(({ share, want, usage }) => [share, want ?? '0', usage ?? '0'].map(millisOf)),
    1,
  );
  return card(
    'Share of CPU',
    dataTable(
      'Shares by pod',
      ['Pod', 'Share', 'Uses', 'Owed', 'Could use', 'Ceiling', 'Price', 'State'],
      shown.map((pod) => rowOf(pod, widest)),
    ),
    pods.length > MAX_PODS && h('p', { class: 'muted' }, `${pods.length - MAX_PODS} more pods are not shown.`),
  );
}

function rowOf(pod: AllocatedPodTold, widest: number): HTMLElement {
  const { share, usage, claim, want, ceiling, shadowPrice, mode, phase, reason, message, clamps, node, agent } = pod;
  const label = `is given ${share}, uses ${usage ?? 'an unknown amount'}`;
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, pod.pod, h('span', { class: 'kind' }, node, agent !== 'alive' && ` (agent ${agent})`)),
    h(
      'td',
      {},
      h(
        'span',
        { class: 'with-bar' },
        bar([{ size: millisOf(share), look: 'share', label }], widest, label),
        h('span', {}, cpu(millisOf(share))),
      ),
      clamps.length > 0 &&
        h(
          'details',
          { 'data-key': `clamps ${pod.pod}` },
          h('summary', {}, 'bounded'),
          h(
            'ul',
            { class: 'notes' },
            clamps.map((clamp) => h('li', {}, clamp)),
          ),
        ),
    ),
    [usage, claim, want, ceiling].map((value) => h('td', {}, value === undefined ? '-' : cpu(millisOf(value)))),
    h(
      'td',
      {},
      shadowPrice === undefined ? '-' : shadowPrice.toFixed(2),
      mode !== undefined && mode !== 'uncongested' && [' ', badge(mode, mode === 'overloaded' ? 'bad' : 'warn')],
    ),
    h(
      'td',
      {},
      badge(
        reason === '' ? phase : reason,
        phase === 'Applied' ? 'good' : phase === 'Failed' ? 'bad' : 'warn',
        message,
      ),
    ),
  );
}

/** Of a quantity of CPU as the operator writes it: `450m`, `1.5`, `2`, `1500000n`. */
export function millisOf(quantity: string): number {
  const [, digits = '', unit = ''] = /^([\d.]+)(n|u|m|k)?$/.exec(quantity) ?? [];
  const factor = { n: 1e-6, u: 1e-3, m: 1, k: 1e6 }[unit] ?? 1000;
  return digits === '' ? 0 : Number(digits) * factor;
}
