/**
 * What the last looks at a policy's workloads came to. The sentences of an advice are most of it: they are kept as one
 * text until somebody asks why, and the recommendations of a status, which repeat them, are written anew for each
 * status.
 */
import type { PolicyWorkloadStatus } from '../api/optimization-policy-status.ts';
import type { ResourceAdvice, StageNote } from '../decide/rightsizing/advice.ts';
import { containerRecommendation } from '../decide/rightsizing/workload-status.ts';
import type { WorkloadResult } from './rightsizing-result.ts';

/**
 * As a map by workload key. What it hands out reads as what was set, but for the recommendations: see {@link entryOf}.
 */
export interface ResultStore {
  readonly size: number;
  has(key: string): boolean;
  get(key: string): WorkloadResult | undefined;
  set(key: string, result: WorkloadResult): void;
  delete(key: string): boolean;
  clear(): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<WorkloadResult>;
}

export function createResultStore(): ResultStore {
  const kept = new Map<string, WorkloadResult>();
  return {
    get size() {
      return kept.size;
    },
    has: (key) => kept.has(key),
    get: (key) => kept.get(key),
    set(key, { advice, entry: found, ...rest }) {
      const { recommendations: _, ...entry } = found;
      const compact = advice.map(({ cpu, memory, ...each }) => ({
        ...each,
        cpu: new CompactAdvice(cpu),
        memory: new CompactAdvice(memory),
      }));
      kept.set(key, { ...rest, entry, advice: compact });
    },
    delete: (key) => kept.delete(key),
    clear: () => kept.clear(),
    keys: () => kept.keys(),
    values: () => kept.values(),
  };
}

/** The entry of the status, with what is recommended. */
export function entryOf({ entry, advice }: WorkloadResult): PolicyWorkloadStatus {
  return advice.length === 0 ? entry : { ...entry, recommendations: advice.map(containerRecommendation) };
}

/** A class for its prototype: a spread copies no notes, and nobody spreads what is kept. */
class CompactAdvice implements ResourceAdvice {
  readonly target: ResourceAdvice['target'];
  readonly request: ResourceAdvice['request'];
  readonly limit: ResourceAdvice['limit'];
  readonly isDue: boolean;
  readonly held: ResourceAdvice['held'];
  readonly readyAt: ResourceAdvice['readyAt'];
  readonly capped: ResourceAdvice['capped'];
  /** Stages, values and sentences without their names; null stands for a value that is not a number. */
  readonly #notes: string;

  constructor({ target, request, limit, isDue, held, readyAt, capped, notes }: ResourceAdvice) {
    this.target = target;
    this.request = request;
    this.limit = limit;
    this.isDue = isDue;
    this.held = held;
    this.readyAt = readyAt;
    this.capped = capped;
    this.#notes = JSON.stringify(notes.map(({ stage, value, text }) => [stage, value, text]));
  }

  get notes(): readonly StageNote[] {
    const notes: readonly (readonly [StageNote['stage'], number | null, string])[] = JSON.parse(this.#notes);
    return notes.map(([stage, value, text]) => ({ stage, value: value ?? Number.NaN, text }));
  }
}
