/** The format of a prices file: what an hour of each instance type costs on demand and on spot, where that is known. */
import * as z from 'zod';
import type { DollarsPerHour, Percent } from '../lib/units.ts';

const PRICE = 'a number of US dollars an hour, at least 0 and at most 10000';
const DISCOUNT = 'a percentage from 0 to 100, with or without %, such as 66%';
/** What an entry of the file accepts, for messages and the documentation. */
export const pricesGrammar = {
  price: PRICE,
  discount: DISCOUNT,
  entry: 'onDemand, spot or spotDiscount, regions, zones',
} as const;

const price = z
  .number('is not a number')
  .min(0, 'is below 0')
  .max(10_000, 'is more than 10000')
  .transform((value): DollarsPerHour => value);

const discount = z.union([z.number(), z.string()], 'is not a percentage').transform((value, context): Percent => {
  const digits = /^(\d{1,3}(?:\.\d{1,4})?)\s*%?$/.exec(String(value).trim())?.[1];
  const percent = Number(digits);
  if (digits === undefined || percent > 100) context.addIssue('is not a percentage');
  return percent;
});

const localPrices = z
  .strictObject({ onDemand: price.optional(), spot: price.optional(), spotDiscount: discount.optional() })
  .refine(({ spot, spotDiscount }) => spot === undefined || spotDiscount === undefined, {
    error: 'has both spot and spotDiscount: give one of them',
  });

const instancePrices = localPrices.safeExtend({
  onDemand: price,
  regions: z.record(z.string(), localPrices, 'must hold regions with prices').optional(),
  zones: z.record(z.string(), localPrices, 'must hold zones with prices').optional(),
});

/** The whole file. Unknown keys are refused: a misspelt `spotDiscont` would silently mean "unknown". */
export const priceTableSchema = z.strictObject({
  source: z.string('is not text').optional(),
  asOf: z.string('is not a date as text').optional(),
  region: z.string('is not the name of a region').min(1, 'is empty').optional(),
  instanceTypes: z.record(z.string(), instancePrices, 'must hold instance types with prices'),
});

/** Prices of one instance type in one place; what is left out follows from the next wider place. */
export type LocalPrices = z.output<typeof localPrices>;
/**
 * A checked prices file, in US dollars an hour. Prices outside `regions` and `zones` hold for `region` where that is
 * given, else everywhere.
 */
export type PriceTable = z.output<typeof priceTableSchema>;
