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

/**
 * Puts new content into a region. What the viewer did to the old one stays: the focus, which details are open or
 * closed, and how far a table is scrolled. Elements are known again by `data-key`, those of one key by their order.
 */
export function fill(region: HTMLElement, ...children: readonly Child[]): void {
  const active = region.contains(document.activeElement) ? document.activeElement : null;
  const focused = active?.closest('[data-key]');
  // A summary has no key of its own: it is the one of its details.
  const isSummary = active?.tagName === 'SUMMARY';
  const kept = [...keyedIn(region)].map(([id, element]) => ({
    id,
    isFocused: element === focused,
    isOpen: element instanceof HTMLDetailsElement ? element.open : undefined,
    left: element.scrollLeft,
  }));
  region.replaceChildren(...nodesOf(children));
  const fresh = keyedIn(region);
  for (const { id, isFocused, isOpen, left } of kept) {
    const element = fresh.get(id);
    if (element === undefined) continue;
    if (isOpen !== undefined && element instanceof HTMLDetailsElement) element.open = isOpen;
    if (left > 0) element.scrollLeft = left;
    if (!isFocused) continue;
    const target = isSummary ? element.querySelector<HTMLElement>(':scope > summary') : element;
    target?.focus({ preventScroll: true });
  }
}

/** By key, and where several have one by key and number: a workload has a link in each of its decisions. */
function keyedIn(region: HTMLElement): Map<string, HTMLElement> {
  const found = new Map<string, HTMLElement>();
  const times = new Map<string, number>();
  for (const element of region.querySelectorAll<HTMLElement>('[data-key]')) {
    const { key = '' } = element.dataset;
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    found.set(`${key}\n${before}`, element);
  }
  return found;
}
