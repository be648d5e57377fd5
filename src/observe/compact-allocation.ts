/**
 * Spec and status of a PodAllocation in a fifth of the memory of plain ones: what tells those of ten thousand pods apart
 * are amounts and times. The rest is the pattern of a text that many share; they are put together when they are asked
 * for.
 */
import type {
  AllocationDecision,
  ContainerMeasurement,
  PodAllocationSpec,
  PodAllocationStatus,
} from '../api/pod-allocation.ts';
import { joinNumbers, splitNumbers } from '../lib/numbered-text.ts';

/** What a record keeps of a spec beside its text: what is text elsewhere as well, or is asked for at each scrape. */
export interface SpecParts extends Pick<PodAllocationSpec, 'podName'> {
  /** Of the object. */
  readonly namespace: string;
  readonly podUID: string | undefined;
  readonly nodeName: string | undefined;
  readonly usage: PackedUsage;
  /** Names of the measured containers. */
  readonly containers: readonly string[] | undefined;
}

type MeasuredTuple = readonly [usage: string, throttledRatio: number | null];

/** What is left of a spec; names of containers are as many as workloads, and would be as many patterns. */
type Rest = readonly [
  spec: Omit<PodAllocationSpec, 'namespace' | 'podName' | 'podUID' | 'nodeName' | 'decision'>,
  namespace: string | null,
  decision: Omit<AllocationDecision, 'cpuUsage' | 'containers'> | null,
  containers: readonly MeasuredTuple[],
];

/** CPU of the pod as its agent measured it: millicores where that says it all, as agents write it. */
export type PackedUsage = string | number | undefined;

export function packUsage(usage: string | undefined): PackedUsage {
  const millis = usage !== undefined && /^\d{1,9}m$/.test(usage) ? Number.parseInt(usage, 10) : undefined;
  return millis !== undefined && `${millis}m` === usage ? millis : usage;
}

export function unpackUsage(usage: PackedUsage): string | undefined {
  return typeof usage === 'number' ? `${usage}m` : usage;
}

/** @param namespace of the object, which the spec repeats. */
export function specParts(namespace: string, { podName, podUID, nodeName, decision }: PodAllocationSpec): SpecParts {
  return {
    namespace,
    podName,
    podUID,
    nodeName,
    usage: packUsage(decision?.cpuUsage),
    containers: decision?.containers?.map(({ name }) => name),
  };
}

/** Of spec and status: patterns are to be kept once for all, the numbers are those of both. */
export interface AllocationText {
  readonly spec: string;
  readonly status: string;
  readonly numbers: string | undefined;
}

/** No JSON has it but between its tokens, where we have nothing. */
const BETWEEN = '\n';

/** What {@link specParts} leaves out, and all of the status but its phase, which is counted at each scrape. */
export function allocationText(
  namespace: string,
  spec: PodAllocationSpec,
  { phase: _phase, ...status }: PodAllocationStatus,
): AllocationText {
  const { pattern, numbers } = splitNumbers(specJson(namespace, spec) + BETWEEN + JSON.stringify(status));
  const end = pattern.indexOf(BETWEEN);
  return { spec: pattern.slice(0, end), status: pattern.slice(end + 1), numbers };
}

function specJson(namespace: string, spec: PodAllocationSpec): string {
  const { namespace: named, podName: _name, podUID: _uid, nodeName: _node, decision, ...rest } = spec;
  const { cpuUsage: _usage, containers = [], ...shared } = decision ?? {};
  const left: Rest = [
    rest,
    named === namespace ? null : named,
    decision === undefined ? null : shared,
    containers.map((each) => [each.cpuUsage, each.throttledRatio ?? null]),
  ];
  return JSON.stringify(left);
}

function jsonOf({ spec, status, numbers }: AllocationText): readonly string[] {
  return joinNumbers({ pattern: spec + BETWEEN + status, numbers }).split(BETWEEN);
}

/** The spec as it was, absent values absent. */
export function plainSpec(parts: SpecParts, text: AllocationText): PodAllocationSpec {
  const { namespace, podName, podUID, nodeName, usage, containers } = parts;
  const [json = ''] = jsonOf(text);
  // Written by allocationText.
  const [rest, named, decision, measured]: Rest = JSON.parse(json);
  const cpuUsage = unpackUsage(usage);
  return {
    ...rest,
    namespace: named ?? namespace,
    podName,
    ...(podUID !== undefined && { podUID }),
    ...(nodeName !== undefined && { nodeName }),
    ...(decision !== null && {
      decision: {
        ...decision,
        ...(cpuUsage !== undefined && { cpuUsage }),
        ...(containers !== undefined && {
          containers: containers.map((name, index) => measuredOf(name, measured[index])),
        }),
      },
    }),
  };
}

function measuredOf(name: string, [cpuUsage, throttledRatio]: MeasuredTuple = ['', null]): ContainerMeasurement {
  return { name, cpuUsage, ...(throttledRatio !== null && { throttledRatio }) };
}

export function plainStatus(phase: PodAllocationStatus['phase'], text: AllocationText): PodAllocationStatus {
  const [, json = ''] = jsonOf(text);
  // Written by allocationText.
  const rest: Omit<PodAllocationStatus, 'phase'> = JSON.parse(json);
  return { ...(phase !== undefined && { phase }), ...rest };
}
