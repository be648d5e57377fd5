/** What the status of policies tells people of workloads that do not have what they should. */
import { isRecord } from '../lib/is-record.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import { type Tree, treeAt } from './policy-book.ts';

export interface PolicyReports {
  /** The operator wrote a policy's status; this is the policy as it is since. */
  onStatus(policy: unknown): void;
  /** What is told of the workload; undefined where it has what it should, as far as is told. */
  of(facts: Pick<WorkloadFacts, 'key' | 'kind'>): string | undefined;
}

export function createPolicyReports(): PolicyReports {
  /** By policy, what it tells of which workload. */
  const told = new Map<string, ReadonlyMap<string, string>>();
  return {
    onStatus(policy) {
      if (!isRecord(policy)) return;
      const { namespace, name } = treeAt(policy, 'metadata');
      const { workloads } = treeAt(policy, 'status');
      const entries: readonly Tree[] = Array.isArray(workloads) ? workloads.filter(isRecord) : [];
      told.set(
        `${String(namespace)}/${String(name)}`,
        new Map(
          entries.flatMap((entry) =>
            typeof entry['reason'] === 'string' ? [[keyOf(entry), entry['reason']] as const] : [],
          ),
        ),
      );
    },
    of({ key, kind }) {
      for (const reasons of told.values()) {
        const reason = reasons.get(`${kind} ${key}`);
        if (reason !== undefined) return reason;
      }
      return undefined;
    },
  };
}

function keyOf({ kind, namespace, name }: Tree): string {
  return `${String(kind)} ${String(namespace)}/${String(name)}`;
}
