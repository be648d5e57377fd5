/** Pod -> PodRecord. */
import { placementKeys } from '../api/annotations.ts';
import { parseCapacity, parseDeletionCost, parseSlot } from '../api/annotations-values.ts';
import type { Pod } from '../api/core.ts';
import { createTextInterner, type TextInterner } from '../lib/text-interner.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { Labels, OwnerReference, PodPhase, PodRecord, PodTemplate } from '../model/records.ts';
import { SharedTemplate, type TemplateKind } from '../model/shared-template.ts';
import type { PodSizing } from '../model/sizing-records.ts';
import { instant, listOf, requireText, textMap, textOr } from './fields.ts';
import { createInterner, createLatest, type Interner } from './intern.ts';
import { projectTemplate } from './project-template.ts';
import type { SizeWorkload } from './sizing/project-sized-workload.ts';

/** What many pods share and the projections keep one copy of. */
export interface PodInterners {
  readonly templates: Pick<Interner<PodTemplate>, 'intern'>;
  readonly owners: Interner<OwnerReference>;
  /** Names of namespaces and nodes. */
  readonly names: TextInterner;
  /** Left out where no engine sizes: records then have no part for it. */
  readonly sizing?: { readonly pod: (pod: Pod) => PodSizing | undefined; readonly workload: SizeWorkload } | undefined;
}

/** Beyond this many live templates or owners equal ones are merely no longer shared; nothing breaks. */
export function createPodInterners(maxEntries: number): PodInterners {
  return {
    templates: createTemplateInterner(maxEntries),
    owners: createInterner<OwnerReference>(maxEntries),
    names: createTextInterner(maxEntries),
  };
}

type Requests = PodTemplate['requests'];

/** A pod that was resized has its own requests, and all else from its template. */
function createTemplateInterner(maxEntries: number): PodInterners['templates'] {
  // Templates differ in labels and side; what they ask of nodes is the same few lists over and over.
  const tolerations = createInterner<PodTemplate['tolerations']>(maxEntries);
  const nodeSelectors = createInterner<Labels>(maxEntries);
  const amounts = createInterner<Requests>(MAX_REQUESTS);
  const kinds = createInterner<TemplateKind>(maxEntries, (kind) => ({
    ...kind,
    tolerations: tolerations.intern(kind.tolerations),
    nodeSelector: nodeSelectors.intern(kind.nodeSelector),
  }));
  const latest = createLatest<object, PodTemplate>((one, other) => isSameRequests(one.requests, other.requests));
  return {
    intern(template) {
      const { requests, ...rest } = template;
      const kind = kinds.intern(rest);
      return latest(kind, template, () => new SharedTemplate(kind, amounts.intern(requests)));
    },
  };
}

function isSameRequests(one: Requests, other: Requests): boolean {
  return one.cpuMillis === other.cpuMillis && one.memoryBytes === other.memoryBytes;
}

/** Where each pod has its own, there are as many as pods: keeping track of them would cost more than is shared. */
const MAX_REQUESTS = 500;

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

const noClaims: readonly string[] = [];

/**
 * @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read; see project.ts for the
 * tolerant form.
 */
export function projectPod(pod: Pod, interners: PodInterners): PodRecord {
  const { metadata = {}, spec, status } = pod;
  const name = requireText(metadata.name, 'metadata.name');
  const annotations = textMap(metadata.annotations, 'metadata.annotations');
  const conditions = listOf(status?.conditions, 'status.conditions');
  const ready = conditions.find((condition) => condition.type === 'Ready');
  const createdAt = instant(metadata.creationTimestamp, 'metadata.creationTimestamp') ?? 0;
  const nodeName = textOr(spec?.nodeName, '', 'spec.nodeName');
  return {
    uid: textOr(metadata.uid, '', 'metadata.uid'),
    namespace: interners.names.intern(textOr(metadata.namespace, 'default', 'metadata.namespace')),
    name,
    resourceVersion: textOr(metadata.resourceVersion, '', 'metadata.resourceVersion'),
    owner: controllerOf(pod, interners.owners),
    template: interners.templates.intern(projectTemplate(metadata.labels, spec ?? { containers: [] }, status)),
    phase: readPhase(status?.phase),
    ready: ready?.status === 'True',
    readyChangedAt: instant(ready?.lastTransitionTime, 'status.conditions[Ready].lastTransitionTime'),
    nodeName: nodeName === '' ? undefined : interners.names.intern(nodeName),
    unschedulableSince: unschedulableSince(conditions, createdAt),
    createdAt,
    deletingAt: instant(metadata.deletionTimestamp, 'metadata.deletionTimestamp'),
    evictedAt: evictedAt(conditions),
    slot: parseSlot(annotations),
    capacity: parseCapacity(annotations),
    admissionId: annotations[placementKeys.admissionId],
    unconfirmed: annotations[placementKeys.unconfirmed] === 'true',
    fallback: annotations[placementKeys.fallback] === 'true',
    ...(annotations[placementKeys.pinned] === 'true' && { pinned: true }),
    deletionCost: parseDeletionCost(annotations),
    protectedBy: readProtection(annotations),
    claims: volumeClaimNames(pod),
    resizing: isResizing(status?.resize, conditions),
    sizing: interners.sizing?.pod(pod),
  };
}

/** The owner that controls the object, or undefined. Source: metav1.GetControllerOf. */
export function controllerOf(
  object: { readonly metadata?: Pod['metadata'] },
  owners: Interner<OwnerReference>,
): OwnerReference | undefined {
  const owner = controllerReference(object);
  if (owner === undefined) return undefined;
  const { apiVersion, kind, name, uid } = owner;
  return owners.intern({ apiVersion, kind, name, uid });
}

/** As the object has it. */
export function controllerReference({ metadata }: { readonly metadata?: Pod['metadata'] }) {
  return listOf(metadata?.ownerReferences, 'metadata.ownerReferences').find(({ controller }) => controller === true);
}

/** What is unknown or missing counts as not yet running. */
function readPhase(phase: unknown): PodPhase {
  switch (phase) {
    case 'Running':
    case 'Succeeded':
    case 'Failed':
    case 'Unknown':
      return phase;
    default:
      return 'Pending';
  }
}

/** Whatever its value (descheduler pkg/utils, HaveNoEvictionAnnotation). */
const DESCHEDULER = 'descheduler.alpha.kubernetes.io/prefer-no-eviction';

/** Karpenter also takes a duration as value; only an explicit `false` lifts its protection. */
function readProtection(annotations: Labels): string | undefined {
  const karpenter = annotations['karpenter.sh/do-not-disrupt'];
  if (karpenter !== undefined && karpenter !== 'false') return 'karpenter.sh/do-not-disrupt';
  const autoscaler = annotations['cluster-autoscaler.kubernetes.io/safe-to-evict'];
  if (autoscaler === 'false') return 'cluster-autoscaler.kubernetes.io/safe-to-evict';
  return annotations[DESCHEDULER] === undefined ? undefined : DESCHEDULER;
}

/**
 * Since when the scheduler has found no node: the clock of fallbacks (placement spec, section 5). A pod held back by
 * scheduling gates has another reason, and waits for nobody's room.
 */
function unschedulableSince(conditions: readonly Condition[], createdAt: EpochMillis): EpochMillis | undefined {
  const scheduled = conditions.find((condition) => condition.type === 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  return instant(scheduled.lastTransitionTime, 'status.conditions[PodScheduled].lastTransitionTime') ?? createdAt;
}

/** KEP-3329: the API server says so in a write of its own, before the deletion. Others that delete give other reasons. */
function evictedAt(conditions: readonly Condition[]): EpochMillis | undefined {
  const target = conditions.find(({ type }) => type === 'DisruptionTarget');
  if (target?.status !== 'True' || target.reason !== 'EvictionByEvictionAPI') return undefined;
  return instant(target.lastTransitionTime, 'status.conditions[DisruptionTarget].lastTransitionTime');
}

/**
 * Claims decide on which nodes a replacement can run. Also of a pod that is not validated yet. The claim of a generic
 * ephemeral volume does not: it goes with its pod (kubernetes pkg/controller/volume/ephemeral), and the next one has its
 * own, wherever it runs.
 */
export function volumeClaimNames(pod: Pod): readonly string[] {
  const volumes = listOf(pod.spec?.volumes, 'spec.volumes');
  const names = volumes.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
  return names.length === 0 ? noClaims : names;
}

/**
 * KEP-1287: conditions since 1.33, `status.resize` before. An infeasible resize waits for the user, not for the node.
 */
function isResizing(resize: unknown, conditions: readonly Condition[]): boolean {
  if (resize === 'Proposed' || resize === 'InProgress' || resize === 'Deferred') return true;
  return conditions.some(
    ({ type, status, reason }) =>
      status === 'True' && (type === 'PodResizeInProgress' || (type === 'PodResizePending' && reason !== 'Infeasible')),
  );
}
