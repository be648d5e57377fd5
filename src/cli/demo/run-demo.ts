/** Runs `stowage demo`: raises the world, plays the story, tells how it went, and leaves nothing behind. */
import { type CliContext, printLines } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { StartOperator } from '../operator-port.ts';
import { counted } from '../plural.ts';
import type { StyleName } from '../style.ts';
import type { DemoOptions } from './demo-command.ts';
import { startWorld } from './demo-world.ts';
import { createInvariantMonitor, type InvariantMonitor, type InvariantResult, invariants } from './invariants.ts';
import { type Played, play } from './play.ts';
import { createPresenter } from './presenter.ts';
import { sharesReport } from './share-text.ts';

export async function runDemo(
  context: CliContext,
  options: DemoOptions,
  startOperator: StartOperator,
): Promise<ExitCode> {
  const { io, style } = context;
  const { clock, signal } = io;
  const startedAt = clock.now();
  const world = await startWorld({ clock, seed: options.seed, startOperator });
  const monitor = createInvariantMonitor();
  const presenter = createPresenter({
    out: io.out,
    style,
    kubeconfig: world.kubeconfig,
    dashboard: world.dashboard,
    startedAt,
    now: () => clock.now(),
  });
  // The story must not go on, and keep the process alive, where the operator has ended by itself.
  const ending = new AbortController();
  let played: Played;
  try {
    presenter.announce(
      `A cluster runs at ${world.kubeconfig}; try: kubectl --kubeconfig ${world.kubeconfig} get pods -A`,
    );
    if (world.dashboard !== undefined) presenter.announce(`The dashboard is at ${world.dashboard}`);
    const until = AbortSignal.any([signal, ending.signal]);
    const playing = play({ world, monitor, presenter, clock, startedAt, runMillis: options.for, signal: until });
    played = await Promise.race([playing, world.failed]);
  } finally {
    ending.abort();
    presenter.end();
    await world.stop();
  }
  return report(context, monitor, played, options);
}

function report(
  context: CliContext,
  monitor: InvariantMonitor,
  { chapters, evictions, shares }: Played,
  options: DemoOptions,
): ExitCode {
  const { style } = context;
  const results = monitor.results();
  const lines = results.map((result) => {
    const { text, look } = verdictOf(result);
    const detail = result.violation === undefined ? ` (${counted(result.checks, 'check')})` : `: ${result.violation}`;
    return `  ${style(look, text.padEnd(6))}  ${invariants[result.invariant]}${detail}`;
  });
  printLines(context, [
    '',
    `${counted(chapters, 'chapter')}, ${counted(evictions, 'eviction')}, seed ${options.seed}. Invariants:`,
    ...lines,
    ...sharesReport(shares.first, shares.last),
  ]);
  const broken = results.filter(({ violation }) => violation !== undefined);
  if (broken.length > 0)
    throw new CommandError(
      `${counted(broken.length, 'invariant')} did not hold; run again with --seed ${options.seed}`,
    );
  if (options.for !== undefined && chapters === 0)
    throw new CommandError(
      context.io.signal.aborted
        ? 'it was ended before its first chapter was over, so nothing was judged'
        : 'the workloads did not come to rest in time; give the demo more of it with --for',
    );
  return exitCodes.ok;
}

/** An invariant that was never checked is not one that held. */
function verdictOf({ checks, violation }: InvariantResult): { readonly text: string; readonly look: StyleName } {
  if (violation !== undefined) return { text: 'BROKEN', look: 'bad' };
  return checks > 0 ? { text: 'held', look: 'good' } : { text: 'unseen', look: 'muted' };
}
