/** A table that scrolls by itself where the window is too narrow for it. */
import { type Child, h } from './dom.ts';

export interface Column {
  readonly name: string;
  /** Its figures stand at the right. */
  readonly isNumber?: boolean;
}

export const numbers = (name: string): Column => ({ name, isNumber: true });

/** @param label what it is about, for who reads by ear. @param rows elements `tr`. */
export function dataTable(label: string, columns: readonly (Column | string)[], rows: readonly Child[]): HTMLElement {
  const heads = columns.map((column) => {
    const { name, isNumber = false } = typeof column === 'string' ? { name: column } : column;
    return h('th', { scope: 'col', class: isNumber ? 'number' : '' }, name);
  });
  return scrolling(label, h('table', {}, h('thead', {}, h('tr', {}, heads)), h('tbody', {}, rows)));
}

/** Can be reached by keyboard, so that it can be scrolled by it. */
export function scrolling(label: string, ...children: readonly Child[]): HTMLElement {
  return h(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': label, tabindex: '0', 'data-key': `table ${label}` },
    children,
  );
}
