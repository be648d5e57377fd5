/** The rules of Jobs and CronJobs, as far as they are stored. Source: kubernetes pkg/apis/batch/v1/defaults.go. */
import { type FieldError, requiredField, unsupportedField } from '../field-errors.ts';
import { ensureObject, type JsonObject, objectAt, setDefault, stringAt } from '../json.ts';
import type { TypeRules } from '../served-type.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';

/** Source: kubernetes pkg/apis/batch/validation/validation.go `validateJobSpec`. */
function validateTemplate(spec: JsonObject | undefined, path: string): FieldError[] {
  const at = `${path}.template.spec`;
  const pod = objectAt(spec, 'template', 'spec');
  const errors = validatePodSpec(pod, at);
  const policy = stringAt(pod, 'restartPolicy') ?? 'Always';
  // What was left out has become Always by now, so that it counts as missing.
  if (policy === 'Always') errors.push(requiredField(`${at}.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  else if (policy !== 'OnFailure' && policy !== 'Never')
    errors.push(unsupportedField(`${at}.restartPolicy`, policy, ['OnFailure', 'Never']));
  return errors;
}

const validateJob = (job: JsonObject): FieldError[] => validateTemplate(objectAt(job, 'spec'), 'spec');

function validateCronJob(cronJob: JsonObject): FieldError[] {
  return [
    ...validateTemplate(objectAt(cronJob, 'spec', 'jobTemplate', 'spec'), 'spec.jobTemplate.spec'),
    ...(stringAt(cronJob, 'spec', 'schedule') ? [] : [requiredField('spec.schedule')]),
  ];
}

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
  validateCreate: validateJob,
  validateUpdate: validateJob,
  validateStatusUpdate: () => [],
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
  validateCreate: validateCronJob,
  validateUpdate: validateCronJob,
  validateStatusUpdate: () => [],
};
