/** Pieces that several pages are made of. */
import type { BlockTold, DecisionTold, Side, SideCountsTold } from '../answers.ts';
import { type Child, h } from './dom.ts';
import { ago, count, counted, isoTime, timeOf } from './format.ts';
import { linkTo } from './route.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'muted' | Side;

/** The word says it; the colour repeats it. */
export const badge = (text: string, tone: Tone, title?: string): HTMLElement =>
  h('span', { class: `badge ${tone}`, title }, text);

export function card(title: string, ...children: readonly Child[]): HTMLElement {
  return h('section', { class: 'card' }, h('h2', {}, title), ...children);
}

export const empty = (text: string): HTMLElement => h('p', { class: 'empty' }, text);

/** A figure with its name, and a line of more about it. */
export function tile(name: string, value: Child, more: Child, tone?: Tone): HTMLElement {
  return h(
    'div',
    { class: `tile ${tone ?? ''}` },
    h('dt', {}, name),
    h('dd', {}, h('strong', {}, value), h('span', {}, more)),
  );
}

export interface Segment {
  readonly size: number;
  readonly look: string;
  readonly label: string;
}

/**
 * A bar of segments beside each other. @param whole what the full width stands for. @param label all of it in words.
 */
export function bar(
  segments: readonly Segment[],
  whole: number,
  label: string,
  size: 'thin' | 'thick' = 'thin',
): HTMLElement {
  const parts = segments
    .filter((segment) => segment.size > 0)
    .map((segment) => {
      const part = h('span', { class: `seg ${segment.look}`, title: segment.label });
      // Through the object model: a style attribute would not pass the content security policy.
      part.style.width = `${whole > 0 ? Math.min(100, (100 * segment.size) / whole) : 0}%`;
      return part;
    });
  return h('span', { class: `bar ${size}`, role: 'img', 'aria-label': label }, parts);
}

/** How many replicas are on which side, as a bar with its figures. */
export function mixBar(actual: SideCountsTold & { readonly unknown: number }, pending = 0): HTMLElement {
  const { spot, onDemand, unknown } = actual;
  const known = Math.max(0, spot + onDemand + unknown);
  const label = [
    `${spot} on spot`,
    `${onDemand} on on-demand`,
    ...(unknown > 0 ? [`${unknown} on an unknown side`] : []),
    ...(pending > 0 ? [`${pending} without a node`] : []),
  ].join(', ');
  const segments = [
    { size: spot, look: 'spot', label: `${spot} on spot` },
    { size: onDemand, look: 'on-demand', label: `${onDemand} on on-demand` },
    { size: unknown, look: 'unknown', label: `${unknown} on an unknown side` },
  ];
  return bar(segments, known, label);
}

/** `Deployment/shop/web` as a link to its page. */
export function workloadLink(key: string, label?: string): HTMLAnchorElement {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  return h(
    'a',
    { href: linkTo('workload', key), title: `${kind} ${namespace}/${name}`, 'data-key': `link ${key}` },
    label ?? `${namespace}/${name}`,
  );
}

export const timeAgo = (at: number, now: number): HTMLElement =>
  h('time', { datetime: isoTime(at), title: new Date(at).toLocaleString() }, ago(at, now));

/** Planning thousands takes a while, and is kept for a while: what is not of now says so. */
export function scanNote({ at, scannedAt }: { readonly at: number; readonly scannedAt: number }): Child {
  return at - scannedAt > 10_000 && h('p', { class: 'muted' }, `Workloads were looked at ${ago(scannedAt, at)}.`);
}

export function blockBox({ reason, message, advice, retryAt }: BlockTold, ...more: readonly Child[]): HTMLElement {
  return h(
    'div',
    { class: 'notice warn' },
    h('p', {}, badge(reason, 'warn'), ' ', message),
    h('p', { class: 'muted' }, advice, retryAt !== undefined && ` Next try ${new Date(retryAt).toLocaleString()}.`),
    ...more,
  );
}

const kindTones: Readonly<Record<DecisionTold['kind'], Tone>> = {
  seen: 'muted',
  decided: 'info',
  blocked: 'warn',
  done: 'good',
  failed: 'bad',
};

export const kindBadge = (kind: DecisionTold['kind']): HTMLElement => badge(kind, kindTones[kind]);

/** @param now of the operator's clock. */
export function decisionItem(decision: DecisionTold, now: number): HTMLElement {
  const { at, workload, kind, message, pod, count: times } = decision;
  return h(
    'li',
    { class: `decision ${now - at < 5000 ? 'fresh' : ''}` },
    h('time', { datetime: isoTime(at), title: new Date(at).toLocaleString() }, timeOf(at)),
    kindBadge(kind),
    h(
      'span',
      { class: 'what' },
      workloadLink(workload),
      ' ',
      message,
      pod !== undefined && !message.includes(pod) && ` (pod ${pod})`,
    ),
    times > 1 && h('span', { class: 'muted' }, `${count(times)} times`),
  );
}

/** The pages of a list. @param go asks for one. */
export function pager(
  at: { readonly page: number; readonly pageSize: number; readonly matching: number },
  noun: string,
  go: (page: number) => void,
): HTMLElement {
  const { page, pageSize, matching } = at;
  const last = Math.max(1, Math.ceil(matching / pageSize));
  const first = matching === 0 ? 0 : (page - 1) * pageSize + 1;
  const button = (label: string, to: number, isOff: boolean): HTMLElement =>
    h('button', { type: 'button', disabled: isOff, 'data-key': `pager ${label}`, onclick: () => go(to) }, label);
  return h(
    'nav',
    { class: 'pager', 'aria-label': `Pages of ${noun}s` },
    h(
      'span',
      { class: 'muted' },
      `${count(first)} to ${count(Math.min(matching, page * pageSize))} of ${counted(matching, noun)}`,
    ),
    last > 1 && [
      button('First', 1, page === 1),
      button('Previous', page - 1, page === 1),
      h('span', {}, `Page ${count(page)} of ${count(last)}`),
      button('Next', page + 1, page === last),
      button('Last', last, page === last),
    ],
  );
}
