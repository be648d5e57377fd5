/**
 * One run as a picture: each pod's CPU in use, its request and its ceiling over time, as SVG that needs nothing else.
 */
import { linePath } from '../lib/svg-path.ts';
import type { RunFigures, TracePoint } from './experiment.ts';

const WIDTH = 720;
const ROW = 120;
const LEFT = 64;
const TOP = 34;

/**
 * Runs below each other, one row a pod; all share one scale, so that arms can be compared by eye. No runs: an empty
 * picture.
 */
export function labPlot(runs: readonly RunFigures[]): string {
  const rows = runs.flatMap((run) => podsOf(run.trace).map((pod) => ({ run, pod })));
  const end = Math.max(1, ...runs.flatMap(({ trace }) => trace.map(({ atMillis }) => atMillis)));
  const most = Math.max(100, ...runs.flatMap(({ trace }) => trace.flatMap(highest)));
  const height = TOP + rows.length * ROW + 24;
  const parts = rows.map(({ run, pod }, index) => panel(run, pod, { top: TOP + index * ROW, end, most }));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>CPU of each pod over time</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="${LEFT}" y="20" fill="#1f6feb">in use</text><text x="${LEFT + 70}" y="20" fill="#1a7f37">request</text><text x="${LEFT + 150}" y="20" fill="#cf222e">ceiling</text>`,
    ...parts,
    `</svg>\n`,
  ].join('\n');
}

interface Frame {
  readonly top: number;
  readonly end: number;
  readonly most: number;
}

function panel(run: RunFigures, pod: string, { top, end, most }: Frame): string {
  const x = (millis: number): number => LEFT + (millis / end) * (WIDTH - LEFT - 12);
  const y = (millicores: number): number => top + ROW - 18 - (Math.min(millicores, most) / most) * (ROW - 30);
  const line = (colour: string, pick: (point: TracePoint) => number | undefined): string => {
    const path = linePath(
      run.trace.map((point) => {
        const value = pick(point);
        return value === undefined ? undefined : [x(point.atMillis), y(value)];
      }),
    );
    return path === '' ? '' : `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>`;
  };
  return [
    `<text x="${LEFT}" y="${top + 8}" fill="#24292f">${run.load}, ${run.arm}: ${pod}</text>`,
    `<line x1="${LEFT}" y1="${y(0)}" x2="${WIDTH - 12}" y2="${y(0)}" stroke="#d0d7de"/>`,
    `<text x="${LEFT - 6}" y="${y(0)}" text-anchor="end" fill="#57606a">0</text>`,
    `<text x="${LEFT - 6}" y="${y(most) + 8}" text-anchor="end" fill="#57606a">${Math.round(most)}m</text>`,
    line('#1f6feb', ({ pods }) => pods[pod]?.usage),
    line('#1a7f37', ({ pods }) => pods[pod]?.request),
    line('#cf222e', ({ pods }) => pods[pod]?.limit),
  ].join('\n');
}

function podsOf(trace: readonly TracePoint[]): string[] {
  return [...new Set(trace.flatMap(({ pods }) => Object.keys(pods)))].sort();
}

function highest({ pods }: TracePoint): number[] {
  return Object.values(pods).flatMap(({ usage, request, limit }) => [usage, request, limit ?? 0]);
}
