/** Choice of an existing cluster instead of one of our own, with the variable Kubernetes' envtest uses. */
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Environment } from '../programs.ts';

/** @returns the kubeconfig's path when `USE_EXISTING_CLUSTER=true`, else undefined. */
export function existingKubeconfigPath(env: Environment): string | undefined {
  if (env['USE_EXISTING_CLUSTER'] !== 'true') return undefined;
  const [first] = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  return first ?? join(homedir(), '.kube', 'config');
}
