/** When what of one workload was changed. */
import type { ApplyMethod } from '../../api/optimization-policy-status.ts';
import type { ResourceName } from '../../decide/rightsizing/amount-text.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import type { EpochMillis } from '../../lib/units.ts';

/** Shared by all: most workloads have no need of maps of their own, and there may be thousands. */
const nothing: ReadonlyMap<string, never> = new Map<string, never>();

const keyOf = (container: string, resource: ResourceName): string => `${container}/${resource}`;

export class ChangeTimes {
  #byPart: ReadonlyMap<string, EpochMillis> = nothing;
  #ofReplicas: ReadonlyMap<string, ChangeTimes> = nothing;
  #isResumed = false;
  /** When the last leader put sizes in force. */
  #found: EpochMillis | undefined;
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

  /**
   * Cooldowns are of one resource of one container, so CPU never waits for memory (optipod defect B1). Of what this leader
   * has not changed no more is known than when the one before put sizes in force, of whichever part.
   */
  lastChange({ container, resource }: SizedPart): EpochMillis | undefined {
    return this.#byPart.get(keyOf(container, resource)) ?? this.#found;
  }

  /**
   * What the last leader wrote is where this one goes on, until it applies something itself.
   * @param told on the workload itself, and so of this one: the status may be of another that had its name before.
   */
  resume(
    lastApplied: EpochMillis | undefined,
    lastMethod: ApplyMethod | undefined,
    told: EpochMillis | undefined,
  ): void {
    if (!this.#isResumed) this.#found = told;
    this.#isResumed = true;
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

  /** Of a replica that has a size of its own. @param told when that was last changed, as the workload says. */
  ofReplica(replica: string, told: EpochMillis | undefined): ChangeTimes {
    const known = this.#ofReplicas.get(replica);
    if (known !== undefined) return known;
    const own = new ChangeTimes();
    own.resume(told, undefined, told);
    this.#ofReplicas = new Map([...this.#ofReplicas, [replica, own]]);
    return own;
  }

  /** Forgets replicas that have no size of their own any more. */
  keepReplicas(known: Pick<ReadonlyMap<string, unknown>, 'has'>): void {
    if ([...this.#ofReplicas.keys()].every((replica) => known.has(replica))) return;
    this.#ofReplicas = new Map([...this.#ofReplicas].filter(([replica]) => known.has(replica)));
  }
}
