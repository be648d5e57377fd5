/** CPU: the target of the policy's strategy, then the stages every resource goes through. */
import type { UsageProfile } from '../../model/usage-profile.ts';
import { type Draft, noAdvice, type ResourceAdvice } from './advice.ts';
import { cheapestRequest, costOf } from './cost-aware.ts';
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
  return finish({
    draft: target.strategy === 'CostAware' ? costAwareDraft(usage, target) : percentileDraft(profile, target),
    current,
    rules: policy.cpu,
    historyMillis: lastAt - firstAt,
    minHistoryMillis: policy.minHistoryMillis,
    roundTo: 1,
    leastLimit: 0,
    now,
    gainOf: target.strategy === 'CostAware' ? priceGain(usage, target) : undefined,
  });
}

function costAwareDraft(usage: UsageDistribution, target: CostAwareTarget): Draft {
  const best = cheapestRequest(usage, target);
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

/** Saving of expected cost as a share of what the advised request costs. */
function priceGain(usage: UsageDistribution, target: CostAwareTarget): FinishInput['gainOf'] {
  return (advised, current) => {
    const after = costOf(usage, advised, target).cost;
    const actual = after > 0 ? costOf(usage, current, target).cost / after - 1 : 0;
    return { actual, needed: advised > current ? target.minGainUp : target.minGainDown };
  };
}
