/** Admissions that placement has no say in: the pod is let through as it came, for a reason of the table. */
import { type ReasonNameOf, type ReasonValues, renderReason } from '../../lib/reasons.ts';
import type { Unsteered } from './admission-decision.ts';

/** Reasons a user should learn of at once. */
const warned: ReadonlySet<ReasonNameOf<'unsteered'>> = new Set([
  'InvalidConfiguration',
  'OwnerUnknown',
  'CachesStale',
  'AdmissionFailed',
]);

export function unsteered<Name extends ReasonNameOf<'unsteered'>>(name: Name, values: ReasonValues<Name>): Unsteered {
  return unsteeredBecause({ name, message: renderReason(name, values) });
}

/** As {@link unsteered}, where the reason's text is there already. */
export function unsteeredBecause(reason: {
  readonly name: ReasonNameOf<'unsteered'>;
  readonly message: string;
}): Unsteered {
  const { name, message } = reason;
  return { kind: 'unsteered', reason: name, message, warn: warned.has(name), wouldBe: undefined };
}
