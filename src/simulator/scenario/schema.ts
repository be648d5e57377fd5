/** What a scenario may say: the whole grammar of a scenario file, with defaults. The single source of its types. */
import * as z from 'zod';
import { assertion } from './assertions.ts';
import { event } from './events.ts';
import { annotationText, cpu, duration, instant, interruptionRate, memory, objectName } from './values.ts';

const count = z.int().min(0).max(100_000);

const pool = z.strictObject({
  name: objectName,
  class: z.enum(['spot', 'on-demand']),
  /** Of the catalogue, or any name where cpu, memory and price are given. */
  type: z.string().min(1).default('m6i.xlarge'),
  cpu: cpu.optional(),
  memory: memory.optional(),
  /** A node an hour; default the type's list price, for spot less the type's saving. */
  price: z.number().min(0).optional(),
  /** Default the type's. */
  interruptions: interruptionRate.optional(),
  zones: z.array(z.string().min(1)).min(1).default(['us-east-1a', 'us-east-1b', 'us-east-1c']),
  min: count.default(0),
  max: z.int().min(1).max(10_000).default(500),
  provision: duration.default(40_000),
  profile: z.enum(['karpenter', 'eks', 'gke', 'aks', 'castai']).default('karpenter'),
});

/** Replicas by load: straight lines between points, as a horizontal autoscaler follows them. */
const curve = z
  .strictObject({
    /** Replicas the load needs, by time since the start. */
    points: z.record(z.string(), z.number().min(0).max(100_000)),
    /** The curve begins anew after this time. */
    every: duration.optional(),
    /** Random deviation, as a share. */
    noise: z.number().min(0).max(1).default(0),
  })
  .transform(({ points, ...rest }, context) => ({
    ...rest,
    points: Object.entries(points)
      .map(([at, replicas]) => {
        const parsed = duration.safeParse(at);
        if (!parsed.success) {
          const message = `${parsed.error.issues[0]?.message ?? 'not a time'}; the keys of points are times`;
          context.addIssue({ code: 'custom', message, path: ['points'] });
        }
        return { at: parsed.success ? parsed.data : 0, replicas };
      })
      .sort((left, right) => left.at - right.at),
  }))
  .refine(({ points }) => points.length > 0, 'points needs one entry at least, such as 0h: 10');

const pdb = z
  .strictObject({
    minAvailable: z.union([z.int().min(0), z.string()]).optional(),
    maxUnavailable: z.union([z.int().min(0), z.string()]).optional(),
  })
  .refine(
    ({ minAvailable, maxUnavailable }) => (minAvailable === undefined) !== (maxUnavailable === undefined),
    'give exactly one of minAvailable and maxUnavailable',
  );

/** A Kubernetes object as it is. */
const object = z.looseObject({ apiVersion: z.string().min(1), kind: z.string().min(1) });

/** An OptimizationPolicy; its spec is checked as a cluster checks it. */
const policy = z.strictObject({
  name: objectName,
  namespace: objectName.default('default'),
  spec: z.record(z.string(), z.unknown()),
});

const workload = z.strictObject({
  name: objectName,
  namespace: objectName.default('default'),
  kind: z.enum(['Deployment', 'StatefulSet']).default('Deployment'),
  replicas: z.union([count, curve]),
  /** Copies of this workload, named name-1, name-2 ... */
  copies: z.int().min(1).max(1000).default(1),
  /** spotalis.io/spot-percentage. */
  spot: annotationText.optional(),
  /** spotalis.io/min-on-demand. */
  floor: annotationText.optional(),
  enabled: z.boolean().default(true),
  annotations: z.record(z.string(), annotationText).default({}),
  cpu: cpu.default(250),
  memory: memory.default(256 * 1024 ** 2),
  limits: z.strictObject({ cpu: cpu.optional(), memory: memory.optional() }).default({}),
  /** Resources whose change in place restarts the container. */
  restartOnResize: z.array(z.enum(['cpu', 'memory'])).default([]),
  /** What its pods use: curves of src/cluster/load/parse-curve.ts, or CPU that those that are ready share. Default: next to nothing. */
  use: z
    .strictObject({ cpu: z.string().optional(), memory: z.string().optional(), shared: cpu.optional() })
    .refine(({ cpu: each, shared }) => each === undefined || shared === undefined, 'give one of cpu and shared')
    .default({}),
  labels: z.record(z.string(), z.string()).default({}),
  podLabels: z.record(z.string(), z.string()).default({}),
  pdb: pdb.optional(),
  /** From running to ready. */
  ready: duration.default(3000),
  maxSurge: z.union([z.int().min(0), z.string()]).optional(),
  maxUnavailable: z.union([z.int().min(0), z.string()]).optional(),
});

const namespace = z.strictObject({
  name: objectName,
  enabled: z.boolean().default(true),
  annotations: z.record(z.string(), annotationText).default({}),
});

export const scenarioSchema = z
  .strictObject({
    name: objectName,
    description: z.string().default(''),
    duration,
    seed: z.int().min(0).max(999_999_999).default(1),
    /** The first instant: matters to disruption windows. */
    start: instant.default(Date.UTC(2026, 5, 1)),
    pools: z.array(pool).min(1),
    namespaces: z.array(namespace).default([]),
    workloads: z.array(workload).default([]),
    /** Files or folders of Kubernetes manifests, relative to the scenario's own file. */
    manifests: z.array(z.string().min(1)).default([]),
    /** Further objects, made before the workloads: limit ranges, quotas, autoscalers. */
    objects: z.array(object).default([]),
    policies: z.array(policy).default([]),
    /** Share of the nodes that have an agent, where allocation is on. */
    agents: z.number().min(0).max(1).default(1),
    /** The operator's configuration, as in its file. */
    operator: z.record(z.string(), z.unknown()).default({}),
    replicas: z.int().min(1).max(5).default(1),
    /** How far the clock of an operator replica may be off, either way; drawn for each. */
    clockSkew: duration.default(0),
    /** The same of nodes, whose kubelets date by it what they tell. */
    nodeClockSkew: duration.default(0),
    /** Share of a zone's nodes that one interruption takes within three minutes: machines of one kind are taken together. */
    correlation: z.number().gt(0).max(1).default(0.5),
    events: z.array(event).default([]),
    asserts: z.array(assertion).default([]),
  })
  .refine(({ workloads, manifests }) => workloads.length + manifests.length > 0, {
    message: 'there is nothing to run: give workloads, manifests or both',
    path: ['workloads'],
  });

export type Scenario = z.output<typeof scenarioSchema>;
/** As written: what `stringify` makes a scenario file of. */
export type ScenarioInput = z.input<typeof scenarioSchema>;
export type ScenarioPool = Scenario['pools'][number];
export type ScenarioPolicy = Scenario['policies'][number];
export type ScenarioWorkload = Scenario['workloads'][number];
export type LoadCurve = Exclude<ScenarioWorkload['replicas'], number>;
