/** Reads a load curve from text such as `200m + square(0, 600m, 30s)`. */
import { parseDuration } from '../../lib/duration.ts';
import { describeError, InvalidValueError } from '../../lib/errors.ts';
import { parseQuantity, toBytes } from '../../lib/quantity.ts';
import type { LoadCurve } from './curve.ts';
import * as curves from './curve.ts';

/** What amounts are of: `200m` is millicores of `cpu`, `64Mi` bytes of `memory`. */
export type LoadResource = 'cpu' | 'memory';

interface Shape {
  /** What each argument is, an offset being a duration that may be 0; those after `required` may be left out. */
  readonly parameters: readonly ('amount' | 'length' | 'offset')[];
  readonly required: number;
  readonly usage: string;
  readonly make: (...values: number[]) => LoadCurve;
}

const shapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries({
    constant: shape('constant(AMOUNT)', 1, ['amount'], (amount = 0) => curves.constant(amount)),
    square: shape(
      'square(LOW, HIGH, PERIOD[, PHASE])',
      3,
      ['amount', 'amount', 'length', 'offset'],
      (low = 0, high = 0, period = 0, phase) => curves.square(low, high, period, phase),
    ),
    diurnal: shape('diurnal(LOW, HIGH[, PEAK])', 2, ['amount', 'amount', 'offset'], (low = 0, high = 0, peak) =>
      curves.diurnal(low, high, peak),
    ),
    bursty: shape(
      'bursty(BASE, PEAK, EVERY, LENGTH)',
      4,
      ['amount', 'amount', 'length', 'length'],
      (base = 0, peak = 0, every = 0, length = 0) => curves.bursty(base, peak, every, length),
    ),
    noise: shape('noise(MEAN, DEVIATION[, STEP])', 2, ['amount', 'amount', 'length'], (mean = 0, deviation = 0, each) =>
      curves.noise(mean, deviation, each),
    ),
    startup: shape(
      'startup(STEADY, PEAK, DURATION)',
      3,
      ['amount', 'amount', 'length'],
      (steady = 0, peak = 0, duration = 0) => curves.startup(steady, peak, duration),
    ),
    step: shape('step(BEFORE, AFTER, AT)', 3, ['amount', 'amount', 'offset'], (before = 0, after = 0, at = 0) =>
      curves.step(before, after, at),
    ),
    leak: shape('leak(BASE, PER_HOUR[, MOST])', 2, ['amount', 'amount', 'amount'], (base = 0, perHour = 0, most) =>
      curves.leak(base, perHour, most),
    ),
    plateau: shape(
      'plateau(START, CEILING, DURATION)',
      3,
      ['amount', 'amount', 'length'],
      (start = 0, ceiling = 0, duration = 0) => curves.plateau(start, ceiling, duration),
    ),
  }),
);

/** Longer texts are no curves. */
const MAX_LENGTH = 500;

function shape(usage: string, required: number, parameters: Shape['parameters'], make: Shape['make']): Shape {
  return { usage, required, parameters, make };
}

/**
 * Reads a sum of terms, each an amount or one of the shapes of `curve.ts` with its arguments: amounts are quantities,
 * durations as Go writes them.
 * @throws InvalidValueError that says which term is wrong and what was expected.
 */
export function parseCurve(resource: LoadResource, text: string): LoadCurve {
  if (text.trim() === '' || text.length > MAX_LENGTH)
    throw new InvalidValueError(
      'load curve',
      text.slice(0, 80),
      `terms joined by "+", at most ${MAX_LENGTH} characters`,
    );
  return curves.sum(text.split('+').map((term) => parseTerm(resource, term.trim())));
}

function parseTerm(resource: LoadResource, term: string): LoadCurve {
  const [, name, list] = /^([a-z]+)\(([^()]*)\)$/.exec(term) ?? [];
  if (name === undefined || list === undefined) return curves.constant(parseAmount(resource, term, term));
  const found = shapes.get(name);
  if (found === undefined) {
    const known = [...shapes.values()].map(({ usage }) => usage).join(', ');
    throw new InvalidValueError('load curve', term, `an amount or one of ${known}`);
  }
  const texts = list.split(',').map((each) => each.trim());
  if (texts.length < found.required || texts.length > found.parameters.length)
    throw new InvalidValueError('load curve', term, found.usage);
  return found.make(
    ...texts.map((each, index) => {
      const kind = found.parameters[index] ?? 'amount';
      return kind === 'amount' ? parseAmount(resource, each, term) : parseMillis(each, term, kind);
    }),
  );
}

/** Millicores may be a fraction: idle containers use less than one. */
function parseAmount(resource: LoadResource, text: string, term: string): number {
  try {
    const quantity = parseQuantity(text);
    return Math.max(0, resource === 'cpu' ? Number(quantity.nanos) / 1e6 : toBytes(quantity));
  } catch (error) {
    throw new InvalidValueError('load curve', term, `an amount of ${resource}: ${describeError(error)}`);
  }
}

function parseMillis(text: string, term: string, kind: 'length' | 'offset'): number {
  const millis = parseDuration(text);
  if (millis < 0 || (millis === 0 && kind === 'length'))
    throw new InvalidValueError('load curve', term, `durations above 0, as ${JSON.stringify(text)} is not`);
  return millis;
}
