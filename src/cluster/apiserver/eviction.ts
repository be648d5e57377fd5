/**
 * The eviction subresource: a deletion that asks the pod's disruption budget first.
 * Source of every branch and text: kubernetes pkg/registry/core/pod/storage/eviction.go.
 */
import { isConflict } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import { checkDeletePreconditions, type Deleter, type DeletionOptions } from './deleter.ts';
import { deletionOptionsOf, withDryRun } from './deletion-options.ts';
import { cloneJson, ensureObject, type JsonObject, numberAt, objectAt, objectsAt, stringAt } from './json.ts';
import { toTime } from './names.ts';
import type { SubresourceAction } from './operations.ts';
import type { Reader } from './reader.ts';
import type { WriteContext } from './request.ts';
import { isPodReady } from './rules/pod.ts';
import { labelSelectorOf } from './rules/workload.ts';
import { selectorPredicate } from './selectors.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { badRequest, failure, forbidden, OTHER_NAMESPACE, successStatus, tooManyRequests } from './status-error.ts';
import type { TypeRegistry } from './type-registry.ts';
import type { Writer } from './writer.ts';

/** More evictions than this waiting for the disruption controller block further ones. */
const MAX_DISRUPTED_PODS = 2_000;
/** What a client is told to wait while a budget's status lags behind its spec. */
const RETRY_SECONDS = 10;
const WOULD_VIOLATE = "Cannot evict pod as it would violate the pod's disruption budget.";

export interface EvictionOptions {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly deleter: Deleter;
  readonly clock: Clock;
  readonly registry: TypeRegistry;
}

/**
 * Answers 201; 429 with cause DisruptionBudget where the budget allows nothing now, with Retry-After only while its
 * status lags behind its spec; 500 where several budgets select the pod; 409 where a precondition does not hold.
 * The disruption is taken from the budget before the pod is deleted, and stays taken if that fails: the budget's
 * controller gives it back. Of several evictions at a time only as many go through as the budget allows.
 */
export function createEviction({ reader, writer, deleter, clock, registry }: EvictionOptions): SubresourceAction {
  const budgetsType = (): ServedType | undefined => registry.resolve(resources.podDisruptionBudgets);

  const budgetsOf = (pod: ApiObject): ApiObject[] => {
    const type = budgetsType();
    if (type === undefined) return [];
    const labels = pod.metadata.labels ?? {};
    return reader
      .list(type, { namespace: pod.metadata.namespace })
      .items.filter((budget) => selectorPredicate(labelSelectorOf(objectAt(budget, 'spec', 'selector')))(labels));
  };

  /** Takes one disruption from the budget, or throws why not. */
  const takeDisruption = async (budget: ApiObject, podName: string, context: WriteContext): Promise<void> => {
    const type = budgetsType();
    if (type === undefined) return;
    checkBudget(reader.get(type, budget.metadata.namespace, budget.metadata.name ?? ''));
    if (context.dryRun) return;
    await writer.update({
      type,
      namespace: budget.metadata.namespace,
      name: budget.metadata.name ?? '',
      subresource: 'status',
      context: { ...context, dryRun: false, fieldManager: 'kube-apiserver' },
      build(current) {
        checkBudget(current);
        const next = cloneJson<ApiObject>(current);
        const status = ensureObject(next, 'status');
        const left = (numberAt(status, 'disruptionsAllowed') ?? 0) - 1;
        status['disruptionsAllowed'] = left;
        ensureObject(status, 'disruptedPods')[podName] = toTime(clock.now());
        if (left === 0) setInsufficient(status, next.metadata.generation ?? 0, toTime(clock.now()));
        return next;
      },
    });
  };

  /** Webhooks and policies have been asked about the eviction; of the deletion they are not told. */
  const deletePod = async (
    type: ServedType,
    pod: ApiObject,
    options: DeletionOptions,
    requestContext: WriteContext,
  ): Promise<void> => {
    const { namespace, name = '' } = pod.metadata;
    const context = { ...requestContext, isAdmitted: true } as const;
    let deletion = options;
    if (!context.dryRun) {
      const marked = await writer.update({
        type,
        namespace,
        name,
        subresource: 'status',
        context,
        build(current) {
          checkDeletePreconditions(type, current, options);
          const next = cloneJson<ApiObject>(current);
          delete next.metadata.resourceVersion;
          setDisruptionTarget(ensureObject(next, 'status'), toTime(clock.now()));
          return next;
        },
      });
      // The condition was our own write: the caller's version precondition has been checked already.
      if (options.resourceVersion !== undefined)
        deletion = { ...options, resourceVersion: marked.metadata.resourceVersion };
    }
    await deleter.delete(type, namespace, name, deletion, context);
  };

  return async ({ type, namespace, name }, body, requestContext) => {
    const inNamespace = stringAt(body, 'metadata', 'namespace') ?? '';
    if (inNamespace !== '' && inNamespace !== namespace) throw badRequest(OTHER_NAMESPACE);
    const named = stringAt(body, 'metadata', 'name') ?? '';
    if (named !== name) throw badRequest('name in URL does not match name in Eviction object');
    const context = withDryRun(objectAt(body, 'deleteOptions'), requestContext);
    const options = deletionOptionsOf(objectAt(body, 'deleteOptions'));
    const pod = reader.get(type, namespace, name);

    if (ignoresBudget(pod)) {
      const pinned =
        mustNotRace(pod) && options.resourceVersion === undefined
          ? { ...options, resourceVersion: pod.metadata.resourceVersion }
          : options;
      await deletePod(type, pod, pinned, context);
      return { ...successStatus(), code: 201 };
    }
    const budgets = budgetsOf(pod);
    const [budget] = budgets;
    if (budgets.length > 1) {
      throw failure({
        code: 500,
        reason: '',
        message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      });
    }
    let pinned = options;
    if (budget !== undefined) {
      if (mayEvictUnready(pod, budget)) pinned = { ...options, resourceVersion: pod.metadata.resourceVersion };
      else await takeDisruption(budget, name, context);
    }
    try {
      await deletePod(type, pod, pinned, context);
    } catch (error) {
      const ours = pinned !== options && options.resourceVersion === undefined;
      if (ours && isConflict(error)) throw stillProcessed(budget?.metadata.name ?? '');
      throw error;
    }
    return { ...successStatus(), code: 201 };
  };
}

/** Pods that have ended, have not started or are going anyway disturb nobody. */
function ignoresBudget(pod: ApiObject): boolean {
  const phase = stringAt(pod, 'status', 'phase') ?? '';
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

function mustNotRace(pod: ApiObject): boolean {
  return stringAt(pod, 'status', 'phase') === 'Pending' && pod.metadata.deletionTimestamp === undefined;
}

/** Whether an unready pod may go without asking the budget: its policy says so, or the budget is healthy without it. */
function mayEvictUnready(pod: ApiObject, budget: ApiObject): boolean {
  if (isPodReady(pod)) return false;
  if (stringAt(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const desired = numberAt(budget, 'status', 'desiredHealthy') ?? 0;
  return desired > 0 && (numberAt(budget, 'status', 'currentHealthy') ?? 0) >= desired;
}

function stillProcessed(name: string): Error {
  return tooManyRequests(WOULD_VIOLATE, RETRY_SECONDS, [
    { reason: 'DisruptionBudget', message: `The disruption budget ${name} is still being processed by the server.` },
  ]);
}

/** Throws when the budget allows no disruption now. */
function checkBudget(budget: ApiObject): void {
  const name = budget.metadata.name ?? '';
  const status = objectAt(budget, 'status') ?? {};
  if ((numberAt(status, 'observedGeneration') ?? 0) < (budget.metadata.generation ?? 0)) throw stillProcessed(name);
  const allowed = numberAt(status, 'disruptionsAllowed') ?? 0;
  const refuse = (why: string, message: string): Error =>
    forbidden({ group: 'policy', plural: 'poddisruptionbudget' }, name, why, [{ reason: 'DisruptionBudget', message }]);
  const cannot = `The disruption budget ${name} does not allow evicting pods currently`;
  if (allowed < 0)
    throw refuse('pdb disruptions allowed is negative', `${cannot}: pdb disruptions allowed is negative`);
  if (Object.keys(objectAt(status, 'disruptedPods') ?? {}).length > MAX_DISRUPTED_PODS) {
    throw refuse(
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
      `${cannot}: too many pending evictions not confirmed by PDB controller`,
    );
  }
  if (allowed > 0) return;
  const condition = objectsAt(status, 'conditions').find(({ type }) => type === 'DisruptionAllowed');
  const why = condition?.['status'] === 'False' ? (stringAt(condition, 'message') ?? '') : '';
  const reason = stringAt(condition, 'reason') ?? '';
  const desired = numberAt(status, 'desiredHealthy') ?? 0;
  const current = numberAt(status, 'currentHealthy') ?? 0;
  let message = cannot;
  if (why !== '' && reason === 'SyncFailed') message = `${cannot} because it failed sync: ${why}`;
  else if (current <= desired)
    message = `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`;
  else if (why !== '') message = `${cannot} (${reason}): ${why}`;
  throw tooManyRequests(WOULD_VIOLATE, 0, [{ reason: 'DisruptionBudget', message }]);
}

/** The condition a budget carries once its last disruption is taken. */
function setInsufficient(status: JsonObject, generation: number, now: string): void {
  const conditions = objectsAt(status, 'conditions').filter(({ type }) => type !== 'DisruptionAllowed');
  conditions.push({
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: generation,
    lastTransitionTime: now,
  });
  status['conditions'] = conditions;
}

function setDisruptionTarget(status: JsonObject, now: string): void {
  const conditions = objectsAt(status, 'conditions');
  const before = conditions.find(({ type }) => type === 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: before?.['status'] === 'True' ? (stringAt(before, 'lastTransitionTime') ?? now) : now,
  };
  status['conditions'] =
    before === undefined ? [...conditions, condition] : conditions.map((each) => (each === before ? condition : each));
}
