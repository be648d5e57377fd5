/** VPA's CPU arithmetic: the 90th percentile of a histogram with a half-life of a day, and 15 % on top. */
import { createBucketLayout } from '../../../lib/bucket-layout.ts';
import { DecayingHistogram } from '../../../lib/histogram.ts';
import type { Strategy } from '../strategy.ts';
import { gateChange } from './gate.ts';

/** VPA's own buckets (vertical-pod-autoscaler/pkg/recommender/model/aggregations_config.go), in millicores. */
const layout = createBucketLayout({ firstWidth: 10, ratio: 1.05, maxValue: 1_000_000 });
const HALF_LIFE = 86_400_000;
const SAMPLE_WEIGHT = 0.1;
const TARGET_PERCENTILE = 0.9;
const SAFETY_MARGIN = 1.15;

/**
 * Without VPA's floor of 25 millicores a pod: it belongs to the pod and not to the arithmetic, and idle containers would
 * make VPA look worse than it is.
 */
export function createVpaCpu(): Strategy {
  const histogram = new DecayingHistogram({ layout, halfLifeMillis: HALF_LIFE });
  return {
    observe: (usage, at) => histogram.add(usage, SAMPLE_WEIGHT, at),
    choose: (current) => gateChange(current, Math.ceil(histogram.percentile(TARGET_PERCENTILE) * SAFETY_MARGIN)),
  };
}
