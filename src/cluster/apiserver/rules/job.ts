/** The rules of Jobs and CronJobs, as far as they are stored. Source: kubernetes pkg/apis/batch/v1/defaults.go. */
import { requiredField } from '../field-errors.ts';
import { ensureObject, objectAt, setDefault, stringAt } from '../json.ts';
import type { TypeRules } from '../served-type.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';

export const jobRules: TypeRules = {
  applyDefaults(job) {
    const spec = ensureObject(job, 'spec');
    // Without either of the two a job is done after one pod.
    if (spec['completions'] === undefined && spec['parallelism'] === undefined) setDefault(spec, 'completions', 1);
    setDefault(spec, 'parallelism', 1);
    setDefault(spec, 'backoffLimit', 6);
    setDefault(spec, 'completionMode', 'NonIndexed');
    setDefault(spec, 'suspend', false);
    setDefault(spec, 'podReplacementPolicy', spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed');
    setDefault(spec, 'manualSelector', false);
    defaultPodSpec(objectAt(spec, 'template', 'spec'));
  },
  validateCreate: (job) => validatePodSpec(objectAt(job, 'spec', 'template', 'spec'), 'spec.template.spec'),
  // Source: kubernetes pkg/registry/batch/job/strategy.go `generateSelector`.
  admitCreate(job) {
    const spec = ensureObject(job, 'spec');
    if (spec['manualSelector'] === true) return;
    const { uid = '', name = '' } = job.metadata;
    const metadata = ensureObject(ensureObject(spec, 'template'), 'metadata');
    const prefixed = { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': name };
    metadata['labels'] = { ...objectAt(metadata, 'labels'), ...prefixed, 'controller-uid': uid, 'job-name': name };
    spec['selector'] = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
  },
};

export const cronJobRules: TypeRules = {
  applyDefaults(cronJob) {
    const spec = ensureObject(cronJob, 'spec');
    setDefault(spec, 'concurrencyPolicy', 'Allow');
    setDefault(spec, 'suspend', false);
    setDefault(spec, 'successfulJobsHistoryLimit', 3);
    setDefault(spec, 'failedJobsHistoryLimit', 1);
    const template = objectAt(spec, 'jobTemplate');
    if (template !== undefined) setDefault(template, 'metadata', {});
    defaultPodSpec(objectAt(template, 'spec', 'template', 'spec'));
  },
  validateCreate: (cronJob) => (stringAt(cronJob, 'spec', 'schedule') ? [] : [requiredField('spec.schedule')]),
};
