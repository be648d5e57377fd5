/** The rights of somebody with a Role in one namespace, on whichever backend. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { KubeObject } from '../../api/core.ts';

export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export type RoleObject = KubeObject & { readonly rules: readonly RoleRule[] };

/** The Role that the documentation has readers given, in a namespace. */
export function readerRole(namespace: string): RoleObject {
  const path = new URL('../../../deploy/rbac-reader.yaml', import.meta.url);
  const role: RoleObject = parse(readFileSync(path, 'utf8'));
  return { ...role, metadata: { ...role.metadata, namespace } };
}

/** The Role for `restore` that the page on rights shows. */
export function restoreRole(namespace: string): RoleObject {
  const page = readFileSync(new URL('../../../docs/rights.md', import.meta.url), 'utf8');
  const text = /## Giving sizes back.*?```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
  const role: RoleObject = parse(text);
  return { ...role, metadata: { ...role.metadata, namespace } };
}

const RBAC = 'rbac.authorization.k8s.io';

/** Binds a role to a user: in the namespace, or where that is undefined in the whole cluster. */
export function bindingOf(
  namespace: string | undefined,
  user: string,
  { kind, name }: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string },
): KubeObject {
  const binding = {
    apiVersion: `${RBAC}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: `${name}-${user}`, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  };
  return binding;
}
