/** Whether a webhook is concerned with a request. Source: apiserver pkg/admission/plugin/webhook/{predicates,rules,matchconditions}. */
import { evaluateCel } from '../cel/evaluate.ts';
import { parseCel } from '../cel/expression.ts';
import { type JsonObject, objectAt, objectsAt, stringAt, stringsAt } from '../json.ts';
import type { AdmissionAttributes } from '../request.ts';
import { labelSelectorOf } from '../rules/workload.ts';
import { selectorPredicate } from '../selectors.ts';
import type { ApiObject } from '../served-type.ts';
import type { ReviewRequest } from './review-request.ts';

/** One rule of a webhook or a policy. */
export function ruleMatches(rule: JsonObject, { operation, type, subresource }: AdmissionAttributes): boolean {
  const has = (field: string, value: string): boolean => {
    const values = rule[field];
    return Array.isArray(values) && (values.includes('*') || values.includes(value));
  };
  // Most writes are no concern of any webhook, and the operation alone says so.
  if (!has('operations', operation)) return false;
  const scope = stringAt(rule, 'scope') ?? '*';
  const inScope = scope === '*' || (scope === 'Namespaced') === type.namespaced;
  const wanted = stringsAt(rule, 'resources');
  const onResource = wanted.some((pattern) => {
    const [resource = '', sub] = pattern.split('/');
    if (pattern === '*/*') return true;
    if (resource !== '*' && resource !== type.plural) return false;
    return sub === undefined ? subresource === '' : sub === '*' || sub === subresource;
  });
  return inScope && onResource && has('apiGroups', type.group) && has('apiVersions', type.version);
}

/** Rules and selectors only; `namespaceLabels` are those of the object's namespace. */
export function matchesWebhook(
  hook: JsonObject,
  attributes: AdmissionAttributes,
  namespaceLabels: () => Readonly<Record<string, string>>,
): boolean {
  return (
    objectsAt(hook, 'rules').some((rule) => ruleMatches(rule, attributes)) &&
    matchesSelectors(hook, attributes, namespaceLabels)
  );
}

/** The selectors of a webhook or of a policy's constraints. */
export function matchesSelectors(
  constraints: JsonObject,
  attributes: AdmissionAttributes,
  namespaceLabels: () => Readonly<Record<string, string>>,
): boolean {
  const { type, object, oldObject } = attributes;
  const namespaceSelector = objectAt(constraints, 'namespaceSelector');
  const isNamespace = type.storage === '/namespaces';
  if (
    namespaceSelector !== undefined &&
    Object.keys(namespaceSelector).length > 0 &&
    (type.namespaced || isNamespace)
  ) {
    const labels = isNamespace ? ((object ?? oldObject)?.metadata.labels ?? {}) : namespaceLabels();
    if (!selectorPredicate(labelSelectorOf(namespaceSelector))(labels)) return false;
  }
  const objectSelector = objectAt(constraints, 'objectSelector');
  if (objectSelector === undefined || Object.keys(objectSelector).length === 0) return true;
  const selects = selectorPredicate(labelSelectorOf(objectSelector));
  const matches = (candidate: ApiObject | undefined): boolean =>
    candidate !== undefined && selects(candidate.metadata?.labels ?? {});
  return matches(object) || matches(oldObject);
}

/**
 * All conditions hold. A condition that is false decides at once; otherwise a failing one throws.
 * @throws CelSyntaxError, CelRuntimeError
 */
export function conditionsHold(
  hook: JsonObject,
  { object, oldObject }: AdmissionAttributes,
  request: ReviewRequest,
): boolean {
  let failed: unknown;
  for (const condition of objectsAt(hook, 'matchConditions')) {
    try {
      const expression = parseCel(stringAt(condition, 'expression') ?? '');
      if (evaluateCel(expression, { object: object ?? null, oldObject: oldObject ?? null, request }) !== true)
        return false;
    } catch (error) {
      failed = error;
    }
  }
  if (failed !== undefined) throw failed;
  return true;
}
