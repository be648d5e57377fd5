/** Workloads of one name in all namespaces, for messages about one that is not where it was looked for. */
import type { KubeObject } from '../../api/core.ts';
import { KubeError } from '../../api/kube-error.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { CliContext } from '../cli-context.ts';
import { withCluster } from '../with-cluster.ts';
import { readAllowed } from './read-allowed.ts';

const types: readonly ResourceType[] = [resources.deployments, resources.statefulSets, resources.daemonSets];

/** Empty for who may not list them: a hint must not cost the message. */
export async function namedAlike(context: CliContext, name: string): Promise<readonly WorkloadRef[]> {
  const { signal } = context.io;
  return await withCluster(context, async (api) => {
    const found: WorkloadRef[] = [];
    for (const type of types) {
      const add = ({ metadata }: KubeObject): void =>
        void found.push({ kind: type.kind, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' });
      const fieldSelector = `metadata.name=${name}`;
      try {
        await readAllowed({ api, signal }, type, undefined, () => ({ add }), { fieldSelector });
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
      }
    }
    return found;
  });
}
