/** An eviction for a size, of a pod of the scene, and what the guard says to it. */
import type { EvictToResizeDecision } from '../../decide/size-decision.ts';
import { inspectAll } from '../guard.ts';
import { type SceneChanges, scene, web } from './scene.ts';

export const decision = (changes: Partial<EvictToResizeDecision> = {}): EvictToResizeDecision => ({
  kind: 'evict-to-resize',
  engine: 'rightsizing',
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  workloadUid: web.uid,
  pod: { namespace: 'shop', name: 's3', uid: 's3' },
  changes: [{ container: 'app', to: { cpuRequest: 100 } }],
  growth: { cpuMillis: -100, memoryBytes: 0 },
  why: { summary: 'less CPU', numbers: {} },
  ...changes,
});
export const reasonsFor = (changes: SceneChanges = {}, given = decision()): string[] =>
  inspectAll(given, scene(changes)).map(({ reason }) => reason);
