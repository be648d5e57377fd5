/** Columns of types that are looked at less often. Source: kubernetes pkg/printers/internalversion/printers.go. */
import { ascending } from '../../../lib/ascending.ts';
import { type Json, type JsonObject, numberAt, objectAt, objectsAt, stringAt, textOf, valueAt } from '../json.ts';
import type { ApiObject } from '../served-type.ts';
import { printSelector } from '../subresources.ts';
import {
  AGE,
  ageOf,
  type Cell,
  type ColumnSource,
  column,
  count,
  humanDuration,
  templateColumns,
  text,
  wide,
} from './column-source.ts';

const UNKNOWN = '<unknown>';
const percent = (value: number | undefined, otherwise: string): string =>
  value === undefined ? otherwise : `${value}%`;

/** `cpu: 12%/50%`, of each metric what there is and what should be. */
function metricText(spec: JsonObject, status: JsonObject | undefined): string {
  const source = textOf(spec['type']);
  const key = source.charAt(0).toLowerCase() + source.slice(1);
  const target = objectAt(spec, key, 'target');
  const current = objectAt(status, key, 'current');
  const isResource = key === 'resource' || key === 'containerResource';
  const name = isResource ? `${stringAt(spec, key, 'name') ?? ''}: ` : '';
  const wanted = stringAt(target, 'averageValue');
  if (wanted !== undefined) {
    const suffix = isResource || key === 'pods' ? '' : ' (avg)';
    return `${name}${stringAt(current, 'averageValue') ?? UNKNOWN}/${wanted}${suffix}`;
  }
  if (!isResource) return `${stringAt(current, 'value') ?? UNKNOWN}/${stringAt(target, 'value') ?? ''}`;
  const is = percent(numberAt(current, 'averageUtilization'), UNKNOWN);
  return `${name}${is}/${percent(numberAt(target, 'averageUtilization'), '<auto>')}`;
}

const MOST_METRICS = 2;

function metricsText(scaler: ApiObject): string {
  const statuses = objectsAt(scaler, 'status', 'currentMetrics');
  const all = objectsAt(scaler, 'spec', 'metrics').map((spec, index) => metricText(spec, statuses[index]));
  if (all.length === 0) return '<none>';
  const more = all.length - MOST_METRICS;
  const shown = all.slice(0, MOST_METRICS).join(', ');
  return more > 0 ? `${shown} + ${more} more...` : shown;
}

/** Amounts of limits have a column of their own. */
const quotaText =
  (ofLimits: boolean): Cell =>
  (quota) =>
    Object.entries(objectAt(quota, 'status', 'hard') ?? {})
      .filter(([name]) => name.startsWith('limits.') === ofLimits)
      .sort(([a], [b]) => ascending(a, b))
      .map(([name, hard]) => `${name}: ${stringAt(quota, 'status', 'used', name) ?? '0'}/${textOf(hard)}`)
      .join(', ');

const JOB_CONDITIONS: readonly (readonly [condition: string, status: string])[] = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
  ['', 'Terminating'],
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
];

function jobStatus(job: ApiObject): string {
  const isTrue = (condition: string): boolean =>
    objectsAt(job, 'status', 'conditions').some(({ type, status }) => type === condition && status === 'True');
  const found = JOB_CONDITIONS.find(([condition]) =>
    condition === '' ? job.metadata.deletionTimestamp !== undefined : isTrue(condition),
  );
  return found?.[1] ?? 'Running';
}

function jobCompletions(job: ApiObject): string {
  const succeeded = numberAt(job, 'status', 'succeeded') ?? 0;
  const completions = numberAt(job, 'spec', 'completions');
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = numberAt(job, 'spec', 'parallelism') ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: ApiObject, nowMillis: number): string {
  const startedAt = stringAt(job, 'status', 'startTime');
  if (startedAt === undefined) return '';
  const completedAt = stringAt(job, 'status', 'completionTime');
  return humanDuration((completedAt === undefined ? nowMillis : Date.parse(completedAt)) - Date.parse(startedAt));
}

const selectorAt = (...path: readonly string[]): ColumnSource =>
  wide('Selector', (object) => printSelector(objectAt(object, ...path)) || '<none>');

const subjects =
  (kind: string): Cell =>
  (binding) =>
    objectsAt(binding, 'subjects')
      .filter((subject) => subject['kind'] === kind)
      .map(({ namespace, name }) => (kind === 'ServiceAccount' ? `${textOf(namespace)}/${textOf(name)}` : textOf(name)))
      .join(', ');

const BINDING: readonly ColumnSource[] = [
  column('Role', (binding) => `${stringAt(binding, 'roleRef', 'kind')}/${stringAt(binding, 'roleRef', 'name')}`),
  AGE,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];
const ROLE: readonly ColumnSource[] = [column('Created At', (role) => role.metadata.creationTimestamp ?? '')];

const booleanAt = (object: ApiObject, ...path: readonly string[]): boolean => valueAt(object, ...path) === true;
const suspended: Cell = (cronJob): Json => (booleanAt(cronJob, 'spec', 'suspend') ? 'True' : 'False');

/** Columns after the name, by `group/plural`. */
export const FURTHER_COLUMNS: Readonly<Record<string, readonly ColumnSource[]>> = {
  '/resourcequotas': [column('Request', quotaText(false)), column('Limit', quotaText(true)), AGE],
  '/limitranges': ROLE,
  'autoscaling/horizontalpodautoscalers': [
    column(
      'Reference',
      (scaler) =>
        `${stringAt(scaler, 'spec', 'scaleTargetRef', 'kind')}/${stringAt(scaler, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    column('Targets', metricsText),
    column('MinPods', (scaler) => String(numberAt(scaler, 'spec', 'minReplicas') ?? '<unset>')),
    column('MaxPods', (scaler) => numberAt(scaler, 'spec', 'maxReplicas') ?? 0),
    column('Replicas', (scaler) => numberAt(scaler, 'status', 'currentReplicas') ?? 0),
    AGE,
  ],
  'batch/cronjobs': [
    column('Schedule', text('', 'spec', 'schedule')),
    column('Timezone', text('<none>', 'spec', 'timeZone')),
    column('Suspend', suspended),
    { name: 'Active', cell: (cronJob) => objectsAt(cronJob, 'status', 'active').length, integer: true },
    column('Last Schedule', (cronJob, now) => {
      const at = stringAt(cronJob, 'status', 'lastScheduleTime');
      return at === undefined ? '<none>' : ageOf(at, now);
    }),
    AGE,
    ...templateColumns('spec', 'jobTemplate', 'spec', 'template'),
    selectorAt('spec', 'jobTemplate', 'spec', 'selector'),
  ],
  'batch/jobs': [
    column('Status', jobStatus),
    column('Completions', jobCompletions),
    column('Duration', jobDuration),
    AGE,
    ...templateColumns('spec', 'template'),
    selectorAt('spec', 'selector'),
  ],
  'rbac.authorization.k8s.io/clusterrolebindings': BINDING,
  'rbac.authorization.k8s.io/clusterroles': ROLE,
  'rbac.authorization.k8s.io/rolebindings': BINDING,
  'rbac.authorization.k8s.io/roles': ROLE,
  'scheduling.k8s.io/priorityclasses': [
    count('Value', 'value'),
    column('Global-Default', (each) => booleanAt(each, 'globalDefault')),
    AGE,
    column('PreemptionPolicy', text('', 'preemptionPolicy')),
  ],
};
