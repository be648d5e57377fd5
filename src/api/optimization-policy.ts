/** OptimizationPolicy as an API object: its two groups, and its type as sent over the wire. */
import type { KubeObject } from './core.ts';
import type { OptimizationPolicyStatus } from './optimization-policy-status.ts';
import type { ResourceType } from './resources.ts';

/** The group of the design, and the one OptiPod ships; the same kind with the same schema in both. */
export const policyGroups = ['optipod.io', 'optipod.optipod.io'] as const;
export type PolicyGroup = (typeof policyGroups)[number];

/** `spec` is unchecked: what is stored may be older or newer than this version, and one bad object must not stop the others. */
export interface OptimizationPolicy extends KubeObject {
  spec?: unknown;
  status?: OptimizationPolicyStatus;
}

/** The resource type of one of the groups. */
export function policyType(group: PolicyGroup): ResourceType<OptimizationPolicy> {
  return { group, version: 'v1alpha1', plural: 'optimizationpolicies', kind: 'OptimizationPolicy', namespaced: true };
}

/** `Auto` changes workloads, `Recommend` writes its advice into the status only, `Disabled` does neither. */
export const policyModes = ['Auto', 'Recommend', 'Disabled'] as const;
export type PolicyMode = (typeof policyModes)[number];

/** The kinds OptiPod knows; they are in force where a policy names none. */
export const managedKinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
/** Kinds that are only advised, and only where `workloadTypes.include` names them. */
export const advisedKinds = ['CronJob', 'Job', 'ReplicaSet', 'Rollout'] as const;

/** Whether sizes of workloads of this kind are written; those of the others are advised: their pods end by themselves, or a tool of its own rolls them out. */
export function isManagedKind(kind: string): boolean {
  return managedKinds.some((each) => each === kind);
}

/** All kinds a policy may name. */
export const policyKinds = [...managedKinds, ...advisedKinds] as const;
export type PolicyKind = (typeof policyKinds)[number];

/** Where usage comes from; `custom` is an HTTP endpoint of the user's. */
export const metricsProviders = ['prometheus', 'metrics-server', 'custom'] as const;
export type MetricsProviderName = (typeof metricsProviders)[number];

export const percentileNames = ['P50', 'P90', 'P95', 'P99'] as const;
/** How usage becomes a request; see decide/rightsizing/policy-rules.ts. */
export const strategies = ['Percentile', 'Histogram', 'Max', 'CostAware'] as const;
export type StrategyName = (typeof strategies)[number];

/**
 * Whether memory requests may fall. `WhenSafe`: not below the recent peak, and limits not below it and a margin.
 * `Always`: limits still never fall below the highest use seen.
 */
export const memoryDecreases = ['Never', 'WhenSafe', 'Always'] as const;
export type MemoryDecrease = (typeof memoryDecreases)[number];

/** What becomes of a resource that a HorizontalPodAutoscaler scales by utilization of its request. */
export const hpaModes = ['KeepScalePoint', 'LimitsOnly', 'Skip', 'Ignore'] as const;
export type HpaMode = (typeof hpaModes)[number];

/** What becomes of limits when requests change: left alone, kept in proportion, or set above the highest use. */
export const limitPolicies = ['Keep', 'Ratio', 'Headroom'] as const;
export type LimitPolicy = (typeof limitPolicies)[number];
