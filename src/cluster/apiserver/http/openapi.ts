/**
 * OpenAPI documents, as much as kubectl needs: that server-side validation and dry run are offered, and no schema, so
 * that it neither validates nor merges by one. Sources: kubectl's query parameter verifier and its patcher.
 */
import { Buffer } from 'node:buffer';
import type { JsonObject } from '../json.ts';
import type { ServedType } from '../served-type.ts';

const rootOf = ({ group, version }: Pick<ServedType, 'group' | 'version'>): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/** `/openapi/v3`. */
export function openApiIndex(types: readonly ServedType[]): JsonObject {
  const roots = [...new Set(types.map(rootOf))];
  return { paths: Object.fromEntries(roots.map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }])) };
}

const PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));

/** `/openapi/v3/api/v1` and the like; undefined when nothing is served there. */
export function openApiV3(types: readonly ServedType[], root: string): JsonObject | undefined {
  const served = types.filter((type) => rootOf(type) === root);
  if (served.length === 0) return undefined;
  const paths: JsonObject = {};
  const schemas: JsonObject = {};
  for (const type of served) {
    const groupVersionKind = { group: type.group, version: type.version, kind: type.kind };
    const collection = `/${root}/${type.namespaced ? 'namespaces/{namespace}/' : ''}${type.plural}`;
    const operation = {
      parameters: PARAMETERS.map((parameter) => ({ ...parameter })),
      responses: {},
      'x-kubernetes-group-version-kind': groupVersionKind,
    };
    paths[collection] = { post: { ...operation, 'x-kubernetes-action': 'post' } };
    paths[`${collection}/{name}`] = {
      patch: { ...operation, 'x-kubernetes-action': 'patch' },
      put: { ...operation, 'x-kubernetes-action': 'put' },
    };
    const name = `${type.group === '' ? 'core' : type.group}.${type.version}.${type.kind}`;
    schemas[name] = { type: 'object', 'x-kubernetes-group-version-kind': [groupVersionKind] };
  }
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'unversioned' }, paths, components: { schemas } };
}

export function openApiV2(): JsonObject {
  return { swagger: '2.0', info: { title: 'Kubernetes', version: 'unversioned' }, paths: {}, definitions: {} };
}

/** A protobuf string field. */
function textField(field: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([(field << 3) | 2, bytes.length]), bytes]);
}

/** The same document in the only encoding old kubectl versions read (gnostic openapi_v2.Document: swagger 1, info 2, paths 8). */
export function openApiV2Protobuf(): Buffer {
  const info = Buffer.concat([textField(1, 'Kubernetes'), textField(2, 'unversioned')]);
  return Buffer.concat([
    textField(1, '2.0'),
    Buffer.from([(2 << 3) | 2, info.length]),
    info,
    Buffer.from([(8 << 3) | 2, 0]),
  ]);
}
