/** A collector on a virtual clock with a scripted source and a picture of the cluster that a test writes. */
import { createSilentLogger, type Logger } from '../../../lib/log.ts';
import { createSeededRandom } from '../../../lib/random.ts';
import { createVirtualClock, type VirtualClock } from '../../../lib/virtual-clock.ts';
import type { PodRecord } from '../../../model/records.ts';
import type { SizedWorkload } from '../../../model/sizing-records.ts';
import type { SizedPod } from '../../../model/sizing-view.ts';
import { aDeployment } from '../../../model/testing/records.ts';
import { aSizedPod } from '../../../model/testing/sizing-records.ts';
import { aBook, usageSettings } from '../../../model/testing/usage.ts';
import type { UsageBook } from '../../../model/usage-book.ts';
import type { UsageSettings, UsageTarget } from '../../../model/usage-settings.ts';
import type { UsageCollector } from '../collector-port.ts';
import { createUsageCollector, type FetchSample } from '../usage-collector.ts';
import type { ChosenSource } from '../usage-providers.ts';
import type { UsageAnswer, UsageRequest, UsageSource } from '../usage-source.ts';

export const START = 1_700_000_000_000;

export interface Collecting {
  readonly clock: VirtualClock;
  readonly collector: UsageCollector;
  readonly book: UsageBook;
  readonly requests: UsageRequest[];
  readonly fetches: FetchSample[];
  readonly controller: AbortController;
  readonly done: Promise<void>;
  /** What the source answers. */
  answer: (request: UsageRequest) => UsageAnswer | Promise<UsageAnswer>;
  targets: UsageTarget[];
  pods: SizedPod[];
  /** Whose pod it is, where that is not a workload's named in `ownerOf`. */
  ownerOf: (pod: PodRecord) => SizedWorkload | undefined;
  chosen: ChosenSource;
}

export function aPodOf(
  name: string,
  sizing: Parameters<typeof aSizedPod>[2] = {},
  changes: Parameters<typeof aSizedPod>[3] = {},
): SizedPod {
  const pod = aSizedPod(aDeployment(), name, sizing, { phase: 'Running', ...changes });
  return { pod, sizing: pod.sizing };
}

export function aTarget(workload: SizedWorkload, changes: Partial<UsageSettings> = {}): UsageTarget {
  return { workload, settings: usageSettings(changes) };
}

export function startCollecting(
  options: {
    readonly kind?: UsageSource['kind'];
    readonly targets?: UsageTarget[];
    readonly pods?: SizedPod[];
    readonly log?: Logger;
    readonly book?: UsageBook;
  } = {},
): Collecting {
  const clock = createVirtualClock(START);
  const { kind = 'range', targets = [], pods = [], log = createSilentLogger(), book = aBook() } = options;
  const requests: UsageRequest[] = [];
  const fetches: FetchSample[] = [];
  const source: UsageSource = {
    name: 'scripted',
    kind,
    async fetch(request) {
      requests.push(request);
      return await collecting.answer(request);
    },
    health: () => Promise.resolve({ ok: true }),
  };
  const collector = createUsageCollector({
    view: {
      podsOf: ({ name }) => collecting.pods.filter(({ pod }) => pod.name.startsWith(`${name}-`)),
      pod: (_, name) => collecting.pods.find(({ pod }) => pod.name === name),
      // The collector hands on the pods it got from this view.
      workloadOf: (pod) => collecting.ownerOf(pod as PodRecord),
    },
    targets: () => collecting.targets,
    sources: { sourceFor: () => collecting.chosen, close: () => {} },
    book,
    clock,
    random: createSeededRandom(1),
    log,
    onFetch: (sample) => fetches.push(sample),
  });
  const controller = new AbortController();
  const collecting: Collecting = {
    clock,
    collector,
    book,
    requests,
    fetches,
    controller,
    done: Promise.resolve(),
    answer: () => ({ ok: true, series: [], readTo: {}, warnings: [] }),
    targets,
    pods,
    ownerOf: () => undefined,
    chosen: { ok: true, source, fallback: undefined },
  };
  // Begins when the test first waits, so that it can say before what the source answers.
  return Object.assign(collecting, { done: Promise.resolve().then(() => collector.run(controller.signal)) });
}
