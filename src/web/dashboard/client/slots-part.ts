/** The replicas of a workload: a picture by side and zone, and the same as a table with the reasons. */
import { ascending } from '../../../lib/ascending.ts';
import type { Side } from '../answers.ts';
import type { SlotTold } from '../workload-answer.ts';
import { dataTable, numbers, scrolling } from './data-table.ts';
import { h } from './dom.ts';
import { count, counted } from './format.ts';
import { badge, type Tone } from './parts.ts';

const sides: readonly Side[] = ['spot', 'on-demand', 'unknown'];
const NO_NODE = 'no node yet';
const NO_ZONE = 'zone not known';
/** Beyond, chips would be too small to be told apart; the table below has all pods. */
const MAX_CHIPS = 300;

const stateTones: Readonly<Record<SlotTold['state'], Tone>> = {
  settled: 'good',
  'wrong-side': 'warn',
  unknown: 'warn',
  surplus: 'muted',
  terminating: 'muted',
  ended: 'muted',
};

/** Zones are columns, sides rows, each pod a chip with its slot. */
export function slotPicture(slots: readonly SlotTold[]): HTMLElement {
  const placeOf = ({ node, zone }: SlotTold): string => (node === undefined ? NO_NODE : (zone ?? NO_ZONE));
  const shown = slots.slice(0, MAX_CHIPS);
  const zones = [...new Set(shown.map(placeOf))].sort((a, b) => rank(a) - rank(b) || ascending(a, b));
  const rows = sides
    .filter((side) => shown.some(({ actual }) => actual === side))
    .map((side) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, badge(side, side)),
        zones.map((zone) =>
          h('td', {}, shown.filter((slot) => slot.actual === side && placeOf(slot) === zone).map(chip)),
        ),
      ),
    );
  const heads = zones.map((zone) => h('th', { scope: 'col' }, zone));
  return scrolling(
    'Replicas by side and zone',
    h('table', { class: 'slots' }, h('thead', {}, h('tr', {}, h('td'), heads)), h('tbody', {}, rows)),
    slots.length > MAX_CHIPS && h('p', { class: 'muted' }, cutText(slots.length)),
  );
}

/** Of a picture that has not all pods: it must not pass for the whole. */
export const cutText = (total: number): string =>
  `The first ${count(MAX_CHIPS)} of ${counted(total, 'pod')}; the table has all of them.`;

const rank = (zone: string): number => (zone === NO_NODE ? 2 : zone === NO_ZONE ? 1 : 0);

function chip({ slot, pod, actual, state, ready, note }: SlotTold): HTMLElement {
  const label = `${pod}: ${slot === undefined ? 'no slot' : `slot ${slot}`}, ${state}${ready ? '' : ', not ready'}. ${note}`;
  return h(
    'span',
    { class: `chip ${actual} ${state} ${ready ? '' : 'unready'}`, role: 'img', 'aria-label': label, title: label },
    slot ?? '·',
  );
}

export function slotTable(slots: readonly SlotTold[]): HTMLElement {
  const rows = slots.map(({ slot, pod, wanted, actual, node, zone, ready, state, note }) =>
    h(
      'tr',
      {},
      h('td', { class: 'number' }, slot ?? '-'),
      h('th', { scope: 'row' }, pod),
      h('td', {}, wanted === undefined ? '-' : badge(wanted, wanted)),
      h('td', {}, badge(actual, actual)),
      h('td', {}, node ?? '-', zone !== undefined && h('span', { class: 'kind' }, zone)),
      h('td', {}, ready ? 'yes' : 'no'),
      h('td', {}, badge(state, stateTones[state]), ' ', note),
    ),
  );
  return h(
    'details',
    { 'data-key': 'pods', open: slots.length <= 12 },
    h('summary', {}, 'Pod by pod'),
    dataTable('Pods', [numbers('Slot'), 'Pod', 'Wanted', 'Actual', 'Node', 'Ready', 'Why'], rows),
  );
}
