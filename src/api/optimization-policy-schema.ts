/** The spec of an OptimizationPolicy in zod: the one source of the CRD, of the parser, of the webhook and of the reference page. */
import * as z from 'zod';
import { parseQuantity } from '../lib/quantity.ts';
import { withRules } from './crd/cel-rule.ts';
import { quantityField } from './crd/fields.ts';
import { hpaModes, limitPolicies, memoryDecreases, policyModes } from './optimization-policy.ts';
import { durationField, optionalShare, shareField } from './optimization-policy-fields.ts';
import { policyMetricsSchema } from './optimization-policy-metrics-schema.ts';
import { policySelectorSchema } from './optimization-policy-selector-schema.ts';

function bounds(resource: 'CPU' | 'memory', example: string) {
  const schema = z
    .object({
      min: quantityField(`Least request, e.g. ${example.split(' ')[0]}.`),
      max: quantityField(`Highest request, e.g. ${example.split(' ')[1]}.`),
    })
    .meta({ description: `Bounds of the ${resource} request.` });
  const nanos = (text: string): bigint => parseQuantity(text).nanos;
  const valid = `valid is 0 < min <= max, such as ${example.replace(' ', ' and ')}`;
  return withRules(
    schema,
    {
      rule: 'quantity(string(self.min)).isGreaterThan(quantity("0")) && quantity(string(self.max)).isGreaterThan(quantity("0"))',
      message: `${resource} min and max must be greater than zero: ${valid}`,
      holds: ({ min, max }) => nanos(min) > 0n && nanos(max) > 0n,
    },
    {
      rule: 'quantity(string(self.min)).compareTo(quantity(string(self.max))) <= 0',
      message: `${resource} min must not be greater than max: ${valid}`,
      holds: ({ min, max }) => nanos(min) <= nanos(max),
    },
  );
}

const multiplier = (fallback: number, description: string) =>
  z.number().min(1).max(10).default(fallback).meta({ description });

const limitConfig = withRules(
  z
    .object({
      policy: z
        .enum(limitPolicies)
        .meta({
          description:
            'What becomes of limits where updateRequestsOnly is false. Keep: they stay. Ratio: they keep their ratio to the request. Headroom: the request plus `headroom`. Left out: request times the multipliers.',
        })
        .optional(),
      cpuLimitMultiplier: multiplier(1, 'CPU limit as a multiple of the request.'),
      memoryLimitMultiplier: multiplier(1.1, 'Memory limit as a multiple of the request.'),
      headroom: z
        .object({
          cpu: quantityField('Left out: the CPU limit stays.').optional(),
          memory: quantityField('Left out: the memory limit stays.').optional(),
        })
        .meta({ description: 'Headroom: what the limit is above the request, e.g. memory: 256Mi.' })
        .optional(),
    })
    .meta({ description: 'Limits, where updateRequestsOnly is false.' }),
  {
    rule: "!has(self.policy) || self.policy != 'Headroom' || has(self.headroom)",
    message: 'policy Headroom needs headroom',
    holds: ({ policy, headroom }) => policy !== 'Headroom' || headroom !== undefined,
  },
).optional();

const updateStrategy = z
  .object({
    allowInPlaceResize: z.boolean().default(true).meta({ description: 'Resize running pods without a restart.' }),
    allowRecreate: z
      .boolean()
      .default(false)
      .meta({ description: 'Change the template, which recreates the pods, where a resize is not possible.' }),
    updateRequestsOnly: z.boolean().default(true).meta({ description: 'Leave limits alone.' }),
    useServerSideApply: z.boolean().default(true).meta({
      description: 'Write templates by server-side apply as manager optipod; else by a strategic merge patch.',
    }),
    limitConfig,
    minChange: shareField(
      '10%',
      'Smaller changes are left out. For memory under CostAware at most 5% counts: who waits for more is killed meanwhile.',
    ),
    cooldown: durationField('1h', 'Least time between two changes of the same resource of a container.', 'zero'),
    maxStep: z
      .object({
        up: optionalShare('Largest raise at once, of the request. Left out: any.').optional(),
        down: shareField('50%', 'Largest decrease at once, of the request.'),
      })
      .prefault({})
      .meta({ description: 'Largest change at once.', default: {} }),
    memoryDecrease: z.enum(memoryDecreases).default('WhenSafe').meta({
      description: 'Never, only while usage and recent peaks stay below the new value, or always.',
    }),
    evictToResize: z.boolean().default(false).meta({
      description:
        'With allowRecreate: where pods cannot be resized in place, evict them one by one, within all budgets of disruption, and size the new ones at admission, instead of changing the template. Needs the webhook; not for DaemonSets.',
    }),
    sizePerReplica: z.boolean().default(false).meta({
      description:
        'Size each replica of a StatefulSet, and the pod of a DaemonSet on each node, by its own usage, once enough of it is known; in place and at admission only. Other kinds, and more than 200 replicas, keep one size for all.',
    }),
    schedule: z
      .array(
        z.object({
          cron: z.string().min(1).max(200).meta({
            description:
              'When a window opens: five fields, and a time zone in front where needed (CRON_TZ=Europe/Berlin 0 2 * * *).',
          }),
          duration: z.string().max(64).meta({ description: 'How long it stays open, e.g. 4h.' }),
        }),
      )
      .max(20)
      .meta({
        description: 'Changes are made within these windows only. Empty: at any time.',
        'x-kubernetes-list-type': 'atomic',
      })
      .optional(),
  })
  .meta({ description: 'How recommendations are carried out.' });

export const policySpecSchema = z
  .object({
    mode: z.enum(policyModes).meta({
      description:
        'Auto: recommend and apply. Recommend: recommend only. Disabled: neither; where the policy has the highest weight, its workloads are left to no other policy.',
    }),
    weight: z.int32().min(1).max(1000).default(100).meta({
      description:
        'Of several policies for a workload the one with the highest weight counts; then the first by name, then by namespace.',
    }),
    scope: z
      .enum(['Namespace', 'Cluster'])
      .meta({
        description:
          'Namespace: workloads of the policy’s own namespace. Cluster: of all namespaces the selector matches, granted in the operator’s namespace and those it allows. Left out: the widest that is granted.',
      })
      .optional(),
    selector: policySelectorSchema,
    metricsConfig: policyMetricsSchema,
    resourceBounds: z
      .object({ cpu: bounds('CPU', '100m 4'), memory: bounds('memory', '128Mi 8Gi') })
      .meta({ description: 'No request is set outside these bounds.' }),
    updateStrategy,
    reconciliationInterval: durationField('5m', 'How often workloads are looked at.'),
    hpa: z.enum(hpaModes).default('Skip').meta({
      description:
        'A resource that a HorizontalPodAutoscaler scales by utilization. Skip: leave it. KeepScalePoint: leave it, and warn with the target that keeps the scale point. LimitsOnly: change its limit only. Ignore: change it.',
    }),
    annotateRecommendations: z
      .boolean()
      .default(false)
      .meta({ description: 'Write recommendations to annotations of the workload in mode Recommend, too.' }),
  })
  .meta({ description: 'What is wanted.' });

/** The parsed spec: defaults filled in, durations in milliseconds, shares as fractions, quantities still texts. */
export type ParsedPolicySpec = z.output<typeof policySpecSchema>;
