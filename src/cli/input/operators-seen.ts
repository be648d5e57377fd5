/** Who else acts on the same objects: Stowage installed again, or a system whose place it takes and whose names it keeps. */
import type { KubeObject } from '../../api/core.ts';
import { memberOf } from '../../lib/is-record.ts';
import { isStowage, predecessorOf, predecessors } from '../../model/predecessors.ts';

export interface OperatorsSeen {
  see(object: KubeObject): void;
  /** A sentence for each trouble. */
  problems(): readonly string[];
}

const OWN = 'stowage';

export function createOperatorsSeen(): OperatorsSeen {
  /** `namespace/name` of their programs, by label. */
  const seen = new Map<string, Set<string>>();
  const namesOf = (label: string): readonly string[] => [...(seen.get(label) ?? [])].sort();
  return {
    see(object) {
      const label = runningAs(object);
      if (label === undefined) return;
      const { namespace, name } = object.metadata ?? {};
      seen.set(label, (seen.get(label) ?? new Set()).add(`${namespace}/${name}`));
    },
    problems() {
      const own = namesOf(OWN);
      if (own.length === 0) return [];
      const twice =
        own.length === 1
          ? []
          : [
              `Stowage is installed ${own.length} times (${own.join(', ')}): unless each has namespaces of its own they act on the same workloads; docs/troubleshooting.md#two-installations`,
            ];
      const others = [...predecessors].flatMap(([label, title]) => {
        const names = namesOf(label);
        return names.length === 0
          ? []
          : `${title} runs beside Stowage (${names.join(', ')}), and they do the same work: stop it as docs/migrating-from-${label}.md says`;
      });
      return [...twice, ...others];
    },
  };
}

/** Undefined for what is none of them, or scaled down. Two of ours in different namespaces have a Lease each, and both act. */
function runningAs({ kind, metadata, ...object }: KubeObject): string | undefined {
  const labels = metadata?.labels ?? {};
  const isScaledDown = memberOf(memberOf(object, 'spec'), 'replicas') === 0;
  if (isScaledDown || (kind !== 'Deployment' && kind !== 'DaemonSet')) return undefined;
  if (isStowage(labels)) return labels['app.kubernetes.io/component'] === 'operator' ? OWN : undefined;
  return predecessorOf(labels) === undefined ? undefined : labels['app.kubernetes.io/name'];
}
