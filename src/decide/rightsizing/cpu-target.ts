/** What CPU a container should request by each strategy, before any stage. */
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { WindowPercentiles } from '../../model/usage-window.ts';
import type { Draft } from './advice.ts';
import { cheapestRequest, costOf } from './cost-aware.ts';
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
 * @param window the exact figures of the policy's window, where the source has them: Percentile and Max go by these. Without
 * them they read the fading histogram, whose buckets are 5 % wide.
 * @returns undefined when nothing is known.
 */
export function cpuTarget(
  { cpu }: UsageProfile,
  target: CpuTarget,
  window: WindowPercentiles | undefined,
): CpuProposal | undefined {
  const usage = distributionOf(cpu.day, target.strategy === 'CostAware' ? target.latestShare : 0);
  if (usage === undefined) return undefined;
  const at = (share: number): number => cpu.usual.percentile(share);
  switch (target.strategy) {
    case 'CostAware':
      return costAware(usage, target);
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

function costAware(usage: UsageDistribution, target: CostAwareTarget): CpuProposal {
  const best = cheapestRequest(usage, target);
  const exceeded = Math.round(best.exceeded * 1000) / 10;
  const text = `least expected cost at ${Math.round(best.request)}m: usage ${Math.round(usage.mean)}m on average, above it ${exceeded} % of the time`;
  return {
    draft: { value: best.request, notes: [{ stage: 'target', value: best.request, text }] },
    // What the current request costs beyond the least possible, as a share of that. Not beyond what the advised one costs:
    // where bounds or a limit keep the request far from the best, half the way is still worth going.
    gainOf: (advised, current) => ({
      actual: best.cost > 0 ? costOf(usage, current, target).cost / best.cost - 1 : 0,
      needed: advised > current ? target.minGainUp : target.minGainDown,
    }),
  };
}
