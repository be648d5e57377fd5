/** The pods and claims of a StatefulSet as they are posted, and its revisions. Pure. */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/core.ts';
import { controllerReference, nameOf, namespaceOf } from '../../objects.ts';
import { type PodTemplate, podFromTemplate, templateHash } from '../pod-template.ts';
import { REVISION_LABEL } from './stateful-set-plan.ts';

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** The pod of one ordinal: its name, hostname and claims follow from the ordinal and outlive the pod. */
export function statefulPod(
  set: StatefulSet,
  template: PodTemplate | undefined,
  ordinal: number,
  revision: string,
): Pod {
  const name = `${nameOf(set)}-${ordinal}`;
  const owner = controllerReference(set, 'apps/v1', 'StatefulSet');
  const base = podFromTemplate(template, namespaceOf(set), nameOf(set), owner);
  const { generateName: _, ...metadata } = base.metadata ?? {};
  const claims = claimTemplates(set).map(
    ({ templateName }): Volume => ({
      name: templateName,
      persistentVolumeClaim: { claimName: `${templateName}-${name}`, readOnly: false },
    }),
  );
  const claimed = new Set(claims.map((volume) => volume.name));
  const volumes = [...claims, ...(base.spec?.volumes ?? []).filter((volume) => !claimed.has(volume.name))];
  return {
    ...base,
    metadata: {
      ...metadata,
      name,
      labels: {
        ...metadata.labels,
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': String(ordinal),
        [REVISION_LABEL]: revision,
      },
    },
    spec: {
      containers: [],
      ...base.spec,
      hostname: name,
      ...(set.spec?.serviceName === undefined ? {} : { subdomain: set.spec.serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  };
}

/** The claims of one ordinal. Nobody owns them by default, so that data outlives the set. */
export function claimsOf(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  return claimTemplates(set).map(({ templateName, template }) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...template.metadata,
      name: `${templateName}-${nameOf(set)}-${ordinal}`,
      namespace: namespaceOf(set),
      labels: { ...template.metadata?.labels, ...set.spec?.selector?.matchLabels },
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  }));
}

function claimTemplates(set: StatefulSet): { templateName: string; template: PersistentVolumeClaim }[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => ({ templateName: nameOf(template), template }));
}

/** A snapshot of the set's template under a name made of its hash. */
export function newRevision(set: StatefulSet, number: number, collisionCount: number): ControllerRevision {
  const template = set.spec?.template;
  const hash = templateHash(template, collisionCount === 0 ? undefined : collisionCount);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${nameOf(set)}-${hash}`,
      namespace: namespaceOf(set),
      labels: { ...template?.metadata?.labels, 'controller.kubernetes.io/hash': hash },
      ownerReferences: [controllerReference(set, 'apps/v1', 'StatefulSet')],
    },
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision: number,
  };
}

/** The template a revision holds; undefined when it is not one of ours. */
export function templateOf(revision: ControllerRevision): PodTemplate | undefined {
  const data: unknown = revision.data;
  if (typeof data !== 'object' || data === null || !('spec' in data)) return undefined;
  const { spec } = data;
  if (typeof spec !== 'object' || spec === null || !('template' in spec) || typeof spec.template !== 'object')
    return undefined;
  const { $patch: _, ...template } = { $patch: undefined, ...spec.template };
  return template;
}
