/** CPU that pods were given and used in the last hour, a small picture each, all to one scale. */
import { areaPath, linePath, type PlotPoint } from '../../../lib/svg-path.ts';
import type { PodSharesTold, ShareHistoryTold, Steps } from '../workload-answer.ts';
import { type Child, h } from './dom.ts';
import { cores, counted, cpu, timeOf } from './format.ts';
import { card } from './parts.ts';
import { s, stretched } from './svg.ts';

const HOUR = 3_600_000;
/** Less would make a picture of nothing. */
const LEAST_SPAN = 120_000;
const WIDTH = 360;
const HEIGHT = 56;
const HEAD = 4;

export function sharesPart({ since, pods, omitted }: ShareHistoryTold, now: number): HTMLElement {
  const from = beginOf(pods, now);
  const most = Math.max(1, ...pods.flatMap(({ given, used }) => [...given, ...used].map(([, millis]) => millis)));
  return card(
    'CPU over time',
    h(
      'ul',
      { class: 'legend' },
      h('li', {}, h('span', { class: 'key given' }), 'given'),
      h('li', {}, h('span', { class: 'key used' }), 'used'),
      h('li', {}, h('span', { class: 'key unheard' }), 'use not known'),
      h('li', { class: 'muted' }, `each picture from 0 to ${cores(most)}, from ${timeOf(from)} to ${timeOf(now)}`),
    ),
    h(
      'ul',
      { class: 'shares' },
      pods.map((pod) => podPicture(pod, { from, now, most })),
    ),
    h(
      'p',
      { class: 'muted' },
      `Use is known since ${timeOf(since)}, when this page was first opened, and followed for an hour after it is closed; `,
      'it is what the agent of the node wrote last. What was given before is from the journal.',
      omitted > 0 && ` ${counted(omitted, 'more pod')} ${omitted === 1 ? 'is' : 'are'} not followed.`,
    ),
  );
}

interface Frame {
  readonly from: number;
  readonly now: number;
  readonly most: number;
}

/** An hour ago, or what is known first. */
export function beginOf(pods: readonly Pick<PodSharesTold, 'given' | 'used'>[], now: number): number {
  const first = Math.min(...pods.flatMap(({ given, used }) => [given[0]?.[0] ?? now, used[0]?.[0] ?? now]));
  return Math.min(now - LEAST_SPAN, Math.max(now - HOUR, first));
}

function podPicture({ pod, given, used, endedAt }: PodSharesTold, frame: Frame): HTMLElement {
  const end = endedAt ?? frame.now;
  return h(
    'li',
    {},
    h('h3', {}, pod, endedAt !== undefined && h('span', { class: 'kind' }, `gone since ${timeOf(endedAt)}`)),
    stretched(
      WIDTH,
      HEIGHT,
      'shares-picture',
      s('rect', { class: 'unheard', width: xOf(used[0]?.[0] ?? end, frame).toFixed(1), height: HEIGHT }),
      s('path', { class: 'used', d: areaOf(used, end, frame) }),
      s('path', { class: 'given', d: lineOf(given, end, frame) }),
    ),
    h('p', { class: 'muted' }, rangeText('Given', given), '; ', rangeText('used', used), '.'),
  );
}

/** `Given 100m to 220m, last 150m`. */
export function rangeText(word: string, steps: Steps): Child {
  const values = steps.map(([, millis]) => millis);
  const last = values.at(-1);
  if (last === undefined) return `${word} is not known`;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? `${word} ${cpu(last)} all along` : `${word} ${cpu(least)} to ${cpu(most)}, last ${cpu(last)}`;
}

/** Each value holds until the next. */
export function lineOf(steps: Steps, end: number, frame: Frame): string {
  return linePath(corners(steps, end, frame));
}

function areaOf(steps: Steps, end: number, frame: Frame): string {
  const line = corners(steps, end, frame);
  return areaPath(
    line,
    line.map(([x]) => [x, HEIGHT]),
  );
}

const xOf = (at: number, { from, now }: Frame): number => (WIDTH * (Math.max(at, from) - from)) / (now - from);

function corners(steps: Steps, end: number, frame: Frame): PlotPoint[] {
  const y = (millis: number): number => HEIGHT - ((HEIGHT - HEAD) * millis) / frame.most;
  return steps.flatMap(([at, millis], index): PlotPoint[] => {
    const until = steps[index + 1]?.[0] ?? Math.max(at, end);
    return [
      [xOf(at, frame), y(millis)],
      [xOf(until, frame), y(millis)],
    ];
  });
}
