/**
 * ValidatingAdmissionPolicies: every binding of a policy that is concerned with a write judges it by the policy's expressions.
 * Source: apiserver pkg/admission/plugin/policy/validating/{dispatcher,validator}.go. Without parameters and audit annotations.
 */
import { evaluateCel, type Variables } from '../cel/evaluate.ts';
import { parseCel } from '../cel/expression.ts';
import { type Json, type JsonObject, objectAt, objectsAt, stringAt, stringsAt } from '../json.ts';
import type { Reader } from '../reader.ts';
import type { AdmissionAttributes } from '../request.ts';
import type { ApiObject, ServedType } from '../served-type.ts';
import { deniedByPolicy } from '../status-error.ts';
import type { TypeRegistry } from '../type-registry.ts';
import { requestOf } from './review-request.ts';
import { matchesSelectors, ruleMatches } from './webhook-match.ts';

const GROUP = 'admissionregistration.k8s.io';
const POLICIES = 'validatingadmissionpolicies';
const BINDINGS = 'validatingadmissionpolicybindings';

/** Why a write is refused, and under which reason it is told. */
interface Finding {
  readonly message: string;
  readonly reason: string;
}

export interface PolicyOptions {
  readonly reader: Reader;
  readonly registry: TypeRegistry;
}

/**
 * Judges one write by all policies; throws the first refusal. Warnings go to the caller with the answer.
 * Policies are read anew for each write: a change is in force at once, on the real server a moment later.
 */
export type PolicyAdmission = (attributes: AdmissionAttributes) => void;

export function createPolicyAdmission({ reader, registry }: PolicyOptions): PolicyAdmission {
  const allOf = (plural: string): readonly ApiObject[] => {
    const type = registry.find(GROUP, 'v1', plural);
    return type === undefined ? [] : reader.all(type);
  };
  const namespaceOf = ({ namespace }: AdmissionAttributes): ApiObject | undefined => {
    const type = registry.find('', 'v1', 'namespaces');
    return type === undefined || namespace === undefined ? undefined : reader.find(type, undefined, namespace);
  };

  const isConcerned = (constraints: JsonObject | undefined, attributes: AdmissionAttributes): boolean => {
    const hits = (rule: JsonObject): boolean => {
      const names = stringsAt(rule, 'resourceNames');
      return ruleMatches(rule, attributes) && (names.length === 0 || names.includes(attributes.name));
    };
    const rules = objectsAt(constraints, 'resourceRules');
    if (rules.length > 0 && !rules.some(hits)) return false;
    if (objectsAt(constraints, 'excludeResourceRules').some(hits)) return false;
    return matchesSelectors(constraints ?? {}, attributes, () => namespaceOf(attributes)?.metadata.labels ?? {});
  };

  return (attributes) => {
    if (isExempt(attributes.type)) return;
    let denial: Error | undefined;
    for (const binding of allOf(BINDINGS)) {
      const policyName = stringAt(binding, 'spec', 'policyName');
      const policy = allOf(POLICIES).find(({ metadata }) => metadata.name === policyName);
      const matched = objectAt(binding, 'spec', 'matchResources');
      if (policy === undefined || !isConcerned(objectAt(policy, 'spec', 'matchConstraints'), attributes)) continue;
      if (matched !== undefined && !isConcerned(matched, attributes)) continue;
      const by = `ValidatingAdmissionPolicy '${policyName}' with binding '${binding.metadata.name}'`;
      const actions = stringsAt(binding, 'spec', 'validationActions');
      for (const { message, reason } of findingsOf(policy, scopeOf(attributes, namespaceOf(attributes)))) {
        if (actions.includes('Warn')) attributes.context.warnings.push(`Validation failed for ${by}: ${message}`);
        if (actions.includes('Deny'))
          denial ??= deniedByPolicy(attributes.type, attributes.name, `${by} denied request: ${message}`, reason);
      }
    }
    if (denial !== undefined) throw denial;
  };
}

/** Policies never stand in the way of their own repair, nor of questions that are only asked. */
function isExempt({ group, plural, review }: ServedType): boolean {
  return review !== undefined || (group === GROUP && (plural === POLICIES || plural === BINDINGS));
}

function scopeOf(attributes: AdmissionAttributes, namespace: ApiObject | undefined): Variables {
  const { object, oldObject } = attributes;
  return {
    object: object ?? null,
    oldObject: oldObject ?? null,
    request: requestOf(attributes, ''),
    namespaceObject: namespace ?? null,
  };
}

/** Of one policy; empty where nothing is to be said, and where its conditions leave the write out. */
function findingsOf(policy: ApiObject, scope: Variables): Finding[] {
  const spec = objectAt(policy, 'spec') ?? {};
  const forgives = spec['failurePolicy'] === 'Ignore';
  const failed = (message: string): Finding[] => (forgives ? [] : [{ message, reason: 'Invalid' }]);
  try {
    if (!conditionsOf(spec).every((expression) => evaluateCel(parseCel(expression), scope) === true)) return [];
  } catch (error) {
    return failed(whyOf(error));
  }
  const variables = { ...scope, variables: lazyVariables(spec, scope) };
  return objectsAt(spec, 'validations').flatMap((validation) => {
    const expression = (stringAt(validation, 'expression') ?? '').trim();
    try {
      if (evaluateCel(parseCel(expression), variables) === true) return [];
    } catch (error) {
      return failed(`expression '${expression}' resulted in error: ${whyOf(error)}`);
    }
    const message = told(validation, variables) || (stringAt(validation, 'message') ?? '').trim();
    return [
      { message: message || `failed expression: ${expression}`, reason: stringAt(validation, 'reason') ?? 'Invalid' },
    ];
  });
}

function conditionsOf(spec: JsonObject): string[] {
  return objectsAt(spec, 'matchConditions').map((condition) => stringAt(condition, 'expression') ?? '');
}

/** Each is evaluated when it is first asked for, and may ask for those before it. */
function lazyVariables(spec: JsonObject, scope: Variables): JsonObject {
  const variables: JsonObject = {};
  for (const { name, expression } of objectsAt(spec, 'variables')) {
    if (typeof name !== 'string' || typeof expression !== 'string') continue;
    let known: Json | undefined;
    Object.defineProperty(variables, name, {
      enumerable: true,
      configurable: true,
      get: () => (known ??= evaluateCel(parseCel(expression), { ...scope, variables })),
    });
  }
  return variables;
}

/** What the message expression makes; nothing where there is none, and where it fails or makes no line of text. */
function told(validation: JsonObject, variables: Variables): string {
  const expression = stringAt(validation, 'messageExpression');
  if (expression === undefined) return '';
  try {
    const text = evaluateCel(parseCel(expression), variables);
    return typeof text === 'string' && !text.includes('\n') ? text.trim() : '';
  } catch {
    return '';
  }
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
