/** What pods and templates had before Stowage sized them, as the text kept in their annotation. */
import { isRecord, memberOf } from '../lib/is-record.ts';
import { formatQuantity, fromBytes, fromMillicores, toBytes, toMillicores, tryParseQuantity } from '../lib/quantity.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import { type SizeKey, sizeKeys, sizePaths } from './pod-size.ts';
import type { ContainerSize, ContainerSpecRecord } from './sizing-records.ts';

/** `resources` of a container as the API has them. */
export interface ResourcesBody {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

/** Only the amounts that are set, in canonical text; memory never with a fraction. */
export function resourcesBody({ cpuRequest, cpuLimit, memoryRequest, memoryLimit }: ContainerSize): ResourcesBody {
  const requests = amountsBody(cpuRequest, memoryRequest);
  const limits = amountsBody(cpuLimit, memoryLimit);
  return { ...(requests && { requests }), ...(limits && { limits }) };
}

function amountsBody(cpu: number | undefined, memory: number | undefined): ResourcesBody['requests'] {
  if (cpu === undefined && memory === undefined) return undefined;
  return {
    ...(cpu !== undefined && { cpu: formatQuantity(fromMillicores(cpu)) }),
    ...(memory !== undefined && { memory: formatQuantity(fromBytes(memory)) }),
  };
}

/**
 * `{"app":{"requests":{"cpu":"200m"}}}`.
 * @param cpuOnly for the engine that changes nothing else.
 */
export function originalsText(containers: readonly ContainerSpecRecord[], cpuOnly: boolean): string {
  const bodies: Record<string, ResourcesBody> = {};
  for (const { name, size } of containers) bodies[name] = resourcesBody(cpuOnly ? cpuOf(size) : size);
  return JSON.stringify(bodies);
}

function cpuOf({ cpuRequest, cpuLimit }: ContainerSize): ContainerSize {
  return { ...(cpuRequest !== undefined && { cpuRequest }), ...(cpuLimit !== undefined && { cpuLimit }) };
}

/** By container; undefined for a text that is not one of ours. People may have edited it. */
export function parseOriginals(text: string): ReadonlyMap<string, ContainerSize> | undefined {
  const parsed = tryParseJson(text);
  if (!isRecord(parsed)) return undefined;
  const sizes = new Map<string, ContainerSize>();
  for (const [container, body] of Object.entries(parsed)) {
    const size = isRecord(body) ? parseResources(body) : undefined;
    if (size === undefined) return undefined;
    sizes.set(container, size);
  }
  return sizes;
}

/** The `resources` of a container, as the API or people wrote them; undefined where an amount cannot be read. */
export function parseResources(body: Readonly<Record<string, unknown>>): ContainerSize | undefined {
  const size: { -readonly [Key in SizeKey]?: number } = {};
  for (const key of sizeKeys) {
    const { list, resource } = sizePaths[key];
    const text = memberOf(body[list], resource);
    if (text === undefined) continue;
    const quantity = typeof text === 'string' ? tryParseQuantity(text) : undefined;
    if (quantity === undefined || quantity.nanos < 0n) return undefined;
    size[key] = resource === 'cpu' ? toMillicores(quantity) : toBytes(quantity);
  }
  return size;
}
