/**
 * Admission webhooks: mutating ones in the order of their configurations' names, then validating ones.
 * Source: apiserver pkg/admission/plugin/webhook/{mutating,validating,errors}.
 */
import type { KubeError } from '../../../api/kube-error.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Random } from '../../../lib/random.ts';
import {
  equalJson,
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
  textOf,
} from '../json.ts';
import { generateUid } from '../names.ts';
import { applyJsonPatch } from '../patch-json.ts';
import type { Reader } from '../reader.ts';
import type { Admission, AdmissionAttributes } from '../request.ts';
import type { ApiObject } from '../served-type.ts';
import { badRequest, failure, forbidden, internalError } from '../status-error.ts';
import type { TypeRegistry } from '../type-registry.ts';
import { type ReviewRequest, requestOf } from './review-request.ts';
import { createWebhookCaller, type LocalWebhook } from './webhook-call.ts';
import { conditionsHold, matchesWebhook } from './webhook-match.ts';

const GROUP = 'admissionregistration.k8s.io';

export interface WebhookOptions {
  readonly reader: Reader;
  readonly registry: TypeRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: (message: string) => void;
  readonly localWebhooks: ReadonlyMap<string, LocalWebhook>;
  readonly resolveService?: ((namespace: string, name: string, port: number) => string | undefined) | undefined;
}

/**
 * Mutating webhooks are asked one by one, each with what the one before made; validating ones all at once, at the end.
 */
export interface WebhookAdmission {
  readonly mutate: Admission;
  readonly validate: Admission;
}

/** Configurations are read anew for each request: a change is in force at once, on the real server by its watch. */
export function createWebhookAdmission(options: WebhookOptions): WebhookAdmission {
  const { reader, registry, clock, random, log, localWebhooks } = options;
  const caller = createWebhookCaller({ clock, localWebhooks, resolveService: options.resolveService });

  const configured = (plural: string, { type: concerned }: AdmissionAttributes): JsonObject[] => {
    // Configurations are never subject to webhooks, or a broken one could not be mended.
    if (concerned.group === GROUP) return [];
    const type = registry.find(GROUP, 'v1', plural);
    const configurations = type === undefined ? [] : reader.all(type);
    return configurations.flatMap((configuration) => objectsAt(configuration, 'webhooks'));
  };

  const isSelected = (hook: JsonObject, attributes: AdmissionAttributes): boolean =>
    matchesWebhook(hook, attributes, () => {
      const namespaces = registry.find('', 'v1', 'namespaces');
      if (namespaces === undefined) return {};
      return reader.find(namespaces, undefined, attributes.namespace ?? '')?.metadata.labels ?? {};
    });

  /** Whether the hook's conditions let it be asked; one that cannot be evaluated counts by the hook's failure policy. */
  const meetsConditions = (hook: JsonObject, attributes: AdmissionAttributes, request: ReviewRequest): boolean => {
    try {
      return conditionsHold(hook, attributes, request);
    } catch (error) {
      log(`apiserver: match conditions of webhook ${JSON.stringify(stringAt(hook, 'name') ?? '')}: ${whyOf(error)}`);
      if (stringAt(hook, 'failurePolicy') === 'Ignore') return false;
      throw forbidden(attributes.type, attributes.name, whyOf(error));
    }
  };

  /** One call; the object after it. */
  const invoke = async (
    hook: JsonObject,
    attributes: AdmissionAttributes,
    mutating: boolean,
  ): Promise<ApiObject | undefined> => {
    const name = stringAt(hook, 'name') ?? '';
    const { object, context } = attributes;
    const uid = generateUid(random);
    const request = requestOf(attributes, uid);
    if (!meetsConditions(hook, attributes, request)) return object;
    if (context.dryRun && !['None', 'NoneOnDryRun'].includes(stringAt(hook, 'sideEffects') ?? '')) {
      throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
    }
    let response: JsonObject;
    let patch: readonly unknown[];
    try {
      const answer = await caller.call(hook, { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request });
      response = checkedResponse(answer, uid);
      patch = mutating ? patchOf(response) : [];
    } catch (error) {
      return failed(hook, object, error);
    }
    context.warnings.push(...stringsAt(response, 'warnings'));
    if (response['allowed'] !== true) throw denial(name, objectAt(response, 'status'));
    if (patch.length === 0) return object;
    if (object === undefined) {
      throw internalError(
        `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
      );
    }
    try {
      return patched(object, patch);
    } catch (error) {
      // The webhook has answered: its failure policy forgives that it cannot be reached, not what it says.
      throw internalError(whyOf(error));
    }
  };

  const failed = (hook: JsonObject, object: ApiObject | undefined, error: unknown): ApiObject | undefined => {
    const name = stringAt(hook, 'name') ?? '';
    const message = `failed calling webhook ${JSON.stringify(name)}: failed to call webhook: ${whyOf(error)}`;
    log(`apiserver: ${message}`);
    if (stringAt(hook, 'failurePolicy') === 'Ignore') return object;
    throw internalError(message);
  };

  /**
   * Source: mutating/dispatcher.go `Dispatch` and reinvocationcontext.go. In-tree plug-ins are run again after the last,
   * and what they change has no webhook asked once more.
   */
  const runMutating = async (
    hooks: readonly JsonObject[],
    attributes: AdmissionAttributes,
  ): Promise<ApiObject | undefined> => {
    let object = attributes.object;
    /** What each hook that wants to be asked again left behind. */
    const leftBehind = new Map<JsonObject, ApiObject | undefined>();
    for (const hook of hooks) {
      // What an earlier one made of the object decides whether a later one is concerned.
      if (!isSelected(hook, { ...attributes, object })) continue;
      object = await invoke(hook, { ...attributes, object }, true);
      if (stringAt(hook, 'reinvocationPolicy') === 'IfNeeded') leftBehind.set(hook, object);
    }
    for (const [hook, state] of leftBehind) {
      if (!equalJson(state, object)) object = await invoke(hook, { ...attributes, object }, true);
    }
    return object;
  };

  return {
    mutate(attributes) {
      const hooks = configured('mutatingwebhookconfigurations', attributes);
      // The first one selected is the first to change anything: where none is, none will be.
      return hooks.some((hook) => isSelected(hook, attributes)) ? runMutating(hooks, attributes) : undefined;
    },
    validate(attributes) {
      const hooks = configured('validatingwebhookconfigurations', attributes).filter((hook) =>
        isSelected(hook, attributes),
      );
      if (hooks.length === 0) return undefined;
      return Promise.all(hooks.map((hook) => invoke(hook, attributes, false))).then(() => attributes.object);
    },
  };
}

/** Source: pkg/admission/plugin/webhook/request/admissionreview.go `VerifyAdmissionResponse`. */
function checkedResponse(answer: JsonObject, uid: string): JsonObject {
  if (answer['kind'] !== 'AdmissionReview' || answer['apiVersion'] !== 'admission.k8s.io/v1') {
    throw new Error(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${textOf(answer['apiVersion'])}, Kind=${textOf(answer['kind'])}`,
    );
  }
  const response = objectAt(answer, 'response');
  if (response === undefined) throw new Error('webhook response was absent');
  if (response['uid'] !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`);
  if (response['patch'] !== undefined && response['patchType'] === undefined)
    throw new Error('webhook returned response.patch but not response.patchType');
  if (response['patchType'] !== undefined && response['patchType'] !== 'JSONPatch')
    throw new Error(`unsupported patch type ${JSON.stringify(response['patchType'])}`);
  return response;
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The operations of the answer's patch. @throws Error where it is none. */
function patchOf(response: JsonObject): readonly unknown[] {
  const text = Buffer.from(stringAt(response, 'patch') ?? '', 'base64').toString('utf8');
  const operations: unknown = text === '' ? [] : JSON.parse(text);
  if (!Array.isArray(operations)) throw new Error('received undecodable patch in webhook response');
  return operations;
}

function patched(object: ApiObject, operations: readonly unknown[]): ApiObject {
  const result = applyJsonPatch(object, operations);
  if (!isObject(result) || !isObject(result['metadata'])) throw new Error('the patched object is no longer an object');
  return { ...result, apiVersion: object.apiVersion, kind: object.kind, metadata: result['metadata'] };
}

/** A refusal never has a code below 400, whatever the webhook says. Source: pkg/admission/plugin/webhook/errors. */
function denial(name: string, result: JsonObject | undefined): KubeError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const message = stringAt(result, 'message') || stringAt(result, 'reason');
  const code = numberAt(result, 'code') ?? 0;
  return failure({
    code: Math.max(code, 400),
    reason: stringAt(result, 'reason') ?? '',
    message: message ? `${by}: ${message}` : `${by} without explanation`,
  });
}
