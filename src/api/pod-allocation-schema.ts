/** PodAllocation in zod, for its CRD: the fields, columns and enums MBCAS shipped, and what was added. Types are in pod-allocation.ts. */
import * as z from 'zod';
import { tryParseQuantity } from '../lib/quantity.ts';
import { type CelRule, withRules } from './crd/cel-rule.ts';
import type { CrdDescription } from './crd/crd.ts';
import { listMap, QUANTITY_ACCEPTED, QUANTITY_PATTERN, timeField } from './crd/fields.ts';
import { podAllocations } from './pod-allocation.ts';

/** A quantity as text: bare numbers, which int-or-string would take, were never part of this API. */
const quantity = (description: string) =>
  z
    .string()
    .max(64)
    .refine((text) => tryParseQuantity(text) !== undefined, {
      message: `is not a quantity; accepted: ${QUANTITY_ACCEPTED}`,
      abort: true,
    })
    .meta({ description, pattern: QUANTITY_PATTERN });
const text = (description: string, longest: number) => z.string().max(longest).meta({ description });
const ratio = (description: string) => z.number().min(0).max(1).meta({ description }).optional();

/** The target of an allocation never changes; a transition is judged by the API server alone. */
const fixed = (description: string, longest: number) =>
  z
    .string()
    .max(longest)
    .meta({
      description,
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'the pod of an allocation cannot change' }],
    });

const clamp = z.object({
  reason: text('Which rule.', 63),
  message: text('A sentence with the figures.', 1024).optional(),
});

const container = z.object({
  name: text('Name of the container.', 63),
  cpuUsage: quantity('Measured CPU use.'),
  throttledRatio: ratio('Throttled periods by all periods.'),
});

const decision = z
  .object({
    mode: z
      .enum(['uncongested', 'congested', 'overloaded'])
      .meta({ description: 'Whether all wants fit on the node, all claims fit, or not even those.' })
      .optional(),
    shadowPriceCPU: z.number().min(0).meta({ description: 'Utility of one more core of the node.' }).optional(),
    claim: quantity('Lower bound of the bargaining.').optional(),
    want: quantity('Upper bound of the bargaining.').optional(),
    weight: z.number().min(0).meta({ description: 'Weight in the bargaining.' }).optional(),
    cpuUsage: quantity('Measured CPU use of the pod.').optional(),
    throttledRatio: ratio('Throttled periods by all periods, of the pod or its tighter container.'),
    containers: listMap(container, ['name']).max(200).meta({ description: 'What each container uses.' }).optional(),
    clamps: z
      .array(clamp)
      .max(50)
      .meta({ description: 'Rules that moved a bound, the weight or the result.', 'x-kubernetes-list-type': 'atomic' })
      .optional(),
    coalition: text('Group of pods that share a cap.', 63).optional(),
    credits: z.number().meta({ description: 'What the pod is owed by its group, in millicores.' }).optional(),
  })
  .meta({ description: 'The numbers behind the desired values.' })
  .optional();

const nanos = (amount: string): bigint => tryParseQuantity(amount)?.nanos ?? 0n;

type Wanted = { readonly desiredCPURequest: string; readonly desiredCPULimit: string };
const withinLimit: CelRule<Wanted> = {
  rule: 'quantity(self.desiredCPURequest).compareTo(quantity(self.desiredCPULimit)) <= 0',
  message: 'desiredCPURequest must not be greater than desiredCPULimit',
  holds: ({ desiredCPURequest, desiredCPULimit }) => nanos(desiredCPURequest) <= nanos(desiredCPULimit),
};
const positive: CelRule<Wanted> = {
  rule: 'quantity(self.desiredCPURequest).isGreaterThan(quantity("0")) && quantity(self.desiredCPULimit).isGreaterThan(quantity("0"))',
  message: 'desiredCPURequest and desiredCPULimit must be greater than zero',
  holds: ({ desiredCPURequest, desiredCPULimit }) => nanos(desiredCPURequest) > 0n && nanos(desiredCPULimit) > 0n,
};

export const podAllocationSpecSchema = withRules(
  z
    .object({
      namespace: fixed('Namespace of the pod; the object’s own.', 63),
      podName: fixed('Name of the pod.', 253),
      desiredCPURequest: quantity('CPU request the pod should have, e.g. 450m.'),
      desiredCPULimit: quantity('CPU limit the pod should have, e.g. 500m; see limitPolicy.'),
      podUID: fixed('Uid of the pod.', 64).optional(),
      nodeName: text('Node whose agent wrote this.', 253).optional(),
      limitPolicy: z
        .enum(['Apply', 'Lift', 'Keep'])
        .meta({
          description:
            'Apply (default): desiredCPULimit is the limit. Lift: no ceiling is wanted; a limit there is raised to desiredCPULimit, as it cannot be removed in place. Keep: limits stay.',
        })
        .optional(),
      urgent: z.boolean().meta({ description: 'The raise is forced: spacing does not apply to it.' }).optional(),
      originalCPURequest: quantity('CPU request when the agent first saw the pod.').optional(),
      originalCPULimit: quantity('CPU limit when the agent first saw the pod.').optional(),
      decision,
      renewTime: timeField('When the agent last wrote the spec, by its own clock.').optional(),
    })
    .meta({ description: 'What the node’s agent wants.' }),
  positive,
  withinLimit,
);

const condition = z.object({
  type: text('Managed, Applied, Constrained.', 316),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().min(0).meta({ description: 'The generation it is about.' }).optional(),
  lastTransitionTime: timeField('When `status` changed last.'),
  reason: text('One word for machines (docs/skip-reasons.md).', 1024),
  message: text('A sentence for people.', 32_768),
});

const amount = (description: string) => z.number().min(0).meta({ description }).optional();
const fact = (description: string) => z.boolean().meta({ description }).optional();

const bound = z.object({
  layer: text('How hard it is.', 63),
  reason: text('Which rule.', 63),
  min: amount('Lower bound in millicores.'),
  max: amount('Upper bound in millicores.'),
});

const guidance = z
  .object({
    bounds: z
      .array(bound)
      .max(50)
      .meta({ description: 'Bounds of the pod’s share.', 'x-kubernetes-list-type': 'atomic' })
      .optional(),
    spread: amount('Factor of the weight by spread over domains.'),
    affinity: amount('Factor of the weight by preferred affinity.'),
    isRequestFrozen: fact('Only the limit may change.'),
    limitMin: amount('Least limit in millicores.'),
    step: amount('Largest step a tick, as a share.'),
    bandFactor: amount('Factor of the dead-band.'),
    advice: amount('What rightsizing advises to request, in millicores.'),
    originalRequest: amount('Request before the first change, in millicores.'),
    originalLimit: amount('Limit before the first change, in millicores.'),
    namespaceManaged: z.enum(['true', 'false']).meta({ description: 'mbcas.io/managed of the namespace.' }).optional(),
    hasForeignWriter: fact('Somebody else writes the CPU of this pod.'),
    isVpaOwned: fact('A VerticalPodAutoscaler acts on it.'),
    restartedOnResize: fact('A container restarted after a resize.'),
    hasStaticCpuManager: fact('The node pins CPUs.'),
    quotaRequestRoom: amount('What requests of the namespace may still grow, in millicores.'),
    quotaLimitRoom: amount('What limits of the namespace may still grow, in millicores.'),
    quotaNodeShare: ratio('This node’s part of that room.'),
    isUnknown: fact('The operator cannot say; nothing may change.'),
  })
  .meta({ description: 'What the operator tells the node’s agent about the pod.' })
  .optional();

export const podAllocationStatusSchema = z
  .object({
    appliedCPURequest: quantity('CPU request the pod has.').optional(),
    appliedCPULimit: quantity('CPU limit the pod has.').optional(),
    phase: z
      .enum(['Pending', 'Applied', 'Failed'])
      .meta({ description: 'Applied only while the pod has what is desired.' })
      .optional(),
    reason: text('Why, in one word (docs/skip-reasons.md) or a sentence.', 4096).optional(),
    lastAppliedTime: timeField('When a change was last made.').optional(),
    lastAttemptTime: timeField('When a change was last tried.').optional(),
    shadowPriceCPU: z.number().min(0).meta({ description: 'Utility of one more core of the node.' }).optional(),
    observedGeneration: z.int().min(0).meta({ description: 'The generation this status is about.' }).optional(),
    conditions: listMap(condition, ['type']).max(20).optional(),
    guidance,
  })
  .meta({ description: 'What became of it.' });

export const podAllocationDescription: CrdDescription = {
  group: podAllocations.group,
  version: podAllocations.version,
  kind: podAllocations.kind,
  plural: podAllocations.plural,
  singular: 'podallocation',
  shortNames: ['pa'],
  namespaced: true,
  description: 'What share of its node’s CPU a pod should have, written by the node’s agent, and what became of it.',
  spec: podAllocationSpecSchema,
  status: podAllocationStatusSchema,
  columns: [
    { name: 'Namespace', type: 'string', jsonPath: '.spec.namespace' },
    { name: 'Pod', type: 'string', jsonPath: '.spec.podName' },
    { name: 'Desired Request', type: 'string', jsonPath: '.spec.desiredCPURequest' },
    { name: 'Desired Limit', type: 'string', jsonPath: '.spec.desiredCPULimit' },
    { name: 'Applied Request', type: 'string', jsonPath: '.status.appliedCPURequest' },
    { name: 'Applied Limit', type: 'string', jsonPath: '.status.appliedCPULimit' },
    { name: 'Status', type: 'string', jsonPath: '.status.phase' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Node', type: 'string', jsonPath: '.spec.nodeName', priority: 1 },
    { name: 'Mode', type: 'string', jsonPath: '.spec.decision.mode', priority: 1 },
    { name: 'Reason', type: 'string', jsonPath: '.status.reason', priority: 1 },
  ],
};
