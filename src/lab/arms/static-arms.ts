/** Arms that are set once: what clusters do without an allocator, and the best a person could have set by hand. */
import type { Arm, LabFacts } from '../arm.ts';
import type { CpuSettings, LabPod } from '../substrate.ts';

const fixed = (
  name: string,
  describe: string,
  settingsOf: (pod: LabPod, pods: readonly LabPod[], facts: LabFacts) => CpuSettings,
): Arm => ({
  name,
  describe,
  tickMillis: undefined,
  create: (facts) => ({
    initial: (pod, pods) => settingsOf(pod, pods, facts),
    tick: () => new Map(),
  }),
});

export const staticArms: readonly Arm[] = [
  fixed('static-equal', 'the same limit for every pod', (_, pods, { allocatable }) => {
    const part = Math.floor(allocatable / pods.length);
    return { request: part, limit: part };
  }),
  fixed('static-request', 'requests as written, limits of twice the request', ({ request }) => ({
    request,
    limit: 2 * request,
  })),
  fixed('shares-request', 'requests as written, no limits', ({ request }) => ({ request, limit: undefined })),
  fixed(
    'hand-tuned',
    'requests as written, the ceiling a person who knows this load would put on the hog',
    ({ name, request }, _, { handTuned }) => handTuned[name] ?? { request, limit: undefined },
  ),
];
