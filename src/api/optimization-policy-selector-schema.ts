/** The `selector` of an OptimizationPolicy: which workloads it is about. */
import * as z from 'zod';
import { withRules } from './crd/cel-rule.ts';
import { validateLabelSelector } from './label-selector.ts';
import { policyKinds } from './optimization-policy.ts';

const SELECTOR_OPERATORS = 'In, NotIn, Exists or DoesNotExist';

/** metav1.LabelSelector. Wrong keys, operators and values are told by {@link validateLabelSelector}. */
function labelSelector(description: string) {
  const requirement = z.object({
    key: z.string().meta({ description: 'Key of the label.' }),
    operator: z.string().meta({ description: `How the label relates to the values: ${SELECTOR_OPERATORS}.` }),
    values: z
      .array(z.string())
      .meta({ 'x-kubernetes-list-type': 'atomic', description: 'Needed for In and NotIn, not allowed otherwise.' })
      .optional(),
  });
  return z
    .object({
      matchLabels: z
        .record(z.string(), z.string())
        .meta({ description: 'Labels that must have these values.' })
        .optional(),
      matchExpressions: z
        .array(requirement)
        .meta({ 'x-kubernetes-list-type': 'atomic', description: 'Conditions on labels; all of them must hold.' })
        .optional(),
    })
    .superRefine((selector, context) => {
      for (const message of validateLabelSelector(toLabelSelector(selector)))
        context.addIssue({ code: 'custom', message });
    })
    .meta({ description, 'x-kubernetes-map-type': 'atomic' });
}

interface ParsedLabelSelector {
  readonly matchLabels?: Record<string, string> | undefined;
  readonly matchExpressions?: { key: string; operator: string; values?: string[] | undefined }[] | undefined;
}

/** Without the keys that say `undefined`. */
export function toLabelSelector({ matchLabels, matchExpressions }: ParsedLabelSelector) {
  return {
    ...(matchLabels !== undefined && { matchLabels }),
    ...(matchExpressions !== undefined && {
      matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
        key,
        operator,
        ...(values !== undefined && { values }),
      })),
    }),
  };
}

const kindList = (description: string) => z.array(z.enum(policyKinds)).meta({ description }).optional();
const nameList = (description: string) => z.array(z.string()).meta({ description }).optional();

export const policySelectorSchema = withRules(
  z
    .object({
      namespaceSelector: labelSelector('Labels of the namespaces.').optional(),
      workloadSelector: labelSelector('Labels of the workload itself, not of its pods.').optional(),
      namespaces: z
        .object({
          allow: nameList('Only these namespaces. Empty: all. System namespaces must be named here.'),
          deny: nameList('Never these namespaces, whatever else is said.'),
        })
        .meta({ description: 'Namespaces by exact name.' })
        .optional(),
      workloadTypes: z
        .object({
          include: kindList(
            'Only these kinds. Empty: Deployment, StatefulSet and DaemonSet. The other kinds are advised, never changed.',
          ),
          exclude: kindList('Never these kinds, though they are included.'),
        })
        .meta({ description: 'Kinds of workloads.' })
        .optional(),
    })
    .meta({ description: 'Which workloads the policy is about. All parts that are given must match.' }),
  {
    rule: 'has(self.namespaceSelector) || has(self.workloadSelector) || has(self.namespaces)',
    message: 'the selector needs at least one of namespaceSelector, workloadSelector and namespaces',
    holds: ({ namespaceSelector, workloadSelector, namespaces }) =>
      namespaceSelector !== undefined || workloadSelector !== undefined || namespaces !== undefined,
  },
);
