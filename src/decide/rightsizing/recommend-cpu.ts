/** CPU: the target of the policy's strategy, then the stages every resource goes through. */
import type { SpanHistogram } from '../../lib/span-histogram.ts';
import { CPU_SPAN_MILLIS } from '../../model/usage-cpu.ts';
import type { WindowPercentiles } from '../../model/usage-window.ts';
import { noAdvice, type ResourceAdvice, raiseTo } from './advice.ts';
import { cpuTarget } from './cpu-target.ts';
import { settle } from './finish.ts';
import type { CpuTarget } from './policy.ts';
import type { KnownWindow, RecommendInput } from './recommend.ts';
import { isShaped, type Shaped, shape } from './shape.ts';
import { isOfLate, lookBackOfWindow } from './trusted-history.ts';
import { distributionOf } from './usage-distribution.ts';

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
  const proposal = cpuTarget(profile, target, figuresOf(window, target, cpu.day), current.request);
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

/**
 * Those of the window. Where they are of samples that were drawn by chance, these may have missed the highest: `Max` then
 * goes by that of the last day or so, which is known to the width of a bucket.
 */
function figuresOf(
  window: KnownWindow | undefined,
  { strategy }: CpuTarget,
  day: SpanHistogram,
): WindowPercentiles | undefined {
  const drawn = window?.cpu;
  if (drawn === undefined || window?.isSampled !== true || strategy !== 'Max') return drawn;
  const { from = Number.NEGATIVE_INFINITY, to = 0 } = window;
  const highest = distributionOf(day, Math.ceil((to - from) / CPU_SPAN_MILLIS) + 1)?.pieces.at(-1);
  return highest === undefined || drawn.max >= highest.low ? drawn : { ...drawn, max: highest.high };
}
