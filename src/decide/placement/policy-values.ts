/** The grammar of the two numbers of a placement policy, as Spotalis reads them. */
import { InvalidValueError } from '../../lib/errors.ts';
import type { Percent } from '../../lib/units.ts';
import type { MinOnDemand } from './slots.ts';

/** Go's strconv.Atoi: sign and leading zeros are fine, spaces and decimals are not; then one optional percent sign. */
const NUMBER = /^([+-]?\d{1,9})(%?)$/;
const MAX_MIN_ON_DEMAND = 10_000;

/** @throws InvalidValueError unless `text` is a whole number from 0 to 100, with one `%` at most. */
export function parseSpotPercentage(text: string): Percent {
  const number = Number(NUMBER.exec(text)?.[1]);
  if (number >= 0 && number <= 100) return number;
  throw new InvalidValueError('spot percentage', text, 'a whole number from 0 to 100, e.g. 70 or 70%');
}

/** @throws InvalidValueError unless `text` is a whole number from 0 to 10000, or a percentage from 0% to 100%. */
export function parseMinOnDemand(text: string): MinOnDemand {
  const [, digits, sign] = NUMBER.exec(text) ?? [];
  const number = Number(digits);
  if (sign === '%' && number >= 0 && number <= 100) return { kind: 'percent', percent: number };
  if (sign === '' && number >= 0 && number <= MAX_MIN_ON_DEMAND) return { kind: 'count', count: number };
  throw new InvalidValueError(
    'minimum on on-demand',
    text,
    `a whole number from 0 to ${MAX_MIN_ON_DEMAND}, or a percentage of the replicas such as 30%`,
  );
}
