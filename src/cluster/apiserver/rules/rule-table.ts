/** The rules of each built-in type, by `group/plural`. Types not named here store what they are given. */
import { definitionRules } from '../custom/custom-resources.ts';
import type { TypeRules } from '../served-type.ts';
import { admissionPolicyBindingRules, admissionPolicyRules } from './admission-policies.ts';
import { autoscalerRules, autoscalerV1Rules } from './autoscaler.ts';
import {
  configMapRules,
  leaseRules,
  namespaceRules,
  nodeRules,
  persistentVolumeClaimRules,
  persistentVolumeRules,
  podDisruptionBudgetRules,
  secretRules,
  storageClassRules,
  webhookConfigurationRules,
} from './cluster-objects.ts';
import { coreEventRules, eventRules } from './events.ts';
import { cronJobRules, jobRules } from './job.ts';
import { limitRangeRules } from './limit-ranger.ts';
import { podRules } from './pod.ts';
import { priorityClassRules } from './priority-class.ts';
import { resourceQuotaRules } from './resource-quota.ts';
import { createServiceRules } from './service.ts';
import { daemonSetRules, deploymentRules, replicaSetRules, statefulSetRules } from './workload.ts';

/** Looks up rules; each call of this function starts new address counters. */
export function createRuleTable(): (key: string) => TypeRules {
  const table: Readonly<Record<string, TypeRules>> = {
    '/pods': podRules,
    '/nodes': nodeRules,
    '/namespaces': namespaceRules,
    '/services': createServiceRules(),
    '/configmaps': configMapRules,
    '/secrets': secretRules,
    '/persistentvolumes': persistentVolumeRules,
    '/persistentvolumeclaims': persistentVolumeClaimRules,
    '/limitranges': limitRangeRules,
    '/resourcequotas': resourceQuotaRules,
    '/events': coreEventRules,
    'events.k8s.io/events': eventRules,
    'apps/deployments': deploymentRules,
    'apps/replicasets': replicaSetRules,
    'apps/statefulsets': statefulSetRules,
    'apps/daemonsets': daemonSetRules,
    'batch/jobs': jobRules,
    'batch/cronjobs': cronJobRules,
    'autoscaling/horizontalpodautoscalers': autoscalerRules,
    'autoscaling/v1': autoscalerV1Rules,
    'policy/poddisruptionbudgets': podDisruptionBudgetRules,
    'coordination.k8s.io/leases': leaseRules,
    'scheduling.k8s.io/priorityclasses': priorityClassRules,
    'storage.k8s.io/storageclasses': storageClassRules,
    'apiextensions.k8s.io/customresourcedefinitions': definitionRules,
    'admissionregistration.k8s.io/validatingadmissionpolicies': admissionPolicyRules,
    'admissionregistration.k8s.io/validatingadmissionpolicybindings': admissionPolicyBindingRules,
    'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookConfigurationRules,
    'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookConfigurationRules,
  };
  return (key) => table[key] ?? {};
}
