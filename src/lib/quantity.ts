/**
 * Kubernetes resource quantities, exact: amounts are integers of one billionth, so nothing is ever lost to floating
 * point. Grammar, rounding and canonical text are those of k8s.io/apimachinery/pkg/api/resource/quantity.go.
 */
import { InvalidValueError } from './errors.ts';
import { shortened } from './shortened.ts';
import type { Bytes, Millicores } from './units.ts';

/** How the text was written, and so how it is printed: `1k`, `1Ki` or `1e3`. */
type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** Equal amounts may have different formats. */
export interface Quantity {
  /** The amount in units of 10^-9. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const NANO_DIGITS = 9;
const NANOS = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;
/** Larger exponents have no use and would make numbers of unbounded size out of a few characters. */
const MAX_EXPONENT = 400;
/** Longer texts are of nobody who means an amount: each digit more makes reading them slower than the one before. */
const MAX_LENGTH = 1_000;
const QUOTED_LENGTH = 100;
/** Binary quantities are capped at 2^63 - 1, as Kubernetes caps them. */
const MAX_BINARY_NANOS = (2n ** 63n - 1n) * NANOS;

const decimalExponents: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const binaryExponents: ReadonlyMap<string, number> = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
]);
const decimalSuffixes: ReadonlyMap<number, string> = new Map(
  [...decimalExponents].map(([text, power]) => [power, text]),
);
const binarySuffixes: ReadonlyMap<number, string> = new Map([...binaryExponents].map(([text, power]) => [power, text]));

/** Numbers of so many digits are exact, and stay below the cap of binary quantities up to `Ti`. */
const MAX_PLAIN_DIGITS = 6;
/** What one of a suffix is worth. */
const plainUnits: ReadonlyMap<string, Quantity> = new Map<string, Quantity>([
  ...[...decimalExponents].map(([suffix, power]): [string, Quantity] => [
    suffix,
    { nanos: 10n ** BigInt(NANO_DIGITS + power), format: 'DecimalSI' },
  ]),
  ...[...binaryExponents]
    .filter(([, power]) => power <= 40)
    .map(([suffix, power]): [string, Quantity] => [suffix, { nanos: NANOS << BigInt(power), format: 'BinarySI' }]),
]);

/**
 * Sign, digits, fraction, suffix. The number may be missing, as in Kubernetes; which suffixes there are is looked up.
 */
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?([a-zA-Z]*|[eE][+-]?\d+)$/;
const ACCEPTED =
  'a number with an optional suffix n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such as e3';

/**
 * Reads a quantity. Amounts finer than 10^-9 are rounded away from zero: whoever asks for a little gets a little.
 * @throws InvalidValueError when `text` is not a quantity.
 */
export function parseQuantity(text: string): Quantity {
  return plainQuantity(text) ?? anyQuantity(text);
}

/** A whole number of few digits with an ordinary suffix or none: what nearly all quantities are. */
function plainQuantity(text: string): Quantity | undefined {
  let digits = 0;
  let value = 0;
  for (let code = text.charCodeAt(0); code >= 48 && code <= 57; code = text.charCodeAt(digits)) {
    value = value * 10 + (code - 48);
    digits++;
  }
  const unit = digits === 0 || digits > MAX_PLAIN_DIGITS ? undefined : plainUnits.get(text.slice(digits));
  return unit && { nanos: BigInt(value) * unit.nanos, format: unit.format };
}

function anyQuantity(text: string): Quantity {
  if (text.length > MAX_LENGTH) throw new InvalidValueError('quantity', shortened(text, QUOTED_LENGTH), ACCEPTED);
  const match = QUANTITY.exec(text);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match ?? [];
  const scale = readSuffix(suffix);
  if (match === null || scale === undefined || text === '') throw new InvalidValueError('quantity', text, ACCEPTED);
  // Kubernetes reads a missing number as zero: "Mi" is 0, so objects that say so exist.
  const digits = whole + fraction || '0';

  const magnitude =
    scale.base === 10
      ? shiftDecimal(BigInt(digits), NANO_DIGITS + scale.exponent - fraction.length)
      : shiftDecimal(BigInt(digits) << BigInt(scale.exponent), NANO_DIGITS - fraction.length);
  const capped = scale.format === 'BinarySI' && magnitude > MAX_BINARY_NANOS ? MAX_BINARY_NANOS : magnitude;
  // Fractions of a byte cannot be written with a binary suffix.
  const format = scale.format === 'BinarySI' && capped > 0n && capped < NANOS ? 'DecimalSI' : scale.format;
  return { nanos: sign === '-' ? -capped : capped, format };
}

/** `parseQuantity`, answering undefined instead of throwing. */
export function tryParseQuantity(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch {
    return undefined;
  }
}

interface Scale {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function readSuffix(suffix: string): Scale | undefined {
  const decimal = decimalExponents.get(suffix);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = binaryExponents.get(suffix);
  if (binary !== undefined) return { base: 2, exponent: binary, format: 'BinarySI' };
  if (!/^[eE][+-]?\d+$/.test(suffix)) return undefined;
  const exponent = Number(suffix.slice(1));
  return Math.abs(exponent) > MAX_EXPONENT ? undefined : { base: 10, exponent, format: 'DecimalExponent' };
}

/** `value * 10^places` for a value >= 0, rounded up. */
function shiftDecimal(value: bigint, places: number): bigint {
  return places >= 0 ? value * 10n ** BigInt(places) : divideUp(value, 10n ** BigInt(-places));
}

/** Quotient rounded away from zero; `divisor` > 0. */
function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  return value > 0n ? quotient + 1n : quotient - 1n;
}

/**
 * The canonical text: no fraction, the largest suffix that keeps the amount whole. Equal amounts of one format print
 * alike.
 */
export function formatQuantity(quantity: Quantity): string {
  const { nanos, format } = quantity;
  if (nanos === 0n) return '0';
  const magnitude = nanos < 0n ? -nanos : nanos;
  // Small or fractional binary amounts are clearer, or only possible, in decimal.
  if (format === 'BinarySI' && magnitude >= 1024n * NANOS && magnitude % NANOS === 0n)
    return formatBinary(nanos / NANOS);
  return formatDecimal(nanos, format === 'DecimalExponent');
}

function formatBinary(value: bigint): string {
  let rest = value;
  let exponent = 0;
  while (exponent < 60 && rest % 1024n === 0n) {
    rest /= 1024n;
    exponent += 10;
  }
  return `${rest}${binarySuffixes.get(exponent) ?? ''}`;
}

function formatDecimal(nanos: bigint, asExponent: boolean): string {
  let rest = nanos;
  let exponent = -NANO_DIGITS;
  while (rest % 1000n === 0n && (asExponent || exponent < 18)) {
    rest /= 1000n;
    exponent += 3;
  }
  if (!asExponent) return `${rest}${decimalSuffixes.get(exponent) ?? ''}`;
  return exponent === 0 ? `${rest}` : `${rest}e${exponent}`;
}

/**
 * CPU in millicores, rounded up (away from zero), as Go's MilliValue. Exact up to 2^53; larger amounts are approximate,
 * never wrapped.
 */
export function toMillicores(quantity: Quantity): Millicores {
  return Number(divideUp(quantity.nanos, NANOS_PER_MILLI));
}

/**
 * CPU that somebody wrote, in millicores as {@link toMillicores} has them; undefined for all that is no text of a
 * quantity.
 */
export function tryParseMillicores(text: unknown): Millicores | undefined {
  const quantity = typeof text === 'string' ? tryParseQuantity(text) : undefined;
  return quantity === undefined ? undefined : toMillicores(quantity);
}

/**
 * Memory or storage in bytes, rounded up (away from zero), as Go's Value. Exact up to 2^53; larger amounts are
 * approximate, never wrapped.
 */
export function toBytes(quantity: Quantity): Bytes {
  return Number(divideUp(quantity.nanos, NANOS));
}

/** A whole number of millicores as a CPU quantity. */
export function fromMillicores(millicores: Millicores): Quantity {
  return { nanos: BigInt(millicores) * NANOS_PER_MILLI, format: 'DecimalSI' };
}

/** A whole number of bytes as a memory quantity. */
export function fromBytes(bytes: Bytes): Quantity {
  return { nanos: BigInt(bytes) * NANOS, format: 'BinarySI' };
}
