/** What CPU a container should request by each strategy, before any stage. */
import type { SpanHistogram } from '../../lib/span-histogram.ts';
import type { Millicores } from '../../lib/units.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { WindowPercentiles } from '../../model/usage-window.ts';
import type { Draft } from './advice.ts';
import { type CostedRequest, cheapestRequest, costOf } from './cost-aware.ts';
import type { CostAwareTarget, CpuTarget, PercentileTarget } from './policy.ts';
import type { ShapeInput } from './shape.ts';
import { distributionOf, type UsageDistribution } from './usage-distribution.ts';
import { windowPercentile } from './window-percentile.ts';

export interface CpuProposal {
  readonly draft: Draft;
  /** How a change is weighed; undefined where the strategy has no price. */
  readonly gainOf: ShapeInput['gainOf'];
}

/**
 * @param current what is requested now: CostAware asks a longer time before it lowers that.
 * @param window the exact figures of the policy's window, where the source has them: Percentile and Max go by these. Without
 * them they read the fading histogram, whose buckets are 5 % wide.
 * @returns undefined when nothing is known.
 */
export function cpuTarget(
  { cpu }: UsageProfile,
  target: CpuTarget,
  window: WindowPercentiles | undefined,
  current?: Millicores,
): CpuProposal | undefined {
  if (cpu.day.isEmpty()) return undefined;
  const at = (share: number): number => cpu.usual.percentile(share);
  switch (target.strategy) {
    case 'CostAware':
      return costAware(cpu.day, target, current);
    case 'Percentile':
      return unpriced(...percentile(target, window, at));
    case 'Histogram': {
      const found = at(target.percentile / 100);
      const margin = Math.round(target.margin * 100);
      const text = `P${target.percentile} of fading usage ${Math.round(found)}m and ${margin} %`;
      return unpriced(found * (1 + target.margin), text);
    }
    case 'Max': {
      const highest = window?.max ?? at(1);
      const text = `highest use ${Math.round(highest)}m times ${target.safetyFactor.toFixed(2)}`;
      return unpriced(Math.trunc(highest * target.safetyFactor), text);
    }
  }
}

function percentile(
  target: PercentileTarget,
  window: WindowPercentiles | undefined,
  at: (share: number) => number,
): [value: number, text: string] {
  const found = windowPercentile(window, target.percentile) ?? at(target.percentile / 100);
  const text = `P${target.percentile} of usage ${Math.round(found)}m times ${target.safetyFactor.toFixed(2)}`;
  return [Math.trunc(found * target.safetyFactor), text];
}

function unpriced(value: number, text: string): CpuProposal {
  return { draft: { value, notes: [{ stage: 'target', value, text }] }, gainOf: undefined };
}

/** Raises go by the last day; a decrease must be right by a longer time, too, and is none where that asks for more. */
function costAware(
  history: SpanHistogram,
  target: CostAwareTarget,
  current: Millicores | undefined,
): CpuProposal | undefined {
  const lately = distributionOf(history, target.spansUp);
  const longer = distributionOf(history, target.spansDown);
  if (lately === undefined || longer === undefined) return undefined;
  const up = cheapestRequest(lately, target);
  const down = cheapestRequest(longer, target);
  const isRaise = current !== undefined && up.request > current;
  const value = isRaise ? up.request : Math.max(up.request, Math.min(down.request, current ?? down.request));
  const [usage, best] = value > up.request ? [longer, down] : [lately, up];
  const exceeded = Math.round(best.exceeded * 1000) / 10;
  const held = value < best.request ? '; not lowered' : '';
  const text = `least expected cost at ${Math.round(best.request)}m: usage ${Math.round(usage.mean)}m on average, above it ${exceeded} % of the time${held}`;
  // What the current request costs beyond the least possible, as a share of that. Not beyond what the advised one costs:
  // where bounds or a limit keep the request far from the best, half the way is still worth going.
  const beyond = (request: Millicores, by: UsageDistribution, least: CostedRequest): number =>
    least.cost > 0 ? costOf(by, request, target).cost / least.cost - 1 : 0;
  return {
    draft: { value, notes: [{ stage: 'target', value, text }] },
    gainOf: (advised, from) =>
      advised > from
        ? { actual: beyond(from, lately, up), needed: target.minGainUp }
        : { actual: beyond(from, longer, down), needed: target.minGainDown },
  };
}
