/**
 * What is asked of {@link recommendWorkload} in tests: an ordinary workload that uses less than it requests, under an
 * eager policy.
 */
import type { ContainerSpecRecord } from '../../../model/sizing-records.ts';
import { aContainer, MIB } from '../../../model/testing/sizing-records.ts';
import type { UsageProfile } from '../../../model/usage-profile.ts';
import { percentilesOf } from '../../../model/usage-window.ts';
import type { Surroundings } from '../fit-surroundings.ts';
import { defaultPolicy, type RightsizingPolicy } from '../policy.ts';
import { recommendWorkload, type WorkloadQuestion } from '../recommend-workload.ts';
import { profileOf } from './profiles.ts';

export const STEPS = 400;
export const NOW = (STEPS - 1) * 300_000;
const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
export const steady = profileOf(STEPS, { cpu: () => 200, memory: () => 100 * MIB });
const nothing: Surroundings = { limitRanges: [], quotas: [], hpas: [], largestNode: undefined, replicas: 2 };
const percentile = { strategy: 'Percentile', percentile: 90, safetyFactor: 1.2 } as const;
export const eager = { minChange: 0, minAmount: 0, cooldownUpMillis: 0, cooldownDownMillis: 0, maxStepDown: 1 };
export const policy: RightsizingPolicy = {
  ...defaultPolicy,
  cpu: { ...defaultPolicy.cpu, target: percentile, change: eager },
  memory: { ...defaultPolicy.memory, target: percentile, change: eager },
  minHistoryMillis: 0,
};
export const size = { cpuRequest: 500, memoryRequest: 512 * MIB };

export interface Asked extends Partial<Omit<WorkloadQuestion, 'policy' | 'around'>> {
  readonly policy?: Partial<RightsizingPolicy>;
  readonly around?: Partial<Surroundings>;
  readonly profiles?: Readonly<Record<string, UsageProfile | undefined>>;
}
const window = { cpu: percentilesOf([200]), memory: percentilesOf([100 * MIB]) };
export const ask = (asked: Asked = {}) => {
  const { profiles, ...rest } = asked;
  return recommendWorkload({
    workload: web,
    containers: [aContainer({ size })],
    knowledgeOf: (name) => ({
      profile: profiles === undefined ? steady : profiles[name],
      window: profiles === undefined ? { from: 0, to: NOW, ...window } : undefined,
      floors: undefined,
      lastChange: { cpu: undefined, memory: undefined },
    }),
    isCpuAllocated: false,
    now: NOW,
    ...rest,
    policy: { ...policy, ...asked.policy },
    around: { ...nothing, ...asked.around },
  });
};
export const container = (name: string, own: ContainerSpecRecord['size']) => aContainer({ name, size: own });
