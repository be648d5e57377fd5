/**
 * A source that was out of reach is tried with one small question before the large ones are asked again. Without it a
 * thousand workloads would each wait for a timeout, and a source that comes up again would be met by all of them at
 * once.
 */
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type {
  SourceHealth,
  ThrottlingAnswer,
  ThrottlingRequest,
  UsageAnswer,
  UsageFailure,
  UsageProblem,
  UsageSource,
} from './usage-source.ts';

/** One answer to the small question counts this long. */
const PROBE_MILLIS: Millis = 15_000;

export function createGuardedSource(source: UsageSource, clock: Clock): UsageSource {
  let isSuspect = false;
  let probe: { readonly at: EpochMillis; readonly health: Promise<SourceHealth> } | undefined;

  /** One question for all who wait for the answer. */
  const ask = (signal: AbortSignal): Promise<SourceHealth> => {
    const now = clock.now();
    if (probe === undefined || now - probe.at >= PROBE_MILLIS) probe = { at: now, health: source.health(signal) };
    return probe.health;
  };

  const guarded = async <Answer extends UsageAnswer | ThrottlingAnswer>(
    fetch: () => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer | UsageFailure> => {
    if (isSuspect) {
      const health = await ask(signal);
      if (!health.ok) return health;
      isSuspect = false;
    }
    const answer = await fetch();
    if (!answer.ok && isAboutSource(answer.problem)) {
      isSuspect = true;
      // What was answered before this failure says nothing about now.
      probe = undefined;
    }
    return answer;
  };

  const { throttling } = source;
  return {
    name: source.name,
    kind: source.kind,
    fetch: (request, signal) => guarded(() => source.fetch(request, signal), signal),
    health: (signal) => source.health(signal),
    ...(throttling !== undefined && {
      throttling: (request: ThrottlingRequest, signal: AbortSignal) =>
        guarded(() => throttling(request, signal), signal),
    }),
  };
}

/** What would keep every other request from being answered, too. */
export function isAboutSource(problem: UsageProblem | undefined): boolean {
  const reason = problem?.reason;
  return reason === 'Unreachable' || reason === 'TimedOut' || reason === 'Unauthorized';
}
