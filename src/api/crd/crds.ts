/** The CustomResourceDefinitions Stowage ships. */
import { type PolicyGroup, policyGroups } from '../optimization-policy.ts';
import { policySpecSchema } from '../optimization-policy-schema.ts';
import { policyStatusSchema } from '../optimization-policy-status-schema.ts';
import { podAllocationDescription } from '../pod-allocation-schema.ts';
import type { CrdDescription } from './crd.ts';

const policyDescription = (group: PolicyGroup): CrdDescription => ({
  group,
  version: 'v1alpha1',
  kind: 'OptimizationPolicy',
  plural: 'optimizationpolicies',
  singular: 'optimizationpolicy',
  // kubectl takes the short name for the first of both groups; a category stands for all of its kinds.
  shortNames: ['optpol'],
  categories: ['optpols'],
  namespaced: true,
  description: 'Which workloads are sized, from what usage, within which bounds, and how changes are made.',
  spec: policySpecSchema,
  status: policyStatusSchema,
  columns: [
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
    { name: 'Provider', type: 'string', jsonPath: '.spec.metricsConfig.provider' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Workloads', type: 'integer', jsonPath: '.status.workloadsDiscovered' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

/** In the order of the generated files. */
export const crdDescriptions: readonly CrdDescription[] = [
  ...policyGroups.map(policyDescription),
  podAllocationDescription,
];
