/** The head of a table whose columns sort it. */
import { h } from './dom.ts';

export interface HeadColumn {
  readonly name: string;
  /** How the operator calls the order; left out, the column sorts nothing. */
  readonly sort?: string;
  readonly isNumber?: boolean;
}

/** Another click turns the order around. Numbers begin with the largest. */
export function sortableHead(
  columns: readonly HeadColumn[],
  params: URLSearchParams,
  change: (changes: Readonly<Record<string, string>>) => void,
): HTMLElement {
  const sorted = params.get('sort');
  const isDescending = params.get('order') === 'desc';
  return h(
    'tr',
    {},
    columns.map(({ name, sort, isNumber = false }) => {
      const look = isNumber ? 'number' : '';
      if (sort === undefined) return h('th', { scope: 'col', class: look }, name);
      const isSorted = sorted === sort;
      const order = isSorted ? (isDescending ? '' : 'desc') : isNumber ? 'desc' : '';
      return h(
        'th',
        { scope: 'col', class: look, 'aria-sort': isSorted ? (isDescending ? 'descending' : 'ascending') : undefined },
        h(
          'button',
          { type: 'button', class: 'sort', 'data-key': `sort ${sort}`, onclick: () => change({ sort, order }) },
          name,
        ),
      );
    }),
  );
}
