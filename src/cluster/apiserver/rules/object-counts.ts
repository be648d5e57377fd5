/** Quotas on the number of objects of a type. Source: apiserver pkg/quota/v1/generic, kubernetes pkg/quota/v1/evaluator/core. */
import { parseQuantity } from '../../../lib/quantity.ts';
import { objectAt, objectsAt, stringsAt, textOf } from '../json.ts';
import type { Reader } from '../reader.ts';
import type { ApiObject, RuleContext, ServedType } from '../served-type.ts';
import { forbidden } from '../status-error.ts';

/** Core types that may also be counted by their plain name. Pods have more to be counted and rules of their own. */
const PLAINLY_NAMED: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
]);

/** Keys of a quota that count objects of this type; none for pods, events and what is in no namespace. */
export function countKeys({ group, plural, namespaced }: ServedType): readonly string[] {
  if (!namespaced || (group === '' && plural === 'pods') || plural === 'events') return [];
  if (group !== '') return [`count/${plural}.${group}`];
  return PLAINLY_NAMED.has(plural) ? [`count/${plural}`, plural] : [`count/${plural}`];
}

/** Scopes are of pods: no other object is in the scope of a quota that has one. */
export function countsObjects(quota: ApiObject): boolean {
  const isScoped = objectsAt(quota, 'spec', 'scopeSelector', 'matchExpressions').length > 0;
  return !isScoped && stringsAt(quota, 'spec', 'scopes').length === 0;
}

/** Throws 403 when there are as many objects of the type in the namespace as a quota allows. */
export function checkObjectCounts(type: ServedType, object: ApiObject, context: RuleContext, reader: Reader): void {
  const keys = countKeys(type);
  if (keys.length === 0) return;
  const { namespace, name = '' } = object.metadata;
  for (const quota of context.list('resourcequotas', '', namespace)) {
    const hard = objectAt(quota, 'spec', 'hard') ?? {};
    const limiting = keys.filter((key) => hard[key] !== undefined);
    if (limiting.length === 0 || !countsObjects(quota)) continue;
    const used = reader.list(type, { namespace }).items.length;
    const exceeded = limiting.filter(
      (key) => parseQuantity(textOf(hard[key])).nanos < BigInt(used + 1) * 1_000_000_000n,
    );
    if (exceeded.length === 0) continue;
    const show = (textFor: (key: string) => string) => exceeded.map((key) => `${key}=${textFor(key)}`).join(',');
    throw forbidden(
      type,
      name,
      `exceeded quota: ${quota.metadata.name}, requested: ${show(() => '1')}, used: ${show(() => String(used))}, limited: ${show((key) => textOf(hard[key]))}`,
    );
  }
}
