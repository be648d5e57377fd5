/**
 * Entries of the journal in a third of the memory: of thousands of deeds each has its pod, its figures and its time; the
 * sentence around them is the same. They are put together when they are asked for.
 */
import { joinNumbers, splitNumbers } from '../lib/numbered-text.ts';
import type { TextInterner } from '../lib/text-interner.ts';
import type { Millis } from '../lib/units.ts';
import type { JournalEntry } from './journal.ts';

/** Stands for the name of the pod; JSON has no such character. */
const POD = '\x01';

type Told = readonly [message: string, numbers: NonNullable<JournalEntry['numbers']> | null];

/** A class, because there are ten thousands. */
export class KeptEntry {
  readonly kind: JournalEntry['kind'];
  readonly reason: string;
  readonly engine: JournalEntry['engine'] | undefined;
  readonly pod: string | undefined;
  readonly count: number;
  /** Since the journal began; see {@link packMillis}. */
  readonly firstMillis: Millis;
  readonly lastMillis: Millis;
  readonly #pattern: string;
  readonly #numbers: string | undefined;

  /** @param beganAt of the journal. */
  constructor(entry: JournalEntry, beganAt: number, patterns: TextInterner) {
    const { kind, reason, engine, pod, count, firstAt, lastAt, message, numbers } = entry;
    this.kind = kind;
    this.reason = reason;
    this.engine = engine;
    this.pod = pod;
    this.count = count;
    this.firstMillis = packMillis(firstAt - beganAt);
    this.lastMillis = packMillis(lastAt - beganAt);
    const told: Told = [message, numbers ?? null];
    const text = JSON.stringify(told, asText);
    const own = splitNumbers(pod ? text.replaceAll(inJson(pod), POD) : text);
    this.#pattern = patterns.intern(own.pattern);
    this.#numbers = own.numbers;
  }

  plain(beganAt: number): JournalEntry {
    const { kind, reason, engine, pod, count } = this;
    const text = joinNumbers({ pattern: this.#pattern, numbers: this.#numbers });
    const [message, numbers]: Told = JSON.parse(text.replaceAll(POD, () => inJson(pod ?? '')));
    return {
      kind,
      reason,
      message,
      ...(pod !== undefined && { pod }),
      ...(numbers !== null && { numbers }),
      ...(engine !== undefined && { engine }),
      firstAt: beganAt + this.firstMillis,
      lastAt: beganAt + this.lastMillis,
      count,
    };
  }
}

/** JSON has no infinity. */
function asText(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** As it stands within a text. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * A difference takes 16 bytes beside the field that it is kept in even where it is whole, what `floor` answers takes
 * none for 24 days.
 */
function packMillis(millis: Millis): Millis {
  const whole = Math.floor(millis);
  return whole === millis ? whole : millis;
}
