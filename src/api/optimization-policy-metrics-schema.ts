/** The `metricsConfig` of an OptimizationPolicy: where usage comes from and what is made of it. */
import * as z from 'zod';
import { withRules } from './crd/cel-rule.ts';
import { metricsProviders, percentileNames, strategies } from './optimization-policy.ts';
import { durationField, shareField } from './optimization-policy-fields.ts';

const secretKey = (what: string) =>
  z
    .object({
      name: z.string().min(1).max(253).meta({ description: 'Name of a Secret in the namespace of the policy.' }),
      key: z.string().min(1).max(253).meta({ description: 'Key within the Secret.' }),
    })
    .meta({ description: what })
    .optional();

const prometheus = z
  .object({
    url: z
      .string()
      .max(2048)
      .regex(/^https?:\/\/[^\s]+$/, { error: 'is not an http or https URL, e.g. http://prometheus.monitoring:9090' })
      .meta({ description: 'Base URL of a Prometheus-compatible API. Default: the one of the operator.' })
      .optional(),
    headersSecretRef: z
      .object({
        name: z.string().min(1).max(253).meta({ description: 'Name of a Secret in the namespace of the policy.' }),
      })
      .meta({ description: 'Each key of the Secret is sent as a header, e.g. X-Scope-OrgID.' })
      .optional(),
    bearerTokenSecretRef: secretKey('Token for the Authorization header.'),
    caSecretRef: secretKey('Certificates (PEM) that the server is checked against.'),
    labels: z
      .record(z.string(), z.string().max(256))
      .meta({ description: 'Labels that every series must have, e.g. cluster: eu-1.' })
      .optional(),
  })
  .meta({ description: 'How to reach Prometheus, where the operator’s own settings do not fit.' })
  .optional();

const factor = (description: string) =>
  withRules(z.number().max(100).meta({ description }), {
    rule: 'self >= 1.0',
    message: 'the safety factor must be at least 1',
    holds: (value) => value >= 1,
  });

export const policyMetricsSchema = z
  .object({
    provider: z.enum(metricsProviders).meta({ description: 'Where usage comes from.' }),
    rollingWindow: durationField('24h', 'How far back usage counts, 90d at most.'),
    strategy: z.enum(strategies).default('Percentile').meta({
      description:
        'What is made of the usage. Percentile: exact percentile of the window times the safety factor, what OptiPod does. Histogram: percentile of a decaying histogram times the factor, as the VerticalPodAutoscaler does. Max: highest usage of the window times the factor. CostAware: the request with the least expected cost.',
    }),
    percentile: z.enum(percentileNames).default('P90').meta({ description: 'For CPU and memory.' }),
    percentiles: z
      .object({
        cpu: z.enum(percentileNames).meta({ description: 'For CPU.' }).optional(),
        memory: z.enum(percentileNames).meta({ description: 'For memory.' }).optional(),
      })
      .meta({ description: 'Percentile of one resource, in place of `percentile`.' })
      .optional(),
    safetyFactor: factor('What the percentile is multiplied by; at least 1.').default(1.2),
    safetyFactors: z
      .object({ cpu: factor('For CPU.').optional(), memory: factor('For memory.').optional() })
      .meta({ description: 'Factor of one resource, in place of `safetyFactor`.' })
      .optional(),
    minSamples: z
      .int()
      .min(1)
      .max(100_000)
      .default(10)
      .meta({ description: 'With fewer samples a recommendation may raise a request, never lower it.' }),
    minHistory: durationField('24h', 'With less history a recommendation may raise a request, never lower it.', 'zero'),
    startupExclusion: durationField(
      '2m',
      'CPU usage this long after a container’s start does not count; memory does.',
      'zero',
    ),
    halfLife: durationField('24h', 'Histogram: age at which a sample counts half.'),
    costAware: z
      .object({
        workload: z
          .enum(['Serving', 'Batch'])
          .default('Serving')
          .meta({ description: 'Sets the default of exceededHours: 28 for Serving, 4 for Batch.' }),
        exceededHours: z
          .number()
          .min(0)
          .max(10_000)
          .meta({ description: 'What an hour with usage above the request costs, in hours of reserved mean usage.' })
          .optional(),
        minGain: shareField('30%', 'A raise must lower the expected cost by this much.'),
        minGainDown: shareField('33%', 'A decrease must lower the expected cost by this much.'),
      })
      .meta({ description: 'Weights of the CostAware strategy.' })
      .optional(),
    prometheus,
    custom: z
      .object({
        name: z.string().min(1).max(253).meta({ description: 'Name of a source in the operator’s configuration.' }),
      })
      .meta({ description: 'Which source, for provider custom.' })
      .optional(),
  })
  .meta({ description: 'Where usage comes from and what is made of it.' });
