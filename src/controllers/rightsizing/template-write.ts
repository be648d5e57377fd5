/** The template of one workload as this leader wrote it last, until somebody undoes that. */
import type { EpochMillis } from '../../lib/units.ts';
import { effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import { UNSEEN_MILLIS } from './written-annotations.ts';

interface Written {
  readonly changes: readonly SizeChange[];
  readonly at: EpochMillis;
  readonly wasSeen: boolean;
}

export class TemplateWrite {
  #written: Written | undefined;

  /** The view is behind: what it shows is the template from before. */
  get isUnseen(): boolean {
    return this.#written?.wasSeen === false;
  }

  /** It is unseen, and not yet for so long that somebody else must have undone it. */
  isDue(now: EpochMillis): boolean {
    return this.#written?.wasSeen === false && now - this.#written.at < UNSEEN_MILLIS;
  }

  note(changes: readonly SizeChange[], at: EpochMillis): void {
    this.#written = { changes, at, wasSeen: false };
  }

  forget(): void {
    this.#written = undefined;
  }

  /**
   * To be called at each look.
   * @param containers as the view shows them.
   * @returns whether what was written is gone again: somebody else writes the template, such as a GitOps controller. Said
   * once.
   */
  noticeUndone(containers: readonly ContainerSpecRecord[], now: EpochMillis): boolean {
    if (this.#written === undefined) return false;
    if (effectiveChanges(containers, this.#written.changes).length === 0) {
      this.#written = { ...this.#written, wasSeen: true };
      return false;
    }
    // Not yet seen is not undone: the view may still be behind.
    if (this.isDue(now)) return false;
    this.#written = undefined;
    return true;
  }
}
