/** The status of a policy as somebody wrote it: of what an API server stores it vouches for the form, of a file nobody does. */
import type { OptimizationPolicyStatus } from '../api/optimization-policy-status.ts';
import { isRecord } from '../lib/is-record.ts';

/** Without what is no list, and what is no entry of one. */
export function readPolicyStatus(status: unknown): OptimizationPolicyStatus {
  if (!isRecord(status)) return {};
  const { conditions, workloads, ...rest } = status;
  const read: Entry = {
    ...rest,
    ...(conditions !== undefined && { conditions: recordsIn(conditions) }),
    ...(workloads !== undefined && { workloads: recordsIn(workloads).map(withRecords) }),
  };
  return read;
}

function withRecords({ recommendations, ...entry }: Entry): Entry {
  return recommendations === undefined ? entry : { ...entry, recommendations: recordsIn(recommendations) };
}

type Entry = Readonly<Record<string, unknown>>;

function recordsIn(value: unknown): Entry[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
