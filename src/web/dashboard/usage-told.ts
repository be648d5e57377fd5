/** The usage behind the advice for one container, as the dashboard shows it. */
import type { RightsizingPolicy } from '../../decide/rightsizing/policy.ts';
import type { UsagePiece } from '../../decide/rightsizing/usage-distribution.ts';
import { cpuPieces, memoryPieces, shapeOf } from '../../decide/rightsizing/usage-shape.ts';
import { toBytes, tryParseMillicores, tryParseQuantity } from '../../lib/quantity.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { UsageTold } from './workload-answer.ts';

export interface UsageQuestion {
  readonly profile: UsageProfile;
  readonly rules: Pick<RightsizingPolicy, 'cpu' | 'memory'>;
  readonly current: ContainerSize;
  /** Quantities, where there is advice. */
  readonly advised: { readonly cpu?: string | undefined; readonly memory?: string | undefined };
  readonly now: EpochMillis;
}

/** The samples that the policy's strategy goes by. Undefined where there are none. */
export function cpuUsageTold({ profile: { cpu }, rules, current, advised }: UsageQuestion): UsageTold | undefined {
  const { target } = rules.cpu;
  const isLately = target.strategy === 'CostAware';
  return usageTold(cpuPieces(cpu, target), {
    of: isLately ? 'last-day' : 'all-fading',
    request: current.cpuRequest,
    advised: tryParseMillicores(advised.cpu),
    limit: current.cpuLimit,
    until: cpu.lastAt(),
  });
}

/** The peaks of six hours that the policy's strategy goes by. Undefined where there are none. */
export function memoryUsageTold(question: UsageQuestion): UsageTold | undefined {
  const { profile, rules, current, advised, now } = question;
  const memory = advised.memory === undefined ? undefined : tryParseQuantity(advised.memory);
  return usageTold(memoryPieces(profile.memory, rules.memory.target, now), {
    of: 'peaks',
    request: current.memoryRequest,
    advised: memory && toBytes(memory),
    limit: current.memoryLimit,
    until: profile.memory.lastAt(),
  });
}

function usageTold(
  pieces: readonly UsagePiece[],
  about: Pick<UsageTold, 'of' | 'request' | 'advised' | 'limit' | 'until'>,
): UsageTold | undefined {
  const marks = [about.request, about.advised, about.limit].filter((mark) => mark !== undefined);
  const shape = shapeOf(pieces, marks);
  if (shape === undefined) return undefined;
  const { columns, beyond, ...figures } = shape;
  return { ...about, ...figures, columns: columns.map(rounded), beyond: rounded(beyond) };
}

/** A picture needs no more digits. */
const rounded = (share: number): number => Math.round(share * 10_000) / 10_000;
