/** The usage that advice was made from, as columns, with what is requested, advised and allowed beside it. */
import type { UsageTold } from '../workload-answer.ts';
import { dataTable, numbers } from './data-table.ts';
import { h } from './dom.ts';
import { ago, shareText } from './format.ts';
import { s, stretched } from './svg.ts';

type Format = (amount: number) => string;

const HEIGHT = 96;
/** Sources are asked every few minutes: what is older is told with its age. */
const FRESH_MILLIS = 15 * 60_000;
/** Room above the highest column. */
const HEAD = 8;

const sources: Readonly<Record<UsageTold['of'], { readonly what: string; readonly share: string }>> = {
  'last-day': { what: 'All samples of the last day or so', share: 'of samples' },
  'all-fading': { what: 'All samples there were, older ones fading', share: 'of samples' },
  peaks: { what: 'The highest use in each six hours', share: 'of these peaks' },
};

const marks = [
  ['request', 'Requested'],
  ['advised', 'Advised'],
  ['limit', 'Limit'],
] as const;

/** @param title such as `CPU used by app`; no two of a page are alike. @param now of the operator's clock. */
export function usagePicture(title: string, usage: UsageTold, format: Format, now: number): HTMLElement {
  const { end, columns } = usage;
  const known = marks.flatMap(([look, name]) => {
    const value = usage[look];
    return value === undefined ? [] : [{ look, name, value }];
  });
  const most = Math.max(...columns);
  const width = end / columns.length;
  const bars = columns.map((share, column) => {
    const height = share > 0 ? Math.max(1, ((HEIGHT - HEAD) * share) / most) : 0;
    return s(
      'rect',
      { class: 'column', x: column + 0.06, width: 0.88, y: HEIGHT - height, height },
      s('title', {}, `${rangeText(column, width, format)}: ${shareText(share)}`),
    );
  });
  const lines = known
    .filter(({ value }) => value <= end)
    .map(({ look, value }) => {
      const x = (value / end) * columns.length;
      return s('line', { class: `mark ${look}`, x1: x, x2: x, y1: 0, y2: HEIGHT });
    });
  return h(
    'figure',
    { class: 'usage' },
    h('h3', {}, title),
    stretched(columns.length, HEIGHT, 'columns-picture', ...bars, ...lines),
    h('div', { class: 'axis', 'aria-hidden': 'true' }, h('span', {}, '0'), h('span', {}, format(end))),
    h(
      'ul',
      { class: 'legend' },
      known.map(({ look, name, value }) =>
        h(
          'li',
          {},
          h('span', { class: `key ${look}` }),
          `${name} ${format(value)}`,
          value > end && h('span', { class: 'muted' }, ' (beyond the picture)'),
        ),
      ),
      usage.request === undefined && h('li', {}, 'No request'),
      usage.limit === undefined && h('li', {}, 'No limit'),
    ),
    h('figcaption', { class: 'muted' }, usageText(usage, format), staleText(usage, now)),
    h(
      'details',
      { 'data-key': `usage ${title}` },
      h('summary', {}, `${title} in figures`),
      dataTable(`${title} in figures`, ['Use', numbers(`Share ${sources[usage.of].share}`)], figureRows(usage, format)),
    ),
  );
}

/** A picture of usage looks the same whether or not there is news: what has not been heard of for a while says so. */
export function staleText({ until }: Pick<UsageTold, 'until'>, now: number): string {
  return until === undefined || now - until <= FRESH_MILLIS ? '' : ` The last sample came ${ago(until, now)}.`;
}

/** What the picture shows, in words. */
export function usageText({ of, median, p90, highest, beyond, end }: UsageTold, format: Format): string {
  const { what, share } = sources[of];
  if (format(median) === format(highest)) return `${what}: about ${format(highest)}, all of them.`;
  const rare = beyond > 0 ? ` ${shareText(beyond)} ${share} lie above ${format(end)}, where the picture ends.` : '';
  return `${what}: half of them at most ${format(median)}, nine of ten at most ${format(p90)}, none above ${format(highest)}.${rare}`;
}

function figureRows({ columns, end, beyond }: UsageTold, format: Format): HTMLElement[] {
  const width = end / columns.length;
  const rows = columns.flatMap((share, column) =>
    share > 0 ? [[rangeText(column, width, format), share] as const] : [],
  );
  if (beyond > 0) rows.push([`above ${format(end)}`, beyond]);
  return rows.map(([range, share]) =>
    h('tr', {}, h('th', { scope: 'row' }, range), h('td', { class: 'number' }, shareText(share))),
  );
}

const rangeText = (column: number, width: number, format: Format): string =>
  `${format(column * width)} to ${format((column + 1) * width)}`;
