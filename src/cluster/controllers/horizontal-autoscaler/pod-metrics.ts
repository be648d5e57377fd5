/** metrics.k8s.io as an autoscaler reads it. */
import type { KubeObject } from '../../../api/core.ts';
import type { KubeApi } from '../../../api/kube-api.ts';
import { isNotFound, unless } from '../../../api/kube-error.ts';
import type { ResourceType } from '../../../api/resources.ts';
import { nameOf } from '../../objects.ts';

export interface PodMetrics extends KubeObject {
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}

const podMetrics: ResourceType<PodMetrics> = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'pods',
  kind: 'PodMetrics',
  namespaced: true,
};

/** By pod name; empty where nobody serves figures. */
export async function readPodMetrics(api: KubeApi, namespace: string): Promise<ReadonlyMap<string, PodMetrics>> {
  const page = await unless(isNotFound, api.list(podMetrics, { namespace }));
  return new Map((page?.items ?? []).map((each) => [nameOf(each), each]));
}
