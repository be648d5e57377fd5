/** What the pieces of the rightsizing engine have in common; each names what it takes of it. */
import type { Events } from '../../act/events.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { AnnotateWorkload } from '../../act/workload-annotations.ts';
import type { Leadership } from '../../guard/context.ts';
import type { InFlightResize } from '../../guard/size/context.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Random } from '../../lib/random.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { PolicyStores } from '../../observe/policy-stores.ts';
import type { LiveSizingView } from '../../observe/sizing/live-sizing-view.ts';
import type { UsageCollector } from '../../observe/usage/collector-port.ts';
import type { Disruptions } from '../disruptions.ts';
import type { HandBack } from './hand-back.ts';
import type { RightsizingMemory } from './memory.ts';
import type { PolicyBooks } from './policies.ts';
import type { RightsizingSettings } from './settings.ts';

export interface RightsizingParts {
  readonly view: LiveSizingView;
  readonly policies: PolicyStores;
  readonly usage: UsageCollector;
  readonly settings: () => RightsizingSettings;
  readonly leadership: () => Leadership;
  /** `pods/resize` is in the API server's discovery; undefined while that is not known. */
  readonly servesResize: () => boolean | undefined;
  /** What every engine that disrupts draws on; a pod that is being evicted is not resized. */
  readonly disruptions: Disruptions;
  /** New pods are sized at admission: they come through this operator's webhook. */
  readonly sizesNewPods: () => boolean;
  /** The allocation engine shares out the CPU of this pod. */
  readonly isAllocated: (pod: SizedPod) => boolean;
  /** Of allocation, under way. */
  readonly otherResizes: () => readonly InFlightResize[];
  /** Policies and workloads worked on at the same time. */
  readonly workers: number;
  readonly memory: RightsizingMemory;
  readonly books: PolicyBooks;
  readonly handBack: HandBack;
  readonly annotate: AnnotateWorkload;
  readonly events: Events;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}
