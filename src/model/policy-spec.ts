/** What a policy says, as plain numbers: every default filled in, durations in milliseconds, shares as fractions. */
import type { LabelMatcher } from '../api/label-selector.ts';
import type {
  HpaMode,
  LimitPolicy,
  MemoryDecrease,
  MetricsProviderName,
  PolicyMode,
  StrategyName,
} from '../api/optimization-policy.ts';
import type { DisruptionWindow } from '../lib/schedule.ts';
import type { Bytes, Millicores, Millis, Percent } from '../lib/units.ts';

export interface PolicySelector {
  /** Undefined: any namespace. */
  readonly matchesNamespace: LabelMatcher | undefined;
  /** Over the labels of the workload itself. Undefined: any workload. */
  readonly matchesWorkload: LabelMatcher | undefined;
  /** Empty: every namespace but the system's. */
  readonly allow: ReadonlySet<string>;
  /** Wins over `allow`. */
  readonly deny: ReadonlySet<string>;
  /** What is left of the included kinds after the excluded ones; may be empty. */
  readonly kinds: ReadonlySet<string>;
}

/** A key of a Secret in the namespace of the policy. */
export interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
}

export interface PrometheusAccess {
  /** Undefined: the operator's own. A policy's must be allowed by the operator's configuration. */
  readonly url: string | undefined;
  /** Name of a Secret in the namespace of the policy, each key of which is a header. */
  readonly headersSecret: string | undefined;
  readonly bearerTokenSecret: SecretKeyRef | undefined;
  readonly caSecret: SecretKeyRef | undefined;
  /** Labels every series must have. */
  readonly labels: Readonly<Record<string, string>>;
}

/** One value a resource. */
export interface PerResource<Value> {
  readonly cpu: Value;
  readonly memory: Value;
}

/** Where usage comes from, and what is made of it. */
export interface PolicyMetrics {
  readonly provider: MetricsProviderName;
  /** What the strategies Percentile and Max look back over; 90 days at most. */
  readonly rollingWindowMillis: Millis;
  /** The policy asks for longer. */
  readonly isWindowCut?: boolean;
  readonly strategy: StrategyName;
  readonly percentile: PerResource<Percent>;
  /** At least 1. */
  readonly safetyFactor: PerResource<number>;
  /** CPU samples, and length of history, that are enough to lower a request; 0 asks for none. */
  readonly minSamples: number;
  readonly minHistoryMillis: Millis;
  /** CPU used so long after a container's start is left out. */
  readonly startupExclusionMillis: Millis;
  /** Of strategy Histogram: the age at which usage counts half. */
  readonly halfLifeMillis: Millis;
  /** See `CostAwareTarget` in decide/rightsizing/policy.ts. */
  readonly costAware: { readonly exceededHours: number; readonly minGainUp: number; readonly minGainDown: number };
  readonly prometheus: PrometheusAccess;
  /** Name of the operator's source, for provider `custom`. */
  readonly customSource: string | undefined;
}

/** Both inclusive; `min` at most `max`. */
export interface PolicyBounds<Unit> {
  readonly min: Unit;
  readonly max: Unit;
}

export interface PolicyLimits {
  /** Undefined: the limit is the request times `multiplier`, as OptiPod has it. */
  readonly policy: LimitPolicy | undefined;
  readonly multiplier: PerResource<number>;
  /** What the limit is above the request under policy `Headroom`; undefined: the limit stays. */
  readonly headroom: { readonly cpu: Millicores | undefined; readonly memory: Bytes | undefined };
}

export interface PolicyUpdates {
  readonly allowInPlaceResize: boolean;
  /** Pods may be replaced and containers restarted for their sizes. */
  readonly allowRecreate: boolean;
  /** Limits stay as they are. */
  readonly updateRequestsOnly: boolean;
  readonly useServerSideApply: boolean;
  /** In force where `updateRequestsOnly` is false. */
  readonly limits: PolicyLimits;
  /** Share of the request, 0..1, below which a change is not worth it. */
  readonly minChange: number;
  readonly cooldownMillis: Millis;
  /** Share of the request; undefined is no bound. */
  readonly maxStepUp: number | undefined;
  readonly maxStepDown: number;
  readonly memoryDecrease: MemoryDecrease;
  /** With `allowRecreate`: single pods are evicted and born with their sizes, and the template stays. */
  readonly evictToResize: boolean;
  /** Replicas that have an identity are sized each by its own usage, in place and at admission. */
  readonly sizePerReplica: boolean;
  /** Undefined: at any time. */
  readonly window: DisruptionWindow | undefined;
}

export interface PolicySpec {
  readonly mode: PolicyMode;
  /** 1..1000, the highest wins. */
  readonly weight: number;
  /** Undefined: the widest that the tenancy grants. */
  readonly scope: 'Namespace' | 'Cluster' | undefined;
  readonly selector: PolicySelector;
  readonly metrics: PolicyMetrics;
  readonly bounds: { readonly cpu: PolicyBounds<Millicores>; readonly memory: PolicyBounds<Bytes> };
  readonly updates: PolicyUpdates;
  /** Between two looks at all its workloads. */
  readonly intervalMillis: Millis;
  readonly hpa: HpaMode;
  readonly annotateRecommendations: boolean;
}
