/** Puts objects read from manifests or from a dump of a real cluster into a cluster, creating what is missing and patching what is there. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isAlreadyExists, unless } from '../api/kube-error.ts';
import { apiVersionOf, type ResourceType } from '../api/resources.ts';
import { describeError } from '../lib/errors.ts';
import { controllerOf, keyOf, nameOf } from './objects.ts';

/** What became of the objects given. */
export interface Applied {
  readonly applied: number;
  /** Left alone on purpose, e.g. pods that their controller makes by itself. */
  readonly skipped: readonly string[];
  /** One sentence each. */
  readonly problems: readonly string[];
}

const FIELD_MANAGER = 'stowage-cluster';
/** Set by the server or its controllers; a dump carries them. */
const SERVER_METADATA: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
]);
/** Kinds of a dump that describe what was, not what should be. */
const RECORDS: ReadonlySet<string> = new Set([
  'Event',
  'Endpoints',
  'EndpointSlice',
  'Lease',
  'Node',
  'ControllerRevision',
]);

/** Objects that fail are named among the problems; the others are applied all the same. */
export async function applyObjects(
  api: KubeApi,
  types: readonly ResourceType[],
  objects: readonly KubeObject[],
): Promise<Applied> {
  const skipped: string[] = [];
  const problems: string[] = [];
  let applied = 0;
  for (const object of objects) {
    const label = `${object.kind} ${keyOf(object)}`;
    const type = types.find((each) => each.kind === object.kind && apiVersionOf(each) === object.apiVersion);
    if (type === undefined) {
      problems.push(`${label}: ${object.apiVersion} ${object.kind} is not served here.`);
      continue;
    }
    if (controllerOf(object) !== undefined || RECORDS.has(type.kind)) {
      skipped.push(label);
      continue;
    }
    try {
      const namespace = object.metadata?.namespace ?? 'default';
      const scope = type.namespaced ? { namespace } : {};
      await createOrPatch(api, type, desiredOf(object, scope), scope);
      applied++;
    } catch (error) {
      problems.push(`${label}: ${describeError(error)}`);
    }
  }
  return { applied, skipped, problems };
}

interface Scope {
  readonly namespace?: string;
}

async function createOrPatch(api: KubeApi, type: ResourceType, object: KubeObject, scope: Scope): Promise<void> {
  const options = { ...scope, fieldManager: FIELD_MANAGER };
  const created = await unless(isAlreadyExists, api.create(type, object, options));
  if (created === undefined) await api.patch(type, nameOf(object), { type: 'merge', body: object }, options);
}

function desiredOf(object: KubeObject, scope: Scope): KubeObject {
  const { metadata, ...rest } = object;
  const kept = Object.entries(metadata ?? {}).filter(([key]) => !SERVER_METADATA.has(key));
  const { status: _, ...desired } = { status: undefined, ...rest };
  return { ...desired, metadata: { ...Object.fromEntries(kept), ...scope } };
}
