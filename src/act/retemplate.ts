/**
 * Changes the requests in a workload's pod template, for an approved decision: one write for all containers, one
 * rollout.
 */
import { sizingKeys } from '../api/annotations-sizing.ts';
import type { DaemonSet, Deployment, KubeObject, ObjectMeta, StatefulSet } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isConflict, KubeError } from '../api/kube-error.ts';
import { apiVersionOf, type ResourceType, resources } from '../api/resources.ts';
import type { RetemplateDecision } from '../decide/size-decision.ts';
import type { Approved } from '../guard/approved.ts';
import { ownMember } from '../lib/own-member.ts';
import { originalsText, parseResources } from '../model/original-sizes.ts';
import { sizeKeys, withDefaultRequests } from '../model/pod-size.ts';
import { sizeManagers } from '../model/size-managers.ts';
import type { ContainerSpecRecord, SizedWorkload } from '../model/sizing-records.ts';
import { appliedByOptipod, changesWithApplied } from './applied-fields.ts';
import { answer } from './resize-answers.ts';
import { outcomeOfResizeError, type ResizeFailure } from './resize-outcome.ts';
import { containersBody } from './size-body.ts';

export type RetemplateOutcome =
  | {
      readonly result: 'accepted';
      readonly generation: number | undefined;
      /** Managers that owned resources of a changed container before. */
      readonly tookFrom: readonly string[];
    }
  | ResizeFailure;

/**
 * One read, at most one write of the annotation, and one of the template, twice over where a controller wrote in
 * between. Writing what is there already changes nothing and rolls nothing out. Never rejects.
 */
export type Retemplate = (approved: Approved<RetemplateDecision>, signal: AbortSignal) => Promise<RetemplateOutcome>;

export interface RetemplateOptions {
  readonly api: KubeApi;
  readonly workload: (uid: string) => SizedWorkload | undefined;
}

/** The kinds whose template may be written. */
export const templateTypes: Readonly<Record<string, ResourceType<Deployment | StatefulSet | DaemonSet>>> = {
  Deployment: resources.deployments,
  StatefulSet: resources.statefulSets,
  DaemonSet: resources.daemonSets,
};

const MANAGER = sizeManagers.rightsizing;

export function createRetemplate({ api, workload: find }: RetemplateOptions): Retemplate {
  return async ({ decision }, signal) => {
    const known = find(decision.workloadUid);
    const type = templateTypes[decision.workload.kind];
    if (known === undefined || type === undefined) return { result: 'gone' };
    const { namespace, name } = decision.workload;
    const options = { namespace, signal, fieldManager: MANAGER, lane: 'control' } as const;
    const write = async (): Promise<RetemplateOutcome> => {
      const object = await api.get<Templated>(type, name, options);
      if (object.metadata?.uid !== decision.workloadUid) return { result: 'gone' };
      if (!isAsKnown(object, known.containers)) return changedMeanwhile(name);
      await keepOriginals(api, type, object, known.containers, options);
      const written = decision.useServerSideApply
        ? await api.patch<KubeObject>(
            type,
            name,
            { type: 'apply', body: applyBody(type, decision, object.metadata, known), force: decision.force },
            options,
          )
        : await api.patch<KubeObject>(type, name, { type: 'strategic', body: mergeBody(decision, known) }, options);
      return { result: 'accepted', generation: written.metadata?.generation, tookFrom: ownersBefore(decision, known) };
    };
    try {
      return await write().catch((error: unknown) => {
        // Controllers write into the same object all the time, and not always into the status only: once more, read
        // anew.
        if (!isConflict(error) || conflictOf(error) !== undefined) throw error;
        return write();
      });
    } catch (error) {
      return conflictOf(error) ?? outcomeOfResizeError(error);
    }
  };
}

type Templated = Deployment | StatefulSet | DaemonSet;

/**
 * Whether the template still has the sizes that were decided on. The caches may be behind somebody's change of a moment
 * ago, which must neither be overwritten unseen nor be missing from what is kept as the original sizes.
 */
function isAsKnown({ spec }: Templated, containers: readonly ContainerSpecRecord[]): boolean {
  const { containers: main = [], initContainers = [] } = spec?.template.spec ?? {};
  const all = [...main, ...initContainers];
  return containers.every(({ name, size }) => {
    const found = all.find((each) => each.name === name);
    if (found === undefined) return false;
    const read = parseResources({ ...found.resources });
    // What cannot be read cannot be told apart; the API server has the last word.
    if (read === undefined) return true;
    // Records have the requests of pods, also where the template names limits alone.
    const present = withDefaultRequests(read);
    return sizeKeys.every((key) => present[key] === size[key]);
  });
}

function changedMeanwhile(name: string): RetemplateOutcome {
  const read = answer('ResizeConflict', 'retry', `the template of ${name} changed after the decision`);
  return { result: 'refused', ...read, retryAfterMillis: undefined, isUncertain: false };
}

/** An apply replaces everything its manager applied before, so what it had is said again beside what changes. */
function applyBody(
  type: ResourceType,
  { workload, workloadUid, changes }: RetemplateDecision,
  metadata: ObjectMeta,
  { containers }: SizedWorkload,
): object {
  const all = changesWithApplied(containers, changes, appliedByOptipod(metadata.managedFields));
  const { namespace, name } = workload;
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { namespace, name, uid: workloadUid },
    spec: { template: { spec: containersBody(containers, all) } },
  };
}

function mergeBody({ workloadUid, changes }: RetemplateDecision, { containers }: SizedWorkload): object {
  return { metadata: { uid: workloadUid }, spec: { template: { spec: containersBody(containers, changes) } } };
}

/** In a write of its own: annotations that were applied would have to be applied each time. */
async function keepOriginals(
  api: KubeApi,
  type: ResourceType,
  { metadata }: KubeObject,
  containers: readonly ContainerSpecRecord[],
  options: { readonly namespace: string; readonly signal: AbortSignal; readonly fieldManager: string },
): Promise<void> {
  const key = sizingKeys.originalResources;
  if (metadata?.annotations?.[key] !== undefined) return;
  const annotations = { [key]: originalsText(containers, false) };
  const body = { metadata: { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion, annotations } };
  await api.patch(type, metadata?.name ?? '', { type: 'merge', body }, options);
}

function ownersBefore({ changes }: RetemplateDecision, { templateManagers }: SizedWorkload): readonly string[] {
  const names = changes.flatMap(({ container }) => ownMember(templateManagers, container) ?? []);
  return [...new Set(names)].filter((manager) => manager !== MANAGER);
}

/** A conflict of server-side apply names the managers; one of optimistic locking does not. */
function conflictOf(error: unknown): RetemplateOutcome | undefined {
  if (!(error instanceof KubeError) || error.httpStatus !== 409) return undefined;
  const causes = (error.status?.details?.causes ?? []).filter(({ reason }) => reason === 'FieldManagerConflict');
  if (causes.length === 0) return undefined;
  const cause = causes.map(({ message, field }) => `${message ?? 'conflict'} (${field ?? ''})`).join('; ');
  const read = answer('TemplateConflict', 'give-up', cause);
  return { result: 'refused', ...read, retryAfterMillis: undefined, isUncertain: false };
}
