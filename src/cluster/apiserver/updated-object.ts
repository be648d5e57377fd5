/**
 * What an update makes of the current object and the wanted one: what must match, and what of it the caller may change.
 */
import { requiredField } from './field-errors.ts';
import { cloneJson, equalJson, shareJson } from './json.ts';
import { keepSystemFields } from './object-meta.ts';
import type { ApiObject, Metadata, ServedType } from './served-type.ts';
import { conflict, failure, invalid, preconditionFailed } from './status-error.ts';

export function checkPreconditions(type: ServedType, current: ApiObject, wanted: ApiObject): void {
  const name = current.metadata.name ?? '';
  const { uid, resourceVersion } = wanted.metadata;
  if (uid && uid !== current.metadata.uid) throw preconditionFailed(type, name, 'UID', uid, current.metadata.uid ?? '');
  if (resourceVersion && !/^\d+$/.test(resourceVersion)) {
    const message = `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`;
    throw failure({ code: 500, reason: '', message });
  }
  if (resourceVersion && resourceVersion !== '0') {
    if (resourceVersion !== current.metadata.resourceVersion) throw conflict(type, name);
  } else if (type.customResource === true || NEEDS_VERSION.has(type.storage)) {
    // The real server names the plural here.
    throw invalid({ group: type.group, kind: type.plural }, name, [requiredVersion()]);
  }
}

/**
 * Types whose updates must name the version they change, as those of all custom resources must.
 * Source: AllowUnconditionalUpdate of the registries' strategies.
 */
const NEEDS_VERSION: ReadonlySet<string> = new Set([
  'coordination.k8s.io/leases',
  'policy/poddisruptionbudgets',
  'apiextensions.k8s.io/customresourcedefinitions',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'storage.k8s.io/csinodes',
]);

function requiredVersion(): ReturnType<typeof requiredField> {
  return {
    ...requiredField('metadata.resourceVersion'),
    reason: 'FieldValueInvalid',
    message: 'Invalid value: 0: must be specified for an update',
  };
}

/**
 * A status update changes the status, and the metadata where the type lets it: custom resources and Deployments do not.
 * The rest is the stored object's own, which has its defaults and is shared; a definition may have got other ones
 * since, so custom resources get a copy. Source: PrepareForUpdate of the status strategies, for custom resources that
 * of apiextensions-apiserver pkg/registry/customresource/status_strategy.go.
 */
export function statusUpdate(type: ServedType, current: ApiObject, decoded: ApiObject): ApiObject {
  const { status } = decoded;
  const metadata: Metadata = { ...current.metadata };
  const { labels, annotations, managedFields, finalizers } = decoded.metadata;
  if (type.customResource === true) {
    if (managedFields !== undefined) metadata.managedFields = cloneJson(managedFields);
  } else if (type.storage !== 'apps/deployments') {
    if (labels === undefined) delete metadata.labels;
    else metadata.labels = shareJson(metadata.labels, cloneJson(labels));
    if (annotations === undefined) delete metadata.annotations;
    else metadata.annotations = shareJson(metadata.annotations, cloneJson(annotations));
    if (managedFields !== undefined) metadata.managedFields = cloneJson(managedFields);
    if (finalizers === undefined) delete metadata.finalizers;
    else metadata.finalizers = cloneJson(finalizers);
  }
  const changing: ApiObject = { apiVersion: current.apiVersion, kind: current.kind, metadata };
  if (status !== undefined) changing['status'] = cloneJson(status);
  const { apiVersion: _a, kind: _b, metadata: _c, status: _d, ...rest } = current;
  if (type.customResource === true) Object.assign(changing, cloneJson(rest));
  type.rules.applyDefaults?.(changing);
  return Object.assign(changing, type.customResource === true ? {} : rest);
}

/** Any other update leaves the status alone, where the type has one of its own. */
export function mainUpdate(type: ServedType, current: ApiObject, decoded: ApiObject): ApiObject {
  const wanted = cloneJson<ApiObject>(decoded);
  keepSystemFields(current, wanted);
  if (type.subresources.includes('status')) {
    if (current['status'] === undefined) delete wanted['status'];
    else wanted['status'] = cloneJson(current['status']);
  }
  type.rules.applyDefaults?.(wanted);
  return wanted;
}

export function contentChanged(current: ApiObject, next: ApiObject): boolean {
  const { metadata: _a, status: _b, ...before } = current;
  const { metadata: _c, status: _d, ...after } = next;
  return !equalJson(before, after);
}
