/** How the demo is shown: a screen on a terminal, lines elsewhere. Both are told the same. */
import { printable } from '../../lib/printable.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { Terminal } from '../cli-context.ts';
import type { Style } from '../style.ts';
import type { DecisionLine, Frame, WorkloadLine } from './frame.ts';
import { clockText, drawScreen, ENTER_SCREEN, LEAVE_SCREEN } from './screen.ts';

export interface Presenter {
  /** Something worth a line of its own where lines are printed: a chapter, a fact about the cluster. */
  announce(text: string): void;
  decision(line: DecisionLine): void;
  /** Called several times a second. */
  show(frame: Frame): void;
  /** Gives the terminal back. */
  end(): void;
}

export interface PresenterOptions {
  readonly out: Terminal;
  readonly style: Style;
  readonly kubeconfig: string;
  readonly dashboard?: string | undefined;
  readonly startedAt: EpochMillis;
  readonly now: () => EpochMillis;
}

export function createPresenter(options: PresenterOptions): Presenter {
  return options.out.size() === undefined ? linePresenter(options) : screenPresenter(options);
}

function screenPresenter({ out, style, kubeconfig, dashboard }: PresenterOptions): Presenter {
  out.write(ENTER_SCREEN);
  return {
    announce() {},
    decision() {},
    show(frame) {
      const { columns = 80, rows = 24 } = out.size() ?? {};
      out.write(drawScreen(frame, { style, columns, rows, kubeconfig, dashboard }));
    },
    end: () => out.write(`${LEAVE_SCREEN}\n`),
  };
}

/** Unchanged workloads are not repeated; changing ones at most this often. */
const LINE_PERIOD_MILLIS = 1000;

function linePresenter({ out, style, startedAt, now }: PresenterOptions): Presenter {
  const printed = new Map<string, string>();
  let nextLinesAt = 0;
  const print = (text: string): void =>
    out.write(`${style('muted', clockText(now() - startedAt).padStart(6))}  ${printable(text)}\n`);
  return {
    announce: print,
    decision: ({ text }) => print(`- ${text}`),
    show({ workloads, shares, elapsedMillis }) {
      if (elapsedMillis < nextLinesAt) return;
      nextLinesAt = elapsedMillis + LINE_PERIOD_MILLIS;
      // What is used wavers all the time; a line is due when somebody has another size.
      const sizes = shares.replaceAll(/, uses \d+m/g, '');
      if (printed.get('') !== sizes && shares !== '') print(shares);
      printed.set('', sizes);
      for (const workload of workloads) {
        const text = workloadText(workload);
        if (printed.get(workload.name) === text) continue;
        printed.set(workload.name, text);
        print(text);
      }
    },
    end() {},
  };
}

function workloadText({ name, policy, target, actual, ready, state }: WorkloadLine): string {
  return `${name.padEnd(16)} ${policy.padEnd(16)} spot/on-demand: target ${target}, actual ${actual}, ready ${ready}: ${state}`;
}
