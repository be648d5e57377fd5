/** Admission plug-in LimitRanger: defaults and bounds of containers and pods. Source: kubernetes plugin/pkg/admission/limitranger. */
import { parseQuantity } from '../../../lib/quantity.ts';
import { ensureObject, type JsonObject, objectAt, objectsAt, setDefault, stringAt, textOf } from '../json.ts';
import type { ApiObject, RuleContext, TypeRules } from '../served-type.ts';
import { forbidden } from '../status-error.ts';
import { nanosOf, podAmount } from './pod-amounts.ts';
import { canonicalQuantities } from './pod-defaults.ts';

const PODS = { group: '', plural: 'pods' };

function containersOf(spec: JsonObject | undefined): JsonObject[] {
  return [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')];
}

function limitsOf(pod: ApiObject, context: RuleContext, type: string): JsonObject[] {
  return context
    .list('limitranges', '', pod.metadata.namespace)
    .flatMap((range) => objectsAt(range, 'spec', 'limits'))
    .filter((limit) => limit['type'] === type);
}

/** Source: kubernetes pkg/apis/core/v1/defaults.go `SetDefaults_LimitRangeItem`: bounds of containers are defaults as well. */
export const limitRangeRules: TypeRules = {
  applyDefaults(range) {
    for (const limit of objectsAt(range, 'spec', 'limits')) {
      for (const part of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'])
        canonicalQuantities(objectAt(limit, part));
      if (limit['type'] !== 'Container') continue;
      for (const [target, source] of [
        ['default', 'max'],
        ['defaultRequest', 'default'],
        ['defaultRequest', 'min'],
      ] as const) {
        const values = Object.entries(objectAt(limit, source) ?? {});
        if (values.length === 0) continue;
        const amounts = ensureObject(limit, target);
        for (const [name, value] of values) if (value !== undefined) setDefault(amounts, name, value);
      }
    }
  },
};

/** Gives containers the namespace's default requests and limits, and the pod an annotation that says so. */
export function applyLimitDefaults(pod: ApiObject, context: RuleContext): void {
  const spec = objectAt(pod, 'spec');
  const told: string[] = [];
  for (const limit of limitsOf(pod, context, 'Container')) {
    for (const [kind, containers] of [
      ['container', objectsAt(spec, 'containers')],
      ['init container', objectsAt(spec, 'initContainers')],
    ] as const) {
      for (const container of containers) {
        const resources = ensureObject(container, 'resources');
        const fill = (part: 'limits' | 'requests', source: string): void => {
          const names = fillIn(resources, part, objectAt(limit, source));
          if (names.length > 0)
            told.push(`${names.join(', ')} ${part.slice(0, -1)} for ${kind} ${stringAt(container, 'name') ?? ''}`);
        };
        fill('requests', 'defaultRequest');
        fill('limits', 'default');
      }
    }
  }
  if (told.length > 0)
    ensureObject(pod.metadata, 'annotations')['kubernetes.io/limit-ranger'] =
      `LimitRanger plugin set: ${told.join('; ')}`;
}

/** A request without default of its own follows no limit here, as on the real server. @returns what was filled in. */
function fillIn(resources: JsonObject, part: 'limits' | 'requests', defaults: JsonObject | undefined): string[] {
  const filled: string[] = [];
  for (const [name, value] of Object.entries(defaults ?? {})) {
    const amounts = ensureObject(resources, part);
    if (amounts[name] !== undefined || value === undefined) continue;
    amounts[name] = value;
    filled.push(name);
  }
  return filled.sort();
}

/** 0 stands for what is not specified. */
interface Amounts {
  readonly scope: 'Container' | 'Pod';
  request(name: string): bigint;
  limit(name: string): bigint;
  shown(part: 'requests' | 'limits', name: string): string;
}

function violations(limit: JsonObject, { scope, request, limit: limitOf, shown }: Amounts): string[] {
  const found: string[] = [];
  for (const [name, bound] of Object.entries(objectAt(limit, 'min') ?? {})) {
    const least = parseQuantity(textOf(bound)).nanos;
    if (request(name) === 0n)
      found.push(`minimum ${name} usage per ${scope} is ${textOf(bound)}.  No request is specified`);
    else if (request(name) < least)
      found.push(`minimum ${name} usage per ${scope} is ${textOf(bound)}, but request is ${shown('requests', name)}`);
    else if (limitOf(name) > 0n && limitOf(name) < least)
      found.push(`minimum ${name} usage per ${scope} is ${textOf(bound)}, but limit is ${shown('limits', name)}`);
  }
  for (const [name, bound] of Object.entries(objectAt(limit, 'max') ?? {})) {
    const most = parseQuantity(textOf(bound)).nanos;
    if (limitOf(name) === 0n)
      found.push(`maximum ${name} usage per ${scope} is ${textOf(bound)}.  No limit is specified`);
    else if (limitOf(name) > most)
      found.push(`maximum ${name} usage per ${scope} is ${textOf(bound)}, but limit is ${shown('limits', name)}`);
    else if (request(name) > most)
      found.push(`maximum ${name} usage per ${scope} is ${textOf(bound)}, but request is ${shown('requests', name)}`);
  }
  for (const [name, bound] of Object.entries(objectAt(limit, 'maxLimitRequestRatio') ?? {})) {
    const ratio = Number(limitOf(name)) / Number(request(name));
    if (request(name) === 0n)
      found.push(
        `${name} max limit to request ratio per ${scope} is ${textOf(bound)}, but no request is specified or request is 0`,
      );
    else if (limitOf(name) === 0n)
      found.push(
        `${name} max limit to request ratio per ${scope} is ${textOf(bound)}, but no limit is specified or limit is 0`,
      );
    else if (ratio > Number(parseQuantity(textOf(bound)).nanos) / 1e9)
      found.push(
        `${name} max limit to request ratio per ${scope} is ${textOf(bound)}, but provided ratio is ${ratio.toFixed(6)}`,
      );
  }
  return found;
}

function amountText(nanos: bigint): JsonObject {
  const amounts: JsonObject = {
    value: nanos % 1_000_000_000n === 0n ? String(nanos / 1_000_000_000n) : `${nanos / 1_000_000n}m`,
  };
  canonicalQuantities(amounts);
  return amounts;
}

/** Throws 403 when the pod or a container of it is out of the namespace's bounds. */
export function checkLimits(pod: ApiObject, context: RuleContext): void {
  const spec = objectAt(pod, 'spec');
  const found: string[] = [];
  for (const limit of limitsOf(pod, context, 'Container')) {
    for (const container of containersOf(spec)) {
      const amounts = (part: 'requests' | 'limits') => objectAt(container, 'resources', part);
      found.push(
        ...violations(limit, {
          scope: 'Container',
          request: (name) => nanosOf(amounts('requests'), name),
          limit: (name) => nanosOf(amounts('limits'), name),
          shown: (part, name) => stringAt(amounts(part), name) ?? '0',
        }),
      );
    }
  }
  // Unlike quotas and the scheduler, the plug-in leaves the overhead out (its podRequests and podLimits).
  const { overhead: _, ...asked } = spec ?? {};
  for (const limit of limitsOf(pod, context, 'Pod')) {
    found.push(
      ...violations(limit, {
        scope: 'Pod',
        request: (name) => podAmount(asked, 'requests', name),
        limit: (name) => podAmount(asked, 'limits', name),
        shown: (part, name) => stringAt(amountText(podAmount(asked, part, name)), 'value') ?? '0',
      }),
    );
  }
  if (found.length > 0)
    throw forbidden(PODS, pod.metadata.name ?? '', found.length === 1 ? (found[0] ?? '') : `[${found.join(', ')}]`);
}
