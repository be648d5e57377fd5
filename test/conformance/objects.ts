/** The smallest objects the conformance tests are made of. */
import type { Json } from './endpoint.ts';

export interface PodInput {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly nodeName?: string;
  readonly resources?: Json;
}

/** Pods name a scheduler that does not exist: on a cluster with nodes they stay where the test puts them. */
export const NO_SCHEDULER = 'conformance';

export function podSpec({ nodeName, resources }: Pick<PodInput, 'nodeName' | 'resources'> = {}): Json {
  return {
    schedulerName: NO_SCHEDULER,
    containers: [{ name: 'main', image: 'example.test/app:1', ...(resources === undefined ? {} : { resources }) }],
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}

export function pod(name: string, input: PodInput = {}): Json {
  const { labels, annotations } = input;
  return {
    metadata: { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
    spec: podSpec(input),
  };
}

/** Spec of a Deployment, ReplicaSet or StatefulSet. */
export function workloadSpec(app: string, replicas?: number): Json {
  return {
    ...(replicas === undefined ? {} : { replicas }),
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: podSpec() },
  };
}

export function workload(name: string, replicas?: number): Json {
  return { metadata: { name }, spec: workloadSpec(name, replicas) };
}

/** Status of a pod as a kubelet reports it; ready since `readySince` (RFC 3339). */
export function runningStatus(readySince = '2026-01-01T00:00:00Z', ready = true): Json {
  const condition = { status: ready ? 'True' : 'False', lastTransitionTime: readySince };
  return {
    phase: 'Running',
    startTime: readySince,
    conditions: [
      { type: 'Ready', ...condition },
      { type: 'ContainersReady', ...condition },
    ],
    containerStatuses: [
      {
        name: 'main',
        image: 'example.test/app:1',
        imageID: '',
        ready,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: readySince } },
      },
    ],
  };
}

/** An Eviction of the policy/v1 API. */
export function eviction(name: string, deleteOptions?: Json): Json {
  return { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...(deleteOptions ? { deleteOptions } : {}) };
}
