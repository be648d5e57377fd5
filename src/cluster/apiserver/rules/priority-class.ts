/** Priority classes, and the priority a pod gets from them. Source: kubernetes pkg/apis/scheduling and plugin/pkg/admission/priority. */
import { forbiddenField, invalidField, unsupportedInOrder } from '../field-errors.ts';
import { ensureObject, type JsonObject, setDefault, stringAt, textOf, valueAt } from '../json.ts';
import type { ApiObject, RuleContext, TypeRules } from '../served-type.ts';
import { forbidden } from '../status-error.ts';

const PODS = { group: '', plural: 'pods' };
const CLASSES = { group: 'scheduling.k8s.io', plural: 'priorityclasses' };
const POLICIES = ['PreemptLowerPriority', 'Never'];
const MAX_USER_VALUE = 1_000_000_000;

/** Made when the server starts, and there for good. */
export const SYSTEM_PRIORITY_CLASSES: readonly {
  readonly name: string;
  readonly value: number;
  readonly description: string;
}[] = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
];

const isSystemName = (name: string): boolean => SYSTEM_PRIORITY_CLASSES.some((each) => each.name === name);

/** Throws 403 when somebody wants a system class gone. */
export function checkPriorityClassDeletable(name: string): void {
  if (isSystemName(name)) throw forbidden(CLASSES, name, 'this is a system priority class and cannot be deleted');
}

function defaultClass(context: RuleContext): ApiObject | undefined {
  return context
    .list('priorityclasses', 'scheduling.k8s.io', undefined)
    .filter((each) => each['globalDefault'] === true)
    .sort((left, right) => priorityOf(left) - priorityOf(right))[0];
}

function priorityOf(priorityClass: ApiObject): number {
  const { value } = priorityClass;
  return typeof value === 'number' ? value : 0;
}

function checkOnlyDefault(priorityClass: ApiObject, context: RuleContext): void {
  if (priorityClass['globalDefault'] !== true) return;
  const { name = '' } = priorityClass.metadata;
  const other = defaultClass(context)?.metadata.name;
  if (other !== undefined && other !== name)
    throw forbidden(CLASSES, name, `PriorityClass ${other} is already marked as default. Only one default can exist`);
}

export const priorityClassRules: TypeRules = {
  applyDefaults(priorityClass) {
    setDefault(priorityClass, 'value', 0);
    setDefault(priorityClass, 'preemptionPolicy', 'PreemptLowerPriority');
  },
  prepareCreate: checkOnlyDefault,
  prepareUpdate: (priorityClass, _, context) => checkOnlyDefault(priorityClass, context),
  validateCreate(priorityClass) {
    const { name = '' } = priorityClass.metadata;
    if (name.startsWith('system-')) {
      if (isSystemName(name)) return [];
      const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
      return [forbiddenField('metadata.name', detail)];
    }
    const policy = stringAt(priorityClass, 'preemptionPolicy') ?? '';
    return [
      ...(priorityOf(priorityClass) > MAX_USER_VALUE
        ? [forbiddenField('value', `maximum allowed value of a user defined priority is ${MAX_USER_VALUE}`)]
        : []),
      ...(POLICIES.includes(policy) ? [] : [unsupportedInOrder('preemptionPolicy', policy, POLICIES)]),
    ];
  },
  validateUpdate: (priorityClass, old) => [
    ...(priorityClass['value'] === old['value'] ? [] : [forbiddenField('value', 'may not be changed in an update.')]),
    ...(priorityClass['preemptionPolicy'] === old['preemptionPolicy']
      ? []
      : [invalidField('preemptionPolicy', priorityClass['preemptionPolicy'], 'field is immutable')]),
  ],
};

/** Admission plug-in Priority: the class's value goes into the pod; whoever says another one is refused with 403. */
export function resolvePriority(pod: ApiObject, context: RuleContext): void {
  const spec = ensureObject(pod, 'spec');
  const className = stringAt(spec, 'priorityClassName') ?? '';
  const found =
    className === ''
      ? defaultClass(context)
      : context.find('priorityclasses', 'scheduling.k8s.io', undefined, className);
  const { name = '' } = pod.metadata;
  if (className !== '' && found === undefined)
    throw forbidden(PODS, name, `no PriorityClass with name ${className} was found`);
  if (className === '' && found !== undefined) spec['priorityClassName'] = found.metadata.name ?? '';
  const priority = found === undefined ? 0 : priorityOf(found);
  const policy = stringAt(found, 'preemptionPolicy') ?? 'PreemptLowerPriority';
  settle(spec, 'priority', priority, (given) => {
    const why = `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`;
    return forbidden(PODS, name, why);
  });
  settle(spec, 'preemptionPolicy', policy, (given) => {
    const why = `the string value of PreemptionPolicy (${given}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`;
    return forbidden(PODS, name, why);
  });
}

function settle(spec: JsonObject, field: string, computed: string | number, refusal: (given: string) => Error): void {
  const given = valueAt(spec, field);
  if (given !== undefined && given !== computed) throw refusal(textOf(given));
  spec[field] = computed;
}
