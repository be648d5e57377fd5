/** The admission handler without a socket: the body of a POST in, status and body out. It never denies a pod. */
import type { Pod } from '../api/core.ts';
import { type AdmissionInput, decideAdmission } from '../decide/placement/admission.ts';
import type { AdmissionDecision } from '../decide/placement/admission-decision.ts';
import { readAdmissionPod } from '../decide/placement/admission-pod.ts';
import type { ClaimLedger } from '../decide/placement/claims.ts';
import type { SpotMemory } from '../decide/placement/spot-memory.ts';
import { unsteered } from '../decide/placement/unsteered.ts';
import type { Clock } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';
import { workloadKey } from '../model/cluster-view.ts';
import type { OwnerResolution } from '../model/owners.ts';
import { controllerOf, type PodInterners, volumeClaimNames } from '../observe/project-pod.ts';
import { projectTemplate } from '../observe/project-template.ts';
import { answerOf } from './answer.ts';
import type { CatchUp } from './catch-up.ts';
import { type HttpAnswer, problemAnswer } from './http-answer.ts';
import type { LiveOwners } from './live-owners.ts';
import { mutationTypesOf } from './mutation-types.ts';
import { type AdmissionRequest, encodeAnswer, parseReview, type ReviewAnswer } from './review.ts';
import type { SizeNewPods } from './size-new-pods.ts';

/** The settings in force and what was compiled from them; replaced as a whole when the configuration changes. */
export type AdmissionRules = Pick<AdmissionInput, 'settings' | 'sides' | 'readPolicy'>;

/** Told about every answer, for metrics. */
export interface AdmissionObservation {
  readonly operation: string;
  readonly resourceKind: string;
  /** Nothing is made of what was asked about: `kubectl apply --dry-run=server`, a `diff`. */
  readonly dryRun: boolean;
  readonly decision: AdmissionDecision;
  readonly tookMillis: Millis;
}

export interface MutateHandlerOptions {
  readonly owners: LiveOwners;
  readonly rules: () => AdmissionRules;
  readonly ledger: ClaimLedger;
  /** What is known of spot; left out, it can always be had. */
  readonly spot?: SpotMemory;
  readonly catchUp: CatchUp;
  readonly interners: PodInterners;
  /** What rightsizing adds to the answer; left out, nothing. */
  readonly sizes?: SizeNewPods | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onAnswer: (observation: AdmissionObservation) => void;
}

/** @param isConfirmed false stamps steered pods as placed without the leader; default true. */
export type MutateHandler = (body: string, isConfirmed?: boolean) => HttpAnswer | Promise<HttpAnswer>;

/** A watch is rarely further behind; the API server waits two seconds, another replica that asks half a second. */
const CATCH_UP_MILLIS: Millis = 400;

/**
 * The answer is immediate unless the pod's owner has to be read live or the caches are seen to lag. Malformed reviews
 * get 400 with a code; whatever else goes wrong, the pod is allowed as it is, with a warning.
 */
export function createMutateHandler(options: MutateHandlerOptions): MutateHandler {
  const { owners, rules, ledger, catchUp, interners, clock, log, onAnswer } = options;

  /** At debug: a burst of a thousand pods is a thousand records. Fields have the names that Spotalis gives them. */
  const tell = (request: AdmissionRequest, decision: AdmissionDecision, owner: OwnerResolution): void => {
    if (decision.kind !== 'steered' || owner.kind !== 'workload' || request.dryRun) return;
    const { patch, slot, side, explanation } = decision;
    const { kind, namespace, name } = owner.workload;
    log.debug(
      {
        webhook: 'mutation',
        event: 'mutation_applied',
        request_id: request.uid,
        operation: request.operation,
        kind: request.kind.kind,
        namespace,
        // Pods of ReplicaSets have none yet.
        name: (request.object as Pod).metadata?.name,
        workload_kind: kind,
        workload_name: name,
        patch_count: patch.length,
        mutation_types: mutationTypesOf(patch),
        slot,
        capacity: side,
      },
      explanation.summary,
    );
  };

  const decide = (request: AdmissionRequest): AdmissionDecision | Promise<AdmissionDecision> => {
    const { kind, operation, subResource } = request;
    if (!isNewPod(request)) {
      const what = subResource === '' ? kind.kind : `${kind.kind}/${subResource}`;
      return unsteered('UnsupportedResource', { operation, kind: what });
    }
    const pod = request.object as Pod;
    const namespace = namespaceOf(request);
    // Nothing is read live for a namespace that has not asked to be managed.
    if (owners.view.namespace(namespace)?.enabled === false) return unsteered('NotEnabled', { where: 'namespace' });
    const owner = controllerOf(pod, interners.owners);
    const template = interners.templates.intern(projectTemplate(pod.metadata?.labels, pod.spec ?? { containers: [] }));
    const claims = volumeClaimNames(pod);
    const decideFor = (resolution: OwnerResolution): AdmissionDecision =>
      decideAdmission({
        ...rules(),
        view: owners.view,
        ledger,
        spot: options.spot,
        owner: resolution,
        request,
        pod: { ...readAdmissionPod(pod, template, owner), claims },
        now: clock.now(),
      });

    /**
     * Decides, and decides again when the caches have caught up, if the first decision looks like one on an old
     * picture.
     */
    const decideCaughtUp = (resolution: OwnerResolution): AdmissionDecision | Promise<AdmissionDecision> => {
      const isRepeated = ledger.recall(request.uid, clock.now()) !== undefined;
      const decision = decideFor(resolution);
      if (!isRepeated && isBeyondReplicas(decision, resolution)) return decideAgain(decision, resolution);
      tell(request, decision, resolution);
      return decision;
    };
    const decideAgain = async (first: AdmissionDecision, resolution: OwnerResolution): Promise<AdmissionDecision> => {
      const deadline = clock.now() + CATCH_UP_MILLIS;
      // A timer and not the deadline ends it: the machine's clock may be set back meanwhile.
      let isOver = false;
      const timer = clock.setTimer(CATCH_UP_MILLIS, () => {
        isOver = true;
      });
      let decision = first;
      let latest = resolution;
      try {
        while (latest.kind === 'workload' && isBeyondReplicas(decision, latest) && !isOver) {
          // While it waits it must not hold a place that others then miss.
          ledger.release(request.uid);
          await catchUp(workloadKey(latest.workload), Math.min(deadline - clock.now(), CATCH_UP_MILLIS));
          latest = await owners.resolve(namespace, owner);
          decision = decideFor(latest);
        }
      } finally {
        timer.cancel();
      }
      tell(request, decision, latest);
      return decision;
    };

    const resolution = owners.resolve(namespace, owner);
    return resolution instanceof Promise ? resolution.then(decideCaughtUp) : decideCaughtUp(resolution);
  };

  const fail = (request: AdmissionRequest, error: unknown): AdmissionDecision => {
    const { uid, namespace } = request;
    log.error(
      { webhook: 'mutation', request_id: uid, namespace, error },
      'An admission could not be decided; the pod is allowed as it is',
    );
    return unsteered('AdmissionFailed', { error: describeError(error) });
  };

  /** Placement's answer with the sizes of rightsizing: one patch, whatever the one thought of the pod. */
  const withSizes = (request: AdmissionRequest, answer: ReviewAnswer): ReviewAnswer => {
    const { sizes } = options;
    if (sizes === undefined || !isNewPod(request)) return answer;
    try {
      const pod = request.object as Pod;
      const { patch = [] } = answer;
      // JSON null counts as absent: a member cannot be added to it, and a patch that cannot be applied fails the
      // creation.
      const hasAnnotations =
        (pod.metadata?.annotations ?? undefined) !== undefined ||
        patch.some(({ path }) => path.startsWith('/metadata/annotations'));
      const own = sizes(pod, namespaceOf(request), controllerOf(pod, interners.owners), hasAnnotations, request.dryRun);
      return own.length === 0 ? answer : { ...answer, patch: [...patch, ...own] };
    } catch (error) {
      log.warn(
        { webhook: 'mutation', request_id: request.uid, error },
        'The sizes of a new pod could not be told; it keeps its own',
      );
      return answer;
    }
  };

  return (body, isConfirmed = true) => {
    const startedAt = clock.now();
    const review = parseReview(body);
    if (!review.ok) return problemAnswer(400, review.code, review.message);
    const { apiVersion, request } = review;
    const answer = (decision: AdmissionDecision): HttpAnswer => {
      const { operation, kind, uid, dryRun } = request;
      onAnswer({ operation, resourceKind: kind.kind, dryRun, decision, tookMillis: clock.now() - startedAt });
      return { status: 200, body: encodeAnswer(apiVersion, uid, withSizes(request, answerOf(decision, isConfirmed))) };
    };
    try {
      const decision = decide(request);
      if (!(decision instanceof Promise)) return answer(decision);
      return decision.catch((error: unknown) => fail(request, error)).then(answer);
    } catch (error) {
      return answer(fail(request, error));
    }
  };
}

function isNewPod({ kind, operation, subResource }: AdmissionRequest): boolean {
  const isPod = kind.group === '' && kind.version === 'v1' && kind.kind === 'Pod';
  return isPod && operation === 'CREATE' && subResource === '';
}

/** The API server's own word, before what the object says. */
function namespaceOf({ namespace, object }: AdmissionRequest): string {
  return namespace === '' ? ((object as Pod).metadata?.namespace ?? '') : namespace;
}

/**
 * More pods than replicas: either the workload was scaled up or one of its pods has just been taken away, and the
 * caches do not show it yet. (A rollout's surge is no such case: each revision has slots of its own.)
 */
function isBeyondReplicas(decision: AdmissionDecision, owner: OwnerResolution): boolean {
  if (decision.kind !== 'steered' || owner.kind !== 'workload') return false;
  return owner.workload.rollout.type !== 'StatefulSet' && decision.slot > owner.workload.replicas;
}
