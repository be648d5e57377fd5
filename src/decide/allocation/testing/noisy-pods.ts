/**
 * Random pods as a cluster has them: of every QoS class, half started, opted out, being resized, annotated with
 * nonsense.
 */
import fc from 'fast-check';
import type { AllocationPod } from '../allocation-pod.ts';
import type { NodePod } from '../node-input.ts';
import { T0, testPod } from './pods.ts';

export interface Noise {
  /** Part of the pods, 0..1, that are in some odd state. */
  readonly odd: number;
}

export const defaultNoise: Noise = { odd: 0.4 };

const oddity: fc.Arbitrary<Partial<AllocationPod>> = fc.oneof(
  fc.record({ ready: fc.constant(false), readyChangedAt: fc.integer({ min: T0 - 900_000, max: T0 }) }),
  fc.record({ startedAt: fc.integer({ min: T0 - 90_000, max: T0 }) }),
  fc.record({ qos: fc.constantFrom<AllocationPod['qos']>('Guaranteed', 'BestEffort') }),
  fc.record({ phase: fc.constantFrom<AllocationPod['phase']>('Pending', 'Succeeded', 'Unknown') }),
  fc.record({ terminating: fc.constant(true) }),
  fc.record({ isStatic: fc.constant(true) }),
  fc.record({ statuses: fc.constant([]) }),
  fc.record({ generation: fc.constant(2) }),
  fc.record({ overhead: fc.integer({ min: 0, max: 300 }) }),
  fc.record({
    resize: fc.constant({ pending: { reason: 'Deferred' as const, message: '', since: T0 }, inProgress: undefined }),
  }),
);

const marks = fc.dictionary(
  fc.constantFrom(
    'mbcas.io/managed',
    'mbcas.io/min-cpu',
    'mbcas.io/max-cpu',
    'mbcas.io/weight',
    'mbcas.io/coalition',
    'mbcas.io/skip-guaranteed',
    'mbcas.io/workload-type',
    'mbcas.io/priority-multiplier',
  ),
  fc.constantFrom('true', 'false', '100m', '2', '0', '-1', 'NaN', '', 'latency', 'batch', '1e9', '0.001'),
  { maxKeys: 3 },
);

export function noisyPod({ odd }: Noise): fc.Arbitrary<NodePod> {
  return fc
    .record({
      request: fc.integer({ min: 1, max: 2000 }),
      limit: fc.option(fc.integer({ min: 1, max: 2000 }), { nil: undefined }),
      marks,
      priority: fc.constantFrom(-1000, 0, 0, 1000, 2_000_000_000),
      namespace: fc.constantFrom('shop', 'shop', 'blog', 'kube-system'),
      change: oddity,
      dice: fc.double({ min: 0, max: 1, noNaN: true }),
      measured: fc.option(
        fc.record({
          usage: fc.integer({ min: 0, max: 4000 }),
          throttledRatio: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
          pressure: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
        }),
        { nil: undefined, freq: 6 },
      ),
      advice: fc.option(fc.integer({ min: 1, max: 2000 }), { nil: undefined }),
      hints: fc.constantFrom(undefined, undefined, 'unknown' as const),
    })
    .map(({ request, limit, change, dice, measured, advice, hints, ...sketch }) => {
      const isGuaranteed = dice < odd && change.qos === 'Guaranteed';
      // Burstable with a CPU limit has its request below it, or memory would make the difference.
      const most = limit === undefined ? undefined : isGuaranteed ? request : request + limit;
      const pod = testPod('noisy', {
        ...sketch,
        request,
        ...((most !== undefined || isGuaranteed) && { limit: most ?? request }),
      });
      return { pod: dice < odd ? { ...pod, ...change } : pod, measured, advice, hints };
    });
}
