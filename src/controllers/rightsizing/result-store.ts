/**
 * What the last looks at a policy's workloads came to. The sentences of an advice are most of it: until somebody asks why,
 * their pattern is kept once for all, and of each its numbers. The recommendations of a status, which repeat them, are
 * written anew for each status.
 */
import type { PolicyWorkloadStatus } from '../../api/optimization-policy-status.ts';
import type { ResourceAdvice, StageNote } from '../../decide/rightsizing/advice.ts';
import { recommendationsOf } from '../../decide/rightsizing/workload-status.ts';
import { joinNumbers, splitNumbers } from '../../lib/numbered-text.ts';
import { createTextInterner, type TextInterner } from '../../lib/text-interner.ts';
import type { WorkloadResult } from './result.ts';

/**
 * As a map by workload key. What it hands out reads as what was set, but for the recommendations, see {@link entryOf},
 * and the limits of targets, which nobody asks of it.
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

/** Of sentences that explain a value there are a few hundred, by which stages had something to say. */
const MAX_PATTERNS = 500;

export function createResultStore(): ResultStore {
  const patterns = createTextInterner(MAX_PATTERNS);
  const kept = new Map<string, WorkloadResult>();
  const compacted = (advice: WorkloadResult['advice']): WorkloadResult['advice'] =>
    advice.map(({ cpu, memory, ...each }) => ({
      ...each,
      cpu: new CompactAdvice(cpu, patterns),
      memory: new CompactAdvice(memory, patterns),
    }));
  return {
    get size() {
      return kept.size;
    },
    has: (key) => kept.has(key),
    get: (key) => kept.get(key),
    set(key, { advice, entry: found, replicas, ...rest }) {
      const { recommendations: _, ...entry } = found;
      const ofReplicas = replicas?.map((each) => ({ ...each, advice: compacted(each.advice) }));
      kept.set(key, { ...rest, ...(ofReplicas && { replicas: ofReplicas }), entry, advice: compacted(advice) });
    },
    delete: (key) => kept.delete(key),
    clear: () => kept.clear(),
    keys: () => kept.keys(),
    values: () => kept.values(),
  };
}

/** The entry of the status, with what is recommended. */
export function entryOf({ entry, advice }: WorkloadResult): PolicyWorkloadStatus {
  return advice.length === 0 ? entry : { ...entry, recommendations: recommendationsOf(advice) };
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
  readonly #pattern: string;
  readonly #numbers: string | undefined;

  constructor({ target, request, limit, isDue, held, readyAt, capped, notes }: ResourceAdvice, patterns: TextInterner) {
    this.target = target;
    this.request = request;
    this.limit = limit;
    this.isDue = isDue;
    this.held = held;
    this.readyAt = readyAt;
    this.capped = capped;
    const text = splitNumbers(JSON.stringify(notes.map((note) => [note.stage, note.value, note.text])));
    this.#pattern = patterns.intern(text.pattern);
    this.#numbers = text.numbers;
  }

  get notes(): readonly StageNote[] {
    const text = joinNumbers({ pattern: this.#pattern, numbers: this.#numbers });
    const notes: readonly (readonly [StageNote['stage'], number | null, string])[] = JSON.parse(text);
    return notes.map(([stage, value, text]) => ({ stage, value: value ?? Number.NaN, text }));
  }
}
