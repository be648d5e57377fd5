/** The connection of a pod to its own cluster, by the service account files and variables the kubelet provides. */
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { StowageError } from '../../lib/errors.ts';
import type { Connection } from '../connection.ts';
import { createFileSource } from './file-source.ts';

/** Source: Kubernetes documentation, "Accessing the API from a Pod". */
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

type Environment = Readonly<Record<string, string | undefined>>;

/** The kubelet sets both in every container; `enableServiceLinks: false` does not take them away. */
export function isInCluster(env: Environment): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST']) && Boolean(env['KUBERNETES_SERVICE_PORT']);
}

/**
 * @param directory where token, ca.crt and namespace are.
 * @throws StowageError when this is no pod, or one without a mounted service account token.
 */
export async function inClusterConnection(
  env: Environment,
  clock: Clock,
  directory: string = SERVICE_ACCOUNT_DIRECTORY,
): Promise<Connection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) {
    throw new StowageError(
      'KUBE_NOT_IN_CLUSTER',
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is not a pod. Give --kubeconfig or set KUBECONFIG.',
    );
  }
  const token = createFileSource(join(directory, 'token'), 'service account token', clock);
  const ca = createFileSource(join(directory, 'ca.crt'), "cluster's CA certificate", clock);
  const namespace = createFileSource(join(directory, 'namespace'), 'namespace of the pod', clock);
  // A missing file is a mistake of the pod's specification; said now, not at the first request.
  await token.read();
  await ca.read();
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    description: `the service account in ${directory}`,
    namespace: await namespace.read().then(
      (text) => text.trim() || 'default',
      () => 'default',
    ),
    credentials: { current: async () => ({ token: (await token.read()).trim() }), invalidate: token.invalidate },
    trust: { current: async () => ({ ca: await ca.read() }), invalidate: ca.invalidate },
  };
}
