/** What rightsizing looks at, out of a dump or a cluster: policies of both groups, and the sizes in templates. */
import type { DaemonSet, KubeObject } from '../../api/core.ts';
import { policyGroups, policyType } from '../../api/optimization-policy.ts';
import { apiVersionOf } from '../../api/resources.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { type PolicyRecord, parsePolicy } from '../../model/optimization-policy.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { createSizingInterners } from '../../observe/sizing/sizing-interners.ts';
import { createSizingProjections } from '../../observe/sizing/sizing-projections.ts';
import { createUnknownPolicyFields } from './unknown-policy-fields.ts';

/** Policies with their problems; workloads of every kind that can be sized. */
export interface SizingInput {
  readonly policies: readonly PolicyRecord[];
  readonly workloads: readonly SizedWorkload[];
}

export interface SizingInputBuilder {
  /** False for objects that placement may still have a use for. */
  add(object: KubeObject): boolean;
  build(workloads: readonly WorkloadRecord[]): SizingInput;
}

const MAX_INTERNED = 1_000;

export function createSizingInputBuilder(onProblem: (problem: string) => void): SizingInputBuilder {
  const project = createSizingProjections(createSizingInterners(MAX_INTERNED), onProblem);
  const policies = new Map<string, PolicyRecord>();
  const unknownFieldsOf = createUnknownPolicyFields();
  const daemonSets: SizedWorkload[] = [];
  return {
    add(object) {
      const { apiVersion, kind } = object;
      const group = policyGroups.find((each) => apiVersion === apiVersionOf(policyType(each)));
      if (kind === 'OptimizationPolicy' && group !== undefined) {
        const policy = parsePolicy(group, object);
        policies.set(`${group}/${policy.namespace}/${policy.name}`, policy);
        const label = `OptimizationPolicy ${policy.namespace}/${policy.name}`;
        for (const problem of unknownFieldsOf(object, label)) onProblem(problem);
        return true;
      }
      if (!isDaemonSet(object)) return false;
      const record = project.daemonSet(object);
      if (record !== undefined) daemonSets.push(record);
      return true;
    },
    build(workloads) {
      const sized = [...workloads.flatMap((workload) => workload.sized ?? []), ...daemonSets];
      // What comes twice counts once, the later one, as for placement.
      const byKey = new Map(sized.map((workload) => [workloadKey(workload), workload]));
      return { policies: [...policies.values()], workloads: [...byKey.values()] };
    },
  };
}

function isDaemonSet(object: KubeObject): object is DaemonSet {
  return object.kind === 'DaemonSet' && object.apiVersion === 'apps/v1';
}
