/** CPU: the target of the policy's strategy, then the stages every resource goes through. */
import { noAdvice, type ResourceAdvice, raiseTo } from './advice.ts';
import { cpuTarget } from './cpu-target.ts';
import { settle } from './finish.ts';
import type { CpuTarget } from './policy.ts';
import type { RecommendInput } from './recommend.ts';
import { isShaped, type Shaped, shape } from './shape.ts';
import { isOfLate, lookBackOfWindow } from './trusted-history.ts';

export function recommendCpu(input: RecommendInput): ResourceAdvice {
  const shaped = shapeCpu(input);
  return isShaped(shaped) ? settle(shaped) : shaped;
}

/**
 * Up to the stages that look at the whole pod; or why there is no value. Values are millicores, whole after rounding.
 */
export function shapeCpu(input: RecommendInput): Shaped | ResourceAdvice {
  const { profile, cpu: current, policy, window, floors, now } = input;
  const { cpu } = profile;
  const firstAt = cpu.firstAt();
  const lastAt = cpu.lastAt();
  const { target } = policy.cpu;
  const proposal = cpuTarget(profile, target, window?.cpu, current.request);
  if (proposal === undefined || firstAt === undefined || lastAt === undefined) {
    return noAdvice('NoData', 'no CPU usage is known');
  }
  if (!isOfLate(lastAt, policy.staleAfterMillis, now))
    return noAdvice('Stale', `the last CPU sample is of ${new Date(lastAt).toISOString()}`);
  const { draft, gainOf } = proposal;
  return shape({
    draft: raiseTo(draft, floors?.cpu, 'learned-floor', `less than ${floors?.cpu}m did it harm after a decrease`),
    current,
    rules: policy.cpu,
    historyMillis: lastAt - firstAt,
    minHistoryMillis: policy.minHistoryMillis,
    samples: cpu.samples(),
    minSamples: policy.minSamples,
    lookBack: goesByWindow(target) ? lookBackOfWindow(window, 'cpu', policy.minHistoryMillis) : undefined,
    roundTo: 1,
    leastLimit: 0,
    now,
    gainOf,
  });
}

function goesByWindow({ strategy }: CpuTarget): boolean {
  return strategy === 'Percentile' || strategy === 'Max';
}
