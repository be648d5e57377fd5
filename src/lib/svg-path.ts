/** Paths of plots as SVG writes them, to a tenth of a unit. */

/** Right and down, as in SVG. */
export type PlotPoint = readonly [x: number, y: number];

/** A line through the points in their order; it ends at one that is undefined and begins anew after it. Empty without points. */
export function linePath(points: Iterable<PlotPoint | undefined>): string {
  const parts: string[] = [];
  let isOpen = false;
  for (const point of points) {
    if (point !== undefined) parts.push(`${isOpen ? 'L' : 'M'}${coordinates(point)}`);
    isOpen = point !== undefined;
  }
  return parts.join(' ');
}

/** The area between a line and another, point by point of one x. Empty without points. */
export function areaPath(above: readonly PlotPoint[], below: readonly PlotPoint[]): string {
  const outline = linePath([...above, ...below.toReversed()]);
  return outline === '' ? '' : `${outline} Z`;
}

function coordinates([x, y]: PlotPoint): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
