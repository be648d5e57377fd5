/** Which load a simulated pod runs, by annotations of the pod. */
import type { Pod } from '../../api/core.ts';
import { describeError } from '../../lib/errors.ts';
import { constant, type LoadCurve } from './curve.ts';
import { type LoadResource, parseCurve } from './parse-curve.ts';

/**
 * How a pod is given a load, on the embedded and on a real control plane alike: annotations of the pod (or of its
 * template) `stowage.test/cpu` and `stowage.test/memory` hold a curve, e.g. `square(200m, 800m, 30s)`, see
 * {@link parseCurve}. They speak of the first container; `stowage.test/cpu.NAME` of the one of that name, sidecars
 * included. They may be changed while the pod runs.
 *
 * CPU curves say what would be used if nothing stood in the way; limits and neighbours may grant less. Memory curves
 * say what is used; beyond the limit the container is killed.
 */
export const LOAD_ANNOTATIONS: Readonly<Record<LoadResource, string>> = {
  cpu: 'stowage.test/cpu',
  memory: 'stowage.test/memory',
};

export interface ContainerLoad {
  readonly cpu: LoadCurve;
  /** Undefined: as much as a test said by `Kubelet.useMemory`, or next to nothing. */
  readonly memory: LoadCurve | undefined;
}

/** What containers without a load use. */
const IDLE_CPU = constant(1);

export interface LoadReader {
  /** The load of each container of the pod, by name; undefined where it has none of its own. */
  of(pod: Pod): ReadonlyMap<string, ContainerLoad> | undefined;
}

/** @param onInvalid told once of each curve that cannot be read, in one sentence; the container then idles. */
export function createLoadReader(onInvalid: (problem: string) => void): LoadReader {
  const curves = new Map<string, LoadCurve | undefined>();
  const known = new WeakMap<Pod, ReadonlyMap<string, ContainerLoad> | undefined>();

  const read = (resource: LoadResource, text: string | undefined): LoadCurve | undefined => {
    if (text === undefined) return undefined;
    const key = `${resource} ${text}`;
    if (curves.has(key)) return curves.get(key);
    let curve: LoadCurve | undefined;
    try {
      curve = parseCurve(resource, text);
    } catch (error) {
      onInvalid(`annotation ${LOAD_ANNOTATIONS[resource]}: ${describeError(error)}`);
    }
    curves.set(key, curve);
    return curve;
  };

  const readPod = (pod: Pod): ReadonlyMap<string, ContainerLoad> | undefined => {
    // Manifests may say `annotations:` and nothing, which is null.
    const annotations = pod.metadata?.annotations ?? {};
    if (!Object.keys(annotations).some(isLoadAnnotation)) return undefined;
    const loads = new Map<string, ContainerLoad>();
    const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
    containers.forEach(({ name }, index) => {
      const curve = (resource: LoadResource): LoadCurve | undefined => {
        const annotation = LOAD_ANNOTATIONS[resource];
        return read(
          resource,
          annotations[`${annotation}.${name}`] ?? (index === 0 ? annotations[annotation] : undefined),
        );
      };
      const [cpu, memory] = [curve('cpu'), curve('memory')];
      if (cpu !== undefined || memory !== undefined) loads.set(name, { cpu: cpu ?? IDLE_CPU, memory });
    });
    return loads;
  };

  return {
    of(pod) {
      // Pods are read-only and replaced when they change, so one that is known has the same load as before.
      if (known.has(pod)) return known.get(pod);
      const loads = readPod(pod);
      known.set(pod, loads);
      return loads;
    },
  };
}

function isLoadAnnotation(key: string): boolean {
  return Object.values(LOAD_ANNOTATIONS).some((annotation) => key === annotation || key.startsWith(`${annotation}.`));
}
