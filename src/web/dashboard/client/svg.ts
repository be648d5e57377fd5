/** Pictures from plain calls, as dom.ts makes elements. What they say is said in words beside them. */

const SVG = 'http://www.w3.org/2000/svg';

export function s(
  tag: 'svg' | 'g' | 'rect' | 'line' | 'path' | 'title',
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: readonly (Node | string | false | undefined)[]
): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/**
 * A picture as wide as there is room: coordinates are stretched, lines are not.
 * @param height in pixels, and of the coordinates.
 */
export function stretched(width: number, height: number, look: string, ...children: readonly Node[]): SVGElement {
  return s(
    'svg',
    { class: look, viewBox: `0 0 ${width} ${height}`, height, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    ...children,
  );
}
