/** From when a dump is, as its objects tell: whoever reads it later must not take what was alive then for dead. */
import type { KubeObject } from '../../api/core.ts';
import { RENEWED_ANNOTATION } from '../../api/pod-allocation.ts';
import { memberOf } from '../../lib/is-record.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';

export interface DumpTime {
  see(object: KubeObject): void;
  /** The newest sign of life in it; undefined where no node gives one, as then nothing tells an old dump from agents that are gone. */
  takenAt(): EpochMillis | undefined;
}

/** Twice what kubelets take at most to tell of themselves (nodeStatusReportFrequency): what is younger is of now. */
export const OLD_DUMP_MILLIS: Millis = 600_000;

export function createDumpTime(): DumpTime {
  let newest = Number.NEGATIVE_INFINITY;
  let hasHeartbeat = false;
  const take = (time: unknown): boolean => {
    const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    if (Number.isNaN(at)) return false;
    newest = Math.max(newest, at);
    return true;
  };
  return {
    see({ kind, metadata, ...object }) {
      if (kind === 'Node') {
        const conditions = memberOf(memberOf(object, 'status'), 'conditions');
        const told = Array.isArray(conditions) ? conditions : [];
        for (const condition of told) hasHeartbeat = take(memberOf(condition, 'lastHeartbeatTime')) || hasHeartbeat;
      }
      if (kind !== 'PodAllocation') return;
      take(memberOf(memberOf(object, 'spec'), 'renewTime'));
      take(metadata?.annotations?.[RENEWED_ANNOTATION]);
    },
    takenAt: () => (hasHeartbeat ? newest : undefined),
  };
}
