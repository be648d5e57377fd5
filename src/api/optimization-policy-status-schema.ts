/** The status of an OptimizationPolicy in zod, for the CRD. What we read back is not checked: it is our own. */
import * as z from 'zod';
import { listMap, timeField } from './crd/fields.ts';
import {
  applyMethods,
  MAX_CONTAINERS_IN_STATUS,
  MAX_WORKLOADS_IN_STATUS,
  workloadResults,
} from './optimization-policy-status.ts';

const condition = z.object({
  type: z
    .string()
    .min(1)
    .max(316)
    .meta({ description: 'Ready, MetricsAvailable, DryRun, PermissionsSufficient, Degraded, ActuationIneffective.' }),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().min(0).meta({ description: 'The generation of the policy it is about.' }).optional(),
  lastTransitionTime: timeField('When `status` changed last.'),
  reason: z.string().min(1).max(1024).meta({ description: 'One word for machines (docs/reasons.md).' }),
  message: z.string().max(32_768).meta({ description: 'A sentence for people.' }),
});

const quantityText = (description: string) => z.string().max(64).meta({ description }).optional();

const recommendation = z.object({
  container: z.string().max(63).meta({ description: 'Name of the container.' }),
  cpu: quantityText('Recommended CPU request.'),
  memory: quantityText('Recommended memory request.'),
  explanation: z.string().max(4096).meta({ description: 'The numbers that led to it.' }).optional(),
});

const workload = z.object({
  namespace: z.string().max(63),
  kind: z.string().max(63),
  name: z.string().max(253),
  status: z.enum(workloadResults).meta({ description: 'What came of it.' }).optional(),
  reason: z.string().max(1024).meta({ description: 'Why, in one word (docs/reasons.md).' }).optional(),
  message: z.string().max(4096).meta({ description: 'Why, and how to mend it.' }).optional(),
  lastRecommendation: timeField(
    'When it was last advised; renewed once an hour where the advice stays the same.',
  ).optional(),
  lastApplied: timeField('When it was last changed.').optional(),
  lastApplyMethod: z.enum(applyMethods).meta({ description: 'How it was last changed.' }).optional(),
  replicaSizes: z
    .string()
    .max(1024)
    .meta({ description: 'Where sizePerReplica is set: how many replicas have sizes of their own, and which.' })
    .optional(),
  fieldOwnership: z
    .boolean()
    .meta({ description: 'Requests in the template are owned through server-side apply.' })
    .optional(),
  recommendations: listMap(recommendation, ['container']).max(MAX_CONTAINERS_IN_STATUS).optional(),
});

const count = (description: string) => z.int32().min(0).meta({ description }).optional();

export const policyStatusSchema = z
  .object({
    observedGeneration: z.int().min(0).meta({ description: 'The generation this status is about.' }).optional(),
    conditions: listMap(condition, ['type']).optional(),
    workloadsDiscovered: count('Workloads that match.'),
    workloadsProcessed: count('Workloads of these that this policy has the say over and that were looked at.'),
    workloadsByType: z
      .object({
        deployments: count('Deployments that match.'),
        statefulSets: count('StatefulSets that match.'),
        daemonSets: count('DaemonSets that match.'),
      })
      .meta({ description: 'Workloads that match, by kind.' })
      .optional(),
    lastReconciliation: timeField(
      'When the workloads had been looked at, as of this status: at rest it is written once an hour.',
    ).optional(),
    workloads: listMap(workload, ['namespace', 'kind', 'name']).max(MAX_WORKLOADS_IN_STATUS).optional(),
    workloadsOmitted: count('How many more workloads there are than `workloads` shows.'),
  })
  .meta({ description: 'What has been seen and done.' });
