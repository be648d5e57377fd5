import { describe, expect, test } from 'vitest';
import type { Terminal } from '../cli-context.ts';
import { plainStyle } from '../style.ts';
import { planObjects, shopRules, viewOf } from '../testing/plan-shop.ts';
import { shopCluster, workload } from '../testing/shop.ts';
import { textWidth } from '../text-width.ts';
import { type Frame, nodeLines, workloadLine } from './frame.ts';
import { createPresenter } from './presenter.ts';
import { clockText, drawScreen, screenLines } from './screen.ts';

const objects = [
  ...shopCluster(),
  ...workload({
    name: 'web',
    annotations: { 'spot-percentage': '50', 'min-on-demand': '1' },
    pods: ['spot-1', 'spot-1', 'od-1'],
  }),
  ...workload({ kind: 'StatefulSet', name: 'db', annotations: { 'spot-percentage': '50' }, pods: ['od-1', 'od-1'] }),
];
const frame: Frame = {
  elapsedMillis: 65_000,
  story: 'Chapter 2: the cloud takes back spot node spot-1 with 2 pods.',
  nodes: nodeLines(viewOf(objects), shopRules.sides),
  workloads: planObjects(objects).map(workloadLine),
  decisions: Array.from({ length: 30 }, (_, index) => ({
    at: 0,
    text: `shop/web: Reason: decision ${index}`,
    isWarning: index % 2 === 0,
  })),
  evictions: 1,
  shares: '',
  violations: [],
};
const options = { style: plainStyle, columns: 80, rows: 32, kubeconfig: '/tmp/x/kubeconfig' };

describe('screenLines', () => {
  test('shows story, nodes with their pods, workloads with their mix, and the newest decisions', () => {
    expect(screenLines(frame, options)).toEqual([
      'Stowage demo  1:05  evictions 1  all invariants hold        Ctrl-C ends it',
      'kubectl --kubeconfig /tmp/x/kubeconfig get pods -A',
      '',
      'Chapter 2: the cloud takes back spot node spot-1 with 2 pods.',
      '',
      'NODE     CLASS       STATE   #   PODS',
      'spot-1   spot        ready   2   web 2',
      'spot-2   spot        ready   0   -',
      'od-1     on-demand   ready   3   db 2, web 1',
      'od-2     on-demand   ready   0   -',
      '',
      'WORKLOAD   SPOT WANTED     TARGET   ACTUAL   READY   STATE',
      'web        50 %, floor 1      2/1      2/1     3/3   as wanted',
      'db (sts)   50 %, floor 0      1/1      0/2     2/2   moving',
      '',
      'DECISIONS',
      ...Array.from({ length: 15 }, (_, index) => `shop/web: Reason: decision ${index + 15}`),
    ]);
  });

  test('on few rows the nodes take a line a class, and nothing is between the parts', () => {
    expect(screenLines(frame, { ...options, rows: 24 }).slice(2, 6)).toEqual([
      'Chapter 2: the cloud takes back spot node spot-1 with 2 pods.',
      'spot       spot-1 2, spot-2 0',
      'on-demand  od-1 3, od-2 0',
      expect.stringMatching(/^WORKLOAD /),
    ]);
  });

  test('on a terminal of the usual size decisions are seen, with all workloads of the demo', () => {
    const full: Frame = {
      ...frame,
      story: 'word '.repeat(30).trim(),
      workloads: Array.from({ length: 9 }, () => frame.workloads)
        .flat()
        .slice(0, 9),
      shares: 'word '.repeat(30).trim(),
    };
    const drawn = drawScreen(full, { ...options, rows: 24, dashboard: 'http://127.0.0.1:34567/' });
    expect(drawn).toContain('shop/web: Reason: decision 29');
  });

  test('fits any terminal', () => {
    const places = { kubeconfig: '/tmp/stowage-demo-AbCdEf/kubeconfig', dashboard: 'http://127.0.0.1:34567/' };
    const long: Frame = { ...frame, decisions: [{ at: 0, text: 'word '.repeat(60), isWarning: false }] };
    for (const columns of [70, 80, 120, 200]) {
      for (const violations of [[], ['too many evictions at a time: '.repeat(4)]]) {
        const lines = screenLines({ ...long, violations }, { ...options, ...places, columns });
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
        expect(lines.join(' ')).toContain(`kubectl --kubeconfig ${places.kubeconfig} get pods -A`);
      }
    }
    expect(drawScreen(frame, { ...options, rows: 10 }).split('\n')).toHaveLength(10);
  });

  test('a broken invariant stands at the top', () => {
    expect(screenLines({ ...frame, violations: ['too many evictions'] }, options).slice(0, 2)).toEqual([
      'Stowage demo  1:05  evictions 1        Ctrl-C ends it',
      'broken: too many evictions',
    ]);
  });
});

describe('clockText', () => {
  test.each([
    [0, '0:00'],
    [59_999, '0:59'],
    [3_600_000, '60:00'],
  ])('%d ms is %s', (millis, expected) => {
    expect(clockText(millis)).toBe(expected);
  });
});

describe('createPresenter', () => {
  function present(size: ReturnType<Terminal['size']>) {
    const printed: string[] = [];
    let now = 0;
    const out: Terminal = {
      write: (text) => void printed.push(text),
      isTerminal: size !== undefined,
      size: () => size,
    };
    const presenter = createPresenter({ out, style: plainStyle, kubeconfig: '/k', startedAt: 0, now: () => now });
    const setNow = (millis: number): void => {
      now = millis;
    };
    return { presenter, printed, setNow };
  }

  test('without a terminal: one line for each thing that changes, none twice', () => {
    const { presenter, printed, setNow } = present(undefined);
    presenter.announce('Chapter 1');
    presenter.show({ ...frame, elapsedMillis: 1000 });
    setNow(2000);
    presenter.show({ ...frame, elapsedMillis: 2000 });
    presenter.decision({ at: 0, text: 'shop/web: evil \u001b[2J', isWarning: false });
    presenter.end();
    expect(printed).toEqual([
      '  0:00  Chapter 1\n',
      '  0:00  web              50 %, floor 1    spot/on-demand: target 2/1, actual 2/1, ready 3/3: as wanted\n',
      '  0:00  db (sts)         50 %, floor 0    spot/on-demand: target 1/1, actual 0/2, ready 2/2: moving\n',
      '  0:02  - shop/web: evil \\x1b[2J\n',
    ]);
  });

  test('on a terminal: frames in place, and the cursor is given back', () => {
    const { presenter, printed } = present({ columns: 80, rows: 24 });
    presenter.announce('not a line of its own');
    presenter.show(frame);
    presenter.end();
    expect(printed[0]).toBe('\u001b[?25l\u001b[2J');
    expect(printed[1]?.startsWith('\u001b[HStowage demo')).toBe(true);
    expect(printed.at(-1)).toBe('\u001b[?25h\n');
    expect(printed).toHaveLength(3);
  });
});
