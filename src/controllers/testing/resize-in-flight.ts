/** One resize of one pod under way, and a view of the pod that tests set. */
import { answer } from '../../act/resize-answers.ts';
import type { ResizeOutcome } from '../../act/resize-outcome.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { PodRecord } from '../../model/records.ts';
import type { PodSizing } from '../../model/sizing-records.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { aNode, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, smallSize } from '../../model/testing/sizing-records.ts';
import { createResizesInFlight, type ResizeEnd } from '../resizes-in-flight.ts';

const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };
const deadlines = { deferredMillis: 15_000, errorMillis: 60_000, silenceMillis: 120_000 };
export const bigger = { ...smallSize, cpuRequest: 300 };

export function decisionFor(
  to: ResizeDecision['changes'][number]['to'],
  changes: Partial<ResizeDecision> = {},
): ResizeDecision {
  return {
    kind: 'resize',
    engine: 'rightsizing',
    workload: undefined,
    workloadUid: undefined,
    pod: { namespace: 'shop', name: 'web-1', uid: 'web-1' },
    changes: [{ container: 'app', to }],
    why: { summary: 'more', numbers: {} },
    ...changes,
  };
}

/** One end of each kind, of a resize that took four seconds. */
export function everyEnd(): ResizeEnd[] {
  const decision = decisionFor({ cpuRequest: 300 });
  const answered = { decision, tookMillis: 4_000, answer: answer('ResizeOverwritten', 'retry', 'by another') } as const;
  return [
    { kind: 'done', decision, tookMillis: 4_000, restarted: false },
    { kind: 'superseded', ...answered },
    { kind: 'lost', decision, tookMillis: 4_000 },
    { kind: 'not-healed', ...answered },
    { kind: 'taken-back', ...answered, nodeName: undefined, withdrawal: undefined },
    { kind: 'gone', decision },
  ];
}

/** The pod with the bigger size in its spec, the old one in force, and `more`. */
export const asked = (more: Partial<PodSizing> = {}): Partial<PodSizing> => {
  const container = aContainer({ size: bigger });
  return {
    containers: [container],
    statuses: [aContainerStatus(aContainer())],
    generation: 2,
    observedGeneration: 2,
    ...more,
  };
};

export const pendingAs = (reason: 'Deferred' | 'Infeasible', message: string): PodSizing['resize'] => ({
  pending: { reason, message, since: NOON },
  inProgress: undefined,
});

export function setUp() {
  const clock = createVirtualClock(NOON);
  let view: SizingView;
  const show = (sizing: Partial<PodSizing> | undefined, changes: Partial<PodRecord> = {}): void => {
    const pods = sizing === undefined ? [] : [aSizedPod(owner, 'web-1', sizing, { uid: 'web-1', ...changes })];
    view = createSizingSnapshot({ pods, nodes: [aNode('n1', undefined)] });
  };
  show({});
  const delegate: SizingView = new Proxy({} as SizingView, {
    get: (_, key: keyof SizingView) => view[key],
  });
  const flight = createResizesInFlight({ view: delegate, clock, deadlines: () => deadlines });
  const accepted: ResizeOutcome = { result: 'accepted', generation: 2 };
  const start = (decision = decisionFor({ cpuRequest: 300 })): ResizeDecision => {
    flight.begin(decision);
    flight.settle(decision, accepted);
    return decision;
  };
  return { clock, flight, show, start };
}
