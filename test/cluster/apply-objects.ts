/** Applies objects of any kind the suites use, as `kubectl apply --server-side` does. */
import type { KubeObject } from '../../src/api/core.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { readManifests } from '../../src/api/manifests.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;

/** Kinds that the product itself never touches. */
const otherTypes = {
  serviceAccounts: { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
  roles: { ...RBAC, plural: 'roles', kind: 'Role', namespaced: true },
  roleBindings: { ...RBAC, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true },
  clusterRoles: { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false },
  clusterRoleBindings: { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
  admissionPolicies: { ...ADMISSION, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' },
  admissionPolicyBindings: {
    ...ADMISSION,
    plural: 'validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
  },
} as const satisfies Record<string, ResourceType>;

export const serviceAccounts: ResourceType = otherTypes.serviceAccounts;

const types: readonly ResourceType[] = [...Object.values(resources), ...Object.values(otherTypes)];

/** @param namespace of namespaced objects that name none. @throws Error for a kind that is not known here. */
export async function applyObject(api: KubeApi, object: KubeObject, namespace?: string): Promise<void> {
  const { type, name, place } = placeOf(object, namespace);
  await api.patch(type, name, { type: 'apply', body: object, force: true }, { ...place, fieldManager: 'e2e' });
}

/** @throws Error for a kind that is not known here, KubeError where there is no such object. */
export async function deleteObject(api: KubeApi, object: KubeObject): Promise<void> {
  const { type, name, place } = placeOf(object, undefined);
  await api.delete(type, name, place);
}

function placeOf({ kind, metadata = {} }: KubeObject, otherwise: string | undefined) {
  const type = types.find((each) => each.kind === kind);
  if (type === undefined) throw new Error(`no way to apply a ${kind}`);
  const { name = '', namespace = otherwise } = metadata;
  return { type, name, place: type.namespaced && namespace !== undefined ? { namespace } : {} };
}

/** Objects of a file of the repository, e.g. `deploy/rbac.yaml`. @throws Error if any of it cannot be read. */
export async function readObjects(path: string): Promise<readonly KubeObject[]> {
  const { objects, problems } = await readManifests([new URL(`../../${path}`, import.meta.url).pathname]);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return objects;
}
