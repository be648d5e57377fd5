/** The demo on a terminal: one screen, drawn anew in place. */
import { printable } from '../../lib/printable.ts';
import { nodeClasses } from '../../model/node-classes.ts';
import type { Style, StyleName } from '../style.ts';
import { type Column, renderTable } from '../table.ts';
import { textWidth, truncate, wrap } from '../text-width.ts';
import type { DecisionLine, Frame, NodeLine, WorkloadLine } from './frame.ts';

export interface ScreenOptions {
  readonly style: Style;
  readonly columns: number;
  readonly rows: number;
  /** Where the kubeconfig is. */
  readonly kubeconfig: string;
  /** Where the dashboard is; undefined where there is none. */
  readonly dashboard?: string | undefined;
}

const HOW_TO_END = '        Ctrl-C ends it';
/** From this height on there is a line for each node, and room between the parts. */
const ROOMY_ROWS = 32;
const HOME = '\u001b[H';
const CLEAR_TO_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
/** Hides the cursor and clears the screen once; the frames then overwrite each other without flicker. */
export const ENTER_SCREEN = '\u001b[?25l\u001b[2J';
export const LEAVE_SCREEN = '\u001b[?25h';

/** The control sequence and text that replace the frame before. */
export function drawScreen(frame: Frame, options: ScreenOptions): string {
  const lines = screenLines(frame, options).slice(0, options.rows - 1);
  return `${HOME}${lines.map((line) => `${line}${CLEAR_TO_LINE_END}\n`).join('')}${CLEAR_BELOW}`;
}

/** The frame as lines no longer than the terminal; the decisions take what room is left. */
export function screenLines(frame: Frame, options: ScreenOptions): string[] {
  const { style, columns, rows } = options;
  const tableOptions = { style, width: columns, cut: true };
  const isRoomy = rows >= ROOMY_ROWS;
  const parts = [
    ...headLines(frame, options),
    '',
    ...wrap(frame.story, columns).map((line) => style('heading', line)),
    '',
    ...(isRoomy ? renderTable(nodeColumns, frame.nodes, tableOptions) : nodeClassLines(frame.nodes, columns)),
    '',
    ...renderTable(workloadColumns, frame.workloads, tableOptions),
    '',
    ...(frame.shares === '' ? [] : [...wrap(printable(frame.shares), columns), '']),
    style('heading', 'DECISIONS'),
  ];
  const top = isRoomy ? parts : parts.filter((line) => line !== '');
  const room = Math.max(1, rows - 1 - top.length);
  return [...top, ...frame.decisions.flatMap((decision) => decisionLines(decision, options)).slice(-room)];
}

/** How it goes, and what to do with it. What has no room on a line gets lines of its own: one that wraps moves all below it. */
function headLines({ elapsedMillis, evictions, violations }: Frame, options: ScreenOptions): string[] {
  const { style, columns, kubeconfig, dashboard } = options;
  const fitted = (look: StyleName, text: string): string[] =>
    wrap(text, columns).map((line) => style(look, truncate(line, columns)));
  const name = 'Stowage demo';
  const counts = `  ${clockText(elapsedMillis)}  evictions ${evictions}`;
  const [look, verdict]: [StyleName, string] =
    violations.length === 0 ? ['good', 'all invariants hold'] : ['bad', `broken: ${violations.join('; ')}`];
  const isBeside = textWidth(`${name}${counts}  ${verdict}${HOW_TO_END}`) <= columns;
  const beside = isBeside ? `  ${style(look, verdict)}` : '';
  return [
    `${style('heading', name)}${counts}${beside}${style('muted', HOW_TO_END)}`,
    ...(isBeside ? [] : fitted(look, verdict)),
    ...fitted('muted', `kubectl --kubeconfig ${kubeconfig} get pods -A`),
    ...(dashboard === undefined ? [] : fitted('muted', `dashboard: ${dashboard}`)),
  ];
}

/** One line a class, where the rows are few: `spot       spot-c5-0004 12, spot-m5-0002 5`. */
function nodeClassLines(nodes: readonly NodeLine[], columns: number): string[] {
  return nodeClasses.flatMap((name) => {
    const those = nodes.filter((node) => node.class === name);
    if (those.length === 0) return [];
    const texts = those.map(
      (node) => `${node.name} ${node.podCount}${node.state === 'ready' ? '' : ` (${node.state})`}`,
    );
    return [truncate(`${name.padEnd(9)}  ${texts.join(', ')}`, columns)];
  });
}

function decisionLines({ text, isWarning }: DecisionLine, { style, columns }: ScreenOptions): string[] {
  const [first = '', ...more] = wrap(printable(text), columns - 2);
  const look = (line: string): string => (isWarning ? style('warning', line) : line);
  return [look(first), ...more.map((line) => `  ${look(line)}`)];
}

/** `1:05` of milliseconds. */
export function clockText(millis: number): string {
  const seconds = Math.floor(millis / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const classStyles: Readonly<Record<NodeLine['class'], StyleName>> = {
  spot: 'spot',
  'on-demand': 'onDemand',
  unknown: 'muted',
};

const nodeColumns: readonly Column<NodeLine>[] = [
  { header: 'NODE', value: ({ name }) => name },
  { header: 'CLASS', value: (node) => ({ text: node.class, style: classStyles[node.class] }) },
  { header: 'STATE', value: ({ state }) => ({ text: state, style: state === 'ready' ? 'good' : 'bad' }) },
  { header: '#', value: ({ podCount }) => podCount, align: 'right' },
  { header: 'PODS', value: ({ pods }) => pods },
];

const stateStyles: Readonly<Record<WorkloadLine['state'], StyleName>> = {
  'as wanted': 'good',
  moving: 'warning',
  starting: 'muted',
  invalid: 'bad',
};

const workloadColumns: readonly Column<WorkloadLine>[] = [
  { header: 'WORKLOAD', value: ({ name }) => name },
  { header: 'SPOT WANTED', value: ({ policy }) => policy },
  { header: 'TARGET', value: ({ target }) => target, align: 'right' },
  { header: 'ACTUAL', value: ({ actual }) => actual, align: 'right' },
  { header: 'READY', value: ({ ready }) => ready, align: 'right' },
  { header: 'STATE', value: ({ state }) => ({ text: state, style: stateStyles[state] }) },
];
