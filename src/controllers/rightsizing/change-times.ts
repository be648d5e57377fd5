/** When what of one workload was changed. */
import type { ApplyMethod } from '../../api/optimization-policy-status.ts';
import type { ResourceName } from '../../decide/rightsizing/amount-text.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import type { EpochMillis } from '../../lib/units.ts';

/** Shared by all: most workloads have no need of a map of their own, and there may be thousands. */
const nothing: ReadonlyMap<string, never> = new Map<string, never>();

const keyOf = (container: string, resource: ResourceName): string => `${container}/${resource}`;

export class ChangeTimes {
  #byPart: ReadonlyMap<string, EpochMillis> = nothing;
  #lastApplied: EpochMillis | undefined;
  #lastMethod: ApplyMethod | undefined;
  #revision = 0;

  /** When sizes were last put in force, of whichever container. */
  get lastApplied(): EpochMillis | undefined {
    return this.#lastApplied;
  }

  get lastMethod(): ApplyMethod | undefined {
    return this.#lastMethod;
  }

  /** Another one each time that other sizes are written as in force. */
  get revision(): number {
    return this.#revision;
  }

  /** By this leader: cooldowns are of one resource of one container, so CPU never waits for memory (optipod defect B1). */
  lastChange(container: string, resource: ResourceName): EpochMillis | undefined {
    return this.#byPart.get(keyOf(container, resource));
  }

  /** What the last leader wrote is where this one goes on, until it applies something itself. */
  resume(lastApplied: EpochMillis | undefined, lastMethod: ApplyMethod | undefined): void {
    this.#lastApplied ??= lastApplied;
    this.#lastMethod ??= lastMethod;
  }

  noteChanged(parts: readonly SizedPart[], at: EpochMillis): void {
    if (parts.length === 0) return;
    const changed = parts.map(({ container, resource }) => [keyOf(container, resource), at] as const);
    this.#byPart = new Map([...this.#byPart, ...changed]);
  }

  noteApplied(at: EpochMillis, method: ApplyMethod): void {
    this.#lastApplied = at;
    this.#lastMethod = method;
  }

  noteInForce(): void {
    this.#revision++;
  }
}
