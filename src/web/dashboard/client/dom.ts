/** Elements from plain calls. Whatever a cluster says becomes text here, never markup. */

export type Child = Node | string | number | false | null | undefined | readonly Child[];

export interface Props {
  readonly class?: string | undefined;
  /** Attributes; true is an empty one, false and undefined none. */
  readonly [attribute: string]: string | number | boolean | undefined | ((event: Event) => void);
}

/** An attribute whose name begins with `on` is a listener. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...nodesOf(children));
  return element;
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === undefined || child === null || child === false) return [];
    if (typeof child === 'number') return [String(child)];
    return isList(child) ? nodesOf(child) : [child];
  });
}

const isList = (child: Exclude<Child, number | false | null | undefined>): child is readonly Child[] =>
  Array.isArray(child);

/** Puts new content into a region; what had the focus has it again where it is still there, told by `data-key`. */
export function fill(region: HTMLElement, ...children: readonly Child[]): void {
  const active = document.activeElement;
  const key = active instanceof HTMLElement && region.contains(active) ? active.dataset['key'] : undefined;
  const open = new Set(
    [...region.querySelectorAll<HTMLElement>('details[open][data-key]')].map(({ dataset }) => dataset['key']),
  );
  region.replaceChildren(...nodesOf(children));
  for (const details of region.querySelectorAll<HTMLDetailsElement>('details[data-key]')) {
    if (open.has(details.dataset['key'])) details.open = true;
  }
  if (key === undefined) return;
  for (const element of region.querySelectorAll<HTMLElement>('[data-key]')) {
    if (element.dataset['key'] === key) element.focus({ preventScroll: true });
  }
}
