/** A write as webhooks and the expressions of policies see it: the request of an AdmissionReview. */
import { type JsonObject, toJson } from '../json.ts';
import type { AdmissionAttributes } from '../request.ts';

export interface ReviewRequest extends JsonObject {
  uid: string;
}

const OPTIONS_KINDS: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** @param uid tells the answer which question it belongs to */
export function requestOf(attributes: AdmissionAttributes, uid: string): ReviewRequest {
  const { type, operation, subresource, namespace, name, object, oldObject, context } = attributes;
  const body = object ?? oldObject;
  const [group, version] = splitApiVersion(body?.apiVersion ?? '');
  const kind = { group, version, kind: body?.kind ?? type.kind };
  const resource = { group: type.group, version: type.version, resource: type.plural };
  const options = OPTIONS_KINDS[operation];
  return {
    uid,
    kind,
    resource,
    ...(subresource === '' ? {} : { subResource: subresource, requestSubResource: subresource }),
    requestKind: kind,
    requestResource: resource,
    ...(name === '' ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    operation,
    userInfo: {
      username: context.caller.name,
      groups: [...context.caller.groups],
      ...(context.caller.uid === undefined ? {} : { uid: context.caller.uid }),
      ...(context.caller.extra === undefined ? {} : { extra: toJson(context.caller.extra) }),
    },
    object: object ?? null,
    oldObject: oldObject ?? null,
    dryRun: context.dryRun,
    options:
      options === undefined
        ? null
        : {
            kind: options,
            apiVersion: 'meta.k8s.io/v1',
            ...(context.dryRun ? { dryRun: ['All'] } : {}),
            fieldManager: context.fieldManager,
          },
  };
}

function splitApiVersion(apiVersion: string): [group: string, version: string] {
  const [first = '', second] = apiVersion.split('/');
  return second === undefined ? ['', first] : [first, second];
}
