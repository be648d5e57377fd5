/**
 * Finds the connection to use: an explicit kubeconfig, KUBECONFIG, the pod's service account, or ~/.kube/config, in
 * this order.
 */
import { delimiter, join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { Connection } from '../connection.ts';
import { inClusterConnection, isInCluster } from './in-cluster.ts';

export interface ConnectionOptions {
  /** As given by the user (--kubeconfig); must exist. */
  readonly kubeconfig?: string;
  /** Context to use instead of the current one. */
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly clock: Clock;
  /** Where a pod's service account files are; another folder in tests. */
  readonly serviceAccountDirectory?: string;
}

/**
 * The order is controller-runtime's: a pod uses its service account unless told otherwise.
 * @throws KubeconfigError or StowageError with one message saying what to do.
 */
export async function loadConnection(options: ConnectionOptions): Promise<Connection> {
  const { kubeconfig, context, env, homeDirectory, clock, serviceAccountDirectory } = options;
  const fromFiles = async (files: readonly string[]): Promise<Connection> => {
    const { kubeconfigConnection } = await import('./kubeconfig.ts');
    return await kubeconfigConnection({ files, env, clock, ...(context !== undefined && { context }) });
  };
  if (kubeconfig !== undefined) return await fromFiles([kubeconfig]);
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) return await fromFiles(listed);
  // A context can only be meant for a kubeconfig.
  if (context === undefined && isInCluster(env)) return await inClusterConnection(env, clock, serviceAccountDirectory);
  return await fromFiles([join(homeDirectory, '.kube', 'config')]);
}
