/** What can happen in a scenario at a time: clouds, people, machines and the operator itself. */
import * as z from 'zod';
import { annotationText, duration, share } from './values.ts';

const at = duration;
/** Names of pools; `*` stands for any text. */
const pools = z.string().min(1).default('*');
/** `namespace/name` of a workload. */
const workload = z.string().regex(/^[-a-z0-9]+\/[-a-z0-9.]+$/, 'write namespace/name, such as shop/web');
const lasting = duration.optional();

const effect = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('drop') }),
  z.strictObject({ kind: z.literal('drop-after') }),
  z.strictObject({ kind: z.literal('twice') }),
  z.strictObject({ kind: z.literal('outage') }),
  z.strictObject({ kind: z.literal('freeze'), millis: z.int().min(1) }),
  z.strictObject({ kind: z.literal('slow'), millis: z.int().min(1) }),
  z.strictObject({
    kind: z.literal('status'),
    code: z.int().min(400).max(599),
    retryAfterSeconds: z.int().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal('expire-watch'), afterEvents: z.int().min(0) }),
  z.strictObject({ kind: z.literal('cut-watch'), afterEvents: z.int().min(0) }),
  z.strictObject({ kind: z.literal('duplicate-events') }),
  z.strictObject({ kind: z.literal('lose-bookmarks') }),
  z.strictObject({ kind: z.literal('delay-events'), millis: z.int().min(1) }),
  z.strictObject({ kind: z.literal('stale-reads'), revisions: z.int().min(1) }),
]);

export const event = z.discriminatedUnion('do', [
  /** The cloud has no more machines of these pools; those that run stay. */
  z.strictObject({ at, do: z.literal('close-pools'), pools, zone: z.string().optional(), for: lasting }),
  z.strictObject({ at, do: z.literal('open-pools'), pools, zone: z.string().optional() }),
  /** The cloud takes a share of the spot nodes back, each with its notice. */
  z.strictObject({ at, do: z.literal('storm'), pools, share, within: duration.default(600_000) }),
  /** Machines die without notice. */
  z.strictObject({ at, do: z.literal('lose-nodes'), pools, count: z.int().min(1).default(1) }),
  /** Somebody drains nodes as kubectl does, and lets pods in again after a time. */
  z.strictObject({ at, do: z.literal('drain-nodes'), pools, count: z.int().min(1).default(1), for: duration }),
  /** The API server cannot reach the operator, or does not get its answers in time, for a share of the pods: these are let in as they are. */
  z.strictObject({
    at,
    do: z.literal('webhook-down'),
    share: share.default(1),
    loses: z.enum(['requests', 'answers']).default('requests'),
    for: lasting,
  }),
  z.strictObject({ at, do: z.literal('webhook-up') }),
  /** The workload gets a new revision. */
  z.strictObject({ at, do: z.literal('rollout'), workload }),
  z.strictObject({ at, do: z.literal('scale'), workload, replicas: z.int().min(0) }),
  /** Annotations of a workload or, given without a slash, of a namespace; null removes one. */
  z.strictObject({
    at,
    do: z.literal('annotate'),
    target: z.string().min(1),
    annotations: z.record(z.string(), annotationText.nullable()),
  }),
  /** Somebody deletes pods of a workload, any of them. */
  z.strictObject({ at, do: z.literal('delete-pods'), workload, count: z.int().min(1).default(1) }),
  /** A workload is deleted with its pods and made again: the same name, another uid. */
  z.strictObject({ at, do: z.literal('recreate'), workload }),
  /** A merge patch to any object of a built-in kind that lives in a namespace. */
  z.strictObject({
    at,
    do: z.literal('patch'),
    kind: z.string().min(1),
    object: workload,
    body: z.record(z.string(), z.unknown()),
  }),
  /**
   * A changed configuration file reaches all replicas of the operator, or the oldest only: files reach machines one by one. What simulations
   * judge by (read-only mode, engines, rounding, evictions at once) has to stay.
   */
  z.strictObject({
    at,
    do: z.literal('reload-config'),
    operator: z.record(z.string(), z.unknown()),
    reaches: z.enum(['all', 'oldest']).default('all'),
  }),
  /** Makes an object, or changes it to be as it is given. Policies are told of in `policies`. */
  z.strictObject({ at, do: z.literal('apply'), object: z.looseObject({ apiVersion: z.string(), kind: z.string() }) }),
  /** Removes an object of a built-in kind that lives in a namespace. */
  z.strictObject({ at, do: z.literal('delete'), kind: z.string().min(1), object: workload }),
  /** Something keeps pods of a workload from going, once they are deleted: a finalizer that nobody takes away. */
  z.strictObject({ at, do: z.literal('hold-pods'), workload, count: z.int().min(1).default(1), for: duration }),
  /** Kubelets of nodes cannot be reached; then they are back. */
  z.strictObject({ at, do: z.literal('silence-nodes'), pools, count: z.int().min(1).default(1), for: duration }),
  /** Stops an operator replica in order, or as if its machine were gone, and starts another. */
  z.strictObject({ at, do: z.literal('restart-operator'), after: duration.default(10_000) }),
  z.strictObject({ at, do: z.literal('crash-operator'), after: duration.default(20_000) }),
  /** The oldest replica does not reach the API server for a time, though it is reached. */
  z.strictObject({ at, do: z.literal('isolate-operator'), for: duration }),
  /**
   * The replica that makes the next write of a resource (`pods/eviction`, say) is gone as with its machine: just before
   * the API server got the write, or just after. Another takes its place.
   */
  z.strictObject({
    at,
    do: z.literal('crash-at-write'),
    resource: z.string().min(1),
    moment: z.enum(['before', 'after']).default('after'),
    after: duration.default(20_000),
  }),
  /** The clock of the oldest replica's machine is set, or those of all. Their timers go on. */
  z.strictObject({
    at,
    do: z.literal('set-clock'),
    of: z.enum(['oldest', 'all']).default('oldest'),
    by: duration,
    direction: z.enum(['forwards', 'backwards']).default('forwards'),
  }),
  /** Part of an OptimizationPolicy's spec is changed: a merge patch. */
  z.strictObject({ at, do: z.literal('change-policy'), policy: workload, spec: z.record(z.string(), z.unknown()) }),
  z.strictObject({ at, do: z.literal('delete-policy'), policy: workload }),
  /** Somebody deletes a namespace with all that is in it, and makes it again as it was at first. */
  z.strictObject({ at, do: z.literal('recreate-namespace'), namespace: z.string().min(1) }),
  /** Stowage's own resource definitions are removed, all their objects with them; policies are made again as at first. */
  z.strictObject({ at, do: z.literal('remove-definitions'), for: duration }),
  /** An admission webhook of others changes what is written to the namespace `shop` (meddlers.ts). */
  z.strictObject({
    at,
    do: z.literal('meddle'),
    how: z.enum(['sidecar', 'round-sizes', 'drop-affinity']),
    for: duration,
  }),
  /** Another writer is at work on the namespace `shop` (rivals.ts). */
  z.strictObject({ at, do: z.literal('rival'), who: z.enum(['resizer', 'applier', 'replacer']), for: duration }),
  /** All watches of Stowage break, none can be begun for a time, and none can go on from where it was: all is listed anew. */
  z.strictObject({ at, do: z.literal('watch-storm'), for: duration }),
  /**
   * The API server restarts: answers to writes are lost, then nobody is there for a time, then much is refused for as long; what was
   * watched is to be listed anew.
   */
  z.strictObject({ at, do: z.literal('restart-api'), for: duration }),
  /**
   * What the metrics API tells of pods is wrong: of some of them nothing, what was true at the beginning, or no
   * numbers.
   */
  z.strictObject({ at, do: z.literal('metrics-wrong'), tells: z.enum(['part', 'old', 'nonsense']), for: duration }),
  /** The metrics API knows nothing. */
  z.strictObject({ at, do: z.literal('metrics-down'), for: duration }),
  /** Node agents die, and others take their place. */
  z.strictObject({ at, do: z.literal('kill-agents'), count: z.int().min(1).default(1), after: duration }),
  /** The calls of the operator, or of the agents, to the API fail. */
  z.strictObject({
    at,
    do: z.literal('api-fault'),
    of: z.enum(['operator', 'agents']).default('operator'),
    effect,
    verbs: z.array(z.string()).optional(),
    resources: z.array(z.string()).optional(),
    probability: z.number().min(0).max(1).optional(),
    for: duration,
  }),
]);

export type ScenarioEvent = z.output<typeof event>;
export type ScenarioEventInput = z.input<typeof event>;
