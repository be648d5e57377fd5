/** The informers that only sizing needs, beside those of the live view; built while an engine that sizes is on. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/core.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import type { Informer } from '../../kube/informer.ts';
import type { HpaRecord, LimitRangeRecord, QuotaRecord, SizedWorkload, VpaRecord } from '../../model/sizing-records.ts';
import { informerIn, type LiveStoresOptions } from '../live-stores.ts';
import { createOptionalInformer, type OptionalInformer } from './optional-informer.ts';
import { verticalPodAutoscalers } from './project-autoscalers.ts';
import type { JobRecord } from './project-sized-workload.ts';
import { createSizingInterners } from './sizing-interners.ts';
import { createSizingProjections } from './sizing-projections.ts';

/** Pods, nodes and the workloads that placement knows are in the live view's stores. */
export interface SizingStores {
  readonly daemonSets: Informer<SizedWorkload>;
  readonly jobs: Informer<JobRecord>;
  readonly cronJobs: Informer<SizedWorkload>;
  /** One LimitRange object has several items. */
  readonly limitRanges: Informer<readonly LimitRangeRecord[]>;
  readonly quotas: Informer<QuotaRecord>;
  readonly hpas: Informer<HpaRecord>;
  /** Empty where VPAs are not served; where they may not be read, `refusal` tells. */
  readonly vpas: OptionalInformer<VpaRecord>;
}

/** Values of a kind kept for sharing. */
const MAX_INTERNED = 5_000;

/** Nothing is listed before {@link Informer.run} is called on each; a LiveSizingView does. */
export function createSizingStores(options: Omit<LiveStoresOptions, 'sizing'>): SizingStores {
  const { api, clock, log } = options;
  const project = createSizingProjections(createSizingInterners(MAX_INTERNED), (message) => log.warn({}, message));
  const informer = <T extends KubeObject, R>(
    type: ResourceType<T>,
    projection: (object: T) => R | undefined,
    isEqual?: (before: R, after: R) => boolean,
  ): Informer<R> => informerIn(options, type, { ...options, type, project: projection, ...(isEqual && { isEqual }) });
  return {
    daemonSets: informer(resources.daemonSets, project.daemonSet),
    jobs: informer(resources.jobs, project.job),
    cronJobs: informer(resources.cronJobs, project.cronJob),
    limitRanges: informer(resources.limitRanges, project.limitRange, isDeepStrictEqual),
    quotas: informer(resources.resourceQuotas, project.quota, isDeepStrictEqual),
    hpas: informer(resources.horizontalPodAutoscalers, project.hpa, isDeepStrictEqual),
    vpas: createOptionalInformer({
      api,
      clock,
      log,
      type: verticalPodAutoscalers,
      probeNamespaces: options.scope?.namespaces,
      create: () => informer(verticalPodAutoscalers, project.vpa, isDeepStrictEqual),
    }),
  };
}
