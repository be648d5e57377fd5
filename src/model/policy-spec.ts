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

export interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
}

export interface PrometheusAccess {
  readonly url: string | undefined;
  /** Secrets are of the policy's namespace. */
  readonly headersSecret: string | undefined;
  readonly bearerTokenSecret: SecretKeyRef | undefined;
  readonly caSecret: SecretKeyRef | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** One value a resource. */
export interface PerResource<Value> {
  readonly cpu: Value;
  readonly memory: Value;
}

export interface PolicyMetrics {
  readonly provider: MetricsProviderName;
  readonly rollingWindowMillis: Millis;
  readonly strategy: StrategyName;
  readonly percentile: PerResource<Percent>;
  readonly safetyFactor: PerResource<number>;
  readonly minSamples: number;
  readonly minHistoryMillis: Millis;
  readonly startupExclusionMillis: Millis;
  readonly halfLifeMillis: Millis;
  readonly costAware: { readonly exceededHours: number; readonly minGainUp: number; readonly minGainDown: number };
  readonly prometheus: PrometheusAccess;
  /** Name of the operator's source, for provider `custom`. */
  readonly customSource: string | undefined;
}

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
  readonly allowRecreate: boolean;
  readonly updateRequestsOnly: boolean;
  readonly useServerSideApply: boolean;
  /** In force where `updateRequestsOnly` is false. */
  readonly limits: PolicyLimits;
  readonly minChange: number;
  readonly cooldownMillis: Millis;
  /** Share of the request; undefined is no bound. */
  readonly maxStepUp: number | undefined;
  readonly maxStepDown: number;
  readonly memoryDecrease: MemoryDecrease;
  readonly evictToResize: boolean;
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
  readonly intervalMillis: Millis;
  readonly hpa: HpaMode;
  readonly annotateRecommendations: boolean;
}
