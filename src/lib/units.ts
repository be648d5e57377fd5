/** Branded numbers, so that a CPU amount can never be passed where memory or time is meant. Erased at run time. */

declare const unit: unique symbol;
type Branded<Unit extends string> = number & { readonly [unit]?: Unit };

/** CPU in thousandths of a core: 250 is a quarter of one core. */
export type Millicores = Branded<'millicores'>;
/** Memory or storage in bytes. */
export type Bytes = Branded<'bytes'>;
/** A duration in milliseconds. */
export type Millis = Branded<'millis'>;
/** An instant: milliseconds since the Unix epoch (UTC). */
export type EpochMillis = Branded<'epochMillis'>;
/** A share in 0..100. */
export type Percent = Branded<'percent'>;
/** A price or cost in US dollars for one hour. */
export type DollarsPerHour = Branded<'dollarsPerHour'>;
