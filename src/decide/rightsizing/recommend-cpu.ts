/** CPU: the target of the policy's strategy, then the stages every resource goes through. */
import type { UsageProfile } from '../../model/usage-profile.ts';
import { type Draft, noAdvice, type ResourceAdvice } from './advice.ts';
import { type CostedRequest, cheapestRequest, costOf } from './cost-aware.ts';
import { type FinishInput, finish } from './finish.ts';
import type { CostAwareTarget } from './policy.ts';
import type { RecommendInput } from './recommend.ts';
import { blendUsage, type UsageDistribution } from './usage-distribution.ts';

export function recommendCpu({ profile, cpu: current, policy, now }: RecommendInput): ResourceAdvice {
  const { target } = policy.cpu;
  const { cpu } = profile;
  const firstAt = cpu.firstAt();
  const lastAt = cpu.lastAt();
  const usage = blendUsage(cpu.usual, cpu.recent, target.strategy === 'CostAware' ? target.recentShare : 0);
  if (usage === undefined || firstAt === undefined || lastAt === undefined) {
    return noAdvice('NoData', 'no CPU usage is known');
  }
  if (now - lastAt > policy.staleAfterMillis)
    return noAdvice('Stale', `the last CPU sample is of ${new Date(lastAt).toISOString()}`);
  const common = {
    current,
    rules: policy.cpu,
    historyMillis: lastAt - firstAt,
    minHistoryMillis: policy.minHistoryMillis,
    roundTo: 1,
    leastLimit: 0,
    now,
  };
  if (target.strategy === 'Percentile') {
    return finish({ ...common, draft: percentileDraft(profile, target), gainOf: undefined });
  }
  const best = cheapestRequest(usage, target);
  return finish({ ...common, draft: costAwareDraft(usage, best), gainOf: priceGain(usage, target, best) });
}

function costAwareDraft(usage: UsageDistribution, best: CostedRequest): Draft {
  const exceeded = Math.round(best.exceeded * 1000) / 10;
  const text = `least expected cost at ${Math.round(best.request)}m: usage ${Math.round(usage.mean)}m on average, above it ${exceeded} % of the time`;
  return { value: best.request, notes: [{ stage: 'target', value: best.request, text }] };
}

function percentileDraft({ cpu }: UsageProfile, target: { percentile: number; safetyFactor: number }): Draft {
  const at = cpu.usual.percentile(target.percentile / 100);
  const value = Math.trunc(at * target.safetyFactor);
  const text = `P${target.percentile} of usage ${Math.round(at)}m times ${target.safetyFactor.toFixed(2)}`;
  return { value, notes: [{ stage: 'target', value, text }] };
}

/**
 * What the current request costs beyond the least possible, as a share of that. Not beyond what the advised one costs: where
 * bounds or a limit keep the request far from the best, half the way is still worth going.
 */
function priceGain(usage: UsageDistribution, target: CostAwareTarget, best: CostedRequest): FinishInput['gainOf'] {
  return (advised, current) => ({
    actual: best.cost > 0 ? costOf(usage, current, target).cost / best.cost - 1 : 0,
    needed: advised > current ? target.minGainUp : target.minGainDown,
  });
}
