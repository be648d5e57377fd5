/** Field types that Kubernetes objects have and JSON Schema has no word for, as zod schemas that carry their CRD markers. */
import * as z from 'zod';
import { tryParseQuantity } from '../../lib/quantity.ts';

/** The pattern of quantities in published CRDs; the grammar itself is in lib/quantity.ts. */
export const QUANTITY_PATTERN =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

export const QUANTITY_ACCEPTED = 'a quantity such as 500m, 2, 512Mi or 8Gi';

/** A resource quantity: an integer, or text as in `512Mi`. Parsed to text. */
export function quantityField(description: string) {
  return (
    z
      // Beyond 2^53 zod tells the problem and goes on with the number, which is no text for what follows.
      .union([z.int({ abort: true }), z.string()], { error: `is not a quantity; accepted: ${QUANTITY_ACCEPTED}` })
      .transform(String)
      .refine((text) => text !== '' && tryParseQuantity(text) !== undefined, {
        message: `is not a quantity; accepted: ${QUANTITY_ACCEPTED}`,
        // Rules of the object around it may then rely on quantities.
        abort: true,
      })
      .meta({ description, 'x-kubernetes-int-or-string': true, pattern: QUANTITY_PATTERN })
  );
}

/** A list of which each item is told apart by `keys`, so that server-side apply merges it item by item. */
export function listMap<Item extends z.ZodObject>(item: Item, keys: readonly string[]) {
  return z.array(item).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
}

/** An instant in RFC 3339. */
export function timeField(description: string) {
  return z.string().meta({ description, format: 'date-time' });
}

/** A whole number of 32 bits, as Go clients hold it. */
export const int32 = (description: string) => z.int32().meta({ description });
