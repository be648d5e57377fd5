/** Reads a PodAllocation as the operator needs it; whoever can write the object may have put anything there. */
import type { PodAllocation } from '../../api/pod-allocation.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import type { Millicores } from '../../lib/units.ts';
import type { LimitPolicy } from './node-input.ts';

/** What an agent asks for one pod, in whole millicores above zero. */
export interface DesiredCpu {
  /** The pod it was computed for: one of the same name may be there by now. */
  readonly podUid: string | undefined;
  readonly request: Millicores;
  readonly limit: Millicores;
  readonly limitPolicy: LimitPolicy;
  /** Relieves a shortage, or pays for that: not held back by the spacing. */
  readonly urgent: boolean;
  /** Measured usage by container. */
  readonly usage: ReadonlyMap<string, Millicores>;
}

export type ReadAllocation =
  | { readonly ok: true; readonly desired: DesiredCpu }
  | { readonly ok: false; readonly message: string };

/**
 * Never throws. Beside the figures of the spec nothing has to be right: what cannot be read of the rest is left out.
 */
export function readAllocation({ spec }: PodAllocation): ReadAllocation {
  const request = milliOf(spec?.desiredCPURequest);
  const limit = milliOf(spec?.desiredCPULimit);
  if (request === undefined) return invalid('desiredCPURequest', spec?.desiredCPURequest);
  if (limit === undefined) return invalid('desiredCPULimit', spec?.desiredCPULimit);
  const limitPolicy = spec?.limitPolicy ?? 'Apply';
  if (limitPolicy !== 'Keep' && request > limit) {
    return { ok: false, message: `spec.desiredCPURequest ${request}m is above spec.desiredCPULimit ${limit}m` };
  }
  const usage = new Map<string, Millicores>();
  for (const { name, cpuUsage } of spec?.decision?.containers ?? []) {
    const used = tryParseMillicores(cpuUsage);
    if (used !== undefined && used >= 0) usage.set(name, used);
  }
  const urgent = spec?.urgent === true;
  return { ok: true, desired: { podUid: spec?.podUID, request, limit, limitPolicy, urgent, usage } };
}

/** Nothing on earth has more; larger numbers are mistakes. */
const MOST: Millicores = 10_000_000;

function milliOf(text: string | undefined): Millicores | undefined {
  const milli = tryParseMillicores(text);
  return milli !== undefined && milli > 0 && milli <= MOST ? milli : undefined;
}

function invalid(field: string, text: string | undefined): ReadAllocation {
  const found = text === undefined ? 'missing' : `"${text}"`;
  return { ok: false, message: `spec.${field} is ${found}; accepted: an amount of CPU above zero such as 450m` };
}
