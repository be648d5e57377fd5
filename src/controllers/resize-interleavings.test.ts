import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ResizeDecision } from '../decide/size-decision.ts';
import { inspectSize } from '../guard/size/inspect-size.ts';
import { sizeScene } from '../guard/size/testing/size-scene.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createSizingSnapshot } from '../model/sizing-snapshot.ts';
import type { SizingView } from '../model/sizing-view.ts';
import { aNamespace, aNode, GIB, NOON } from '../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB } from '../model/testing/sizing-records.ts';
import { createResizesInFlight } from './resizes-in-flight.ts';

const ALLOCATABLE = 2000;
const COUNT = 4;
const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };

/** A pod as the API server has it: CPU asked, granted, and in force. */
interface ServerPod {
  spec: number;
  allocated: number;
  actual: number;
  generation: number;
  observed: number;
}

const held = ({ spec, allocated, actual }: ServerPod): number => Math.max(spec, allocated, actual);

/** One step of the world: an engine wants a size, the node allocates or applies, the watch delivers, the answer comes. */
const step = fc.record({
  kind: fc.constantFrom('want', 'want', 'allocate', 'apply', 'watch', 'answer', 'review'),
  pod: fc.nat(COUNT - 1),
  cpu: fc.integer({ min: 1, max: 12 }).map((hundreds) => hundreds * 100),
});

test('for any interleaving of decisions, kubelet and watch, the sum on a node is never above its allocatable, and nothing waits as Deferred', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 60, maxLength: 200, size: 'max' }), (steps) => {
      const server: ServerPod[] = Array.from({ length: COUNT }, () => ({
        spec: 400,
        allocated: 400,
        actual: 400,
        generation: 1,
        observed: 1,
      }));
      const seen = server.map((pod) => ({ ...pod }));
      const clock = createVirtualClock(NOON);
      const viewNow = (): SizingView =>
        createSizingSnapshot({
          namespaces: [aNamespace()],
          nodes: [aNode('n1', undefined, { allocatable: { cpuMillis: ALLOCATABLE, memoryBytes: 8 * GIB } })],
          pods: seen.map(({ spec, allocated, actual, generation, observed }, index) => {
            const size = (cpuRequest: number) => ({ cpuRequest, memoryRequest: 64 * MIB });
            const container = aContainer({ size: size(spec) });
            const status = aContainerStatus(container, { allocated: size(allocated), actual: size(actual) });
            const requests = { cpuMillis: Math.max(spec, allocated, actual), memoryBytes: 64 * MIB };
            const pod = aSizedPod(
              owner,
              `p${index}`,
              { containers: [container], statuses: [status], generation, observedGeneration: observed },
              { uid: `p${index}` },
            );
            return { ...pod, template: { ...pod.template, requests } };
          }),
        });
      const view: SizingView = new Proxy({} as SizingView, { get: (_, key: keyof SizingView) => viewNow()[key] });
      const deadlines = { deferredMillis: 15_000, errorMillis: 60_000, silenceMillis: 120_000 };
      const flight = createResizesInFlight({ view, clock, deadlines: () => deadlines });
      const answers = new Map<number, { decision: ResizeDecision; generation: number }>();

      for (const { kind, pod: index, cpu } of steps) {
        const pod = server[index];
        const known = seen[index];
        if (pod === undefined || known === undefined) continue;
        const name = `p${index}`;
        if (kind === 'want') {
          const decision: ResizeDecision = {
            kind: 'resize',
            engine: 'allocation',
            workload: undefined,
            workloadUid: undefined,
            pod: { namespace: 'shop', name, uid: name },
            changes: [{ container: 'app', to: { cpuRequest: cpu } }],
            why: { summary: '', numbers: {} },
          };
          const context = { ...sizeScene({ policy: { cooldownMillis: 0 } }), view, resizes: flight.list() };
          if (inspectSize(decision, context).kind === 'blocked') continue;
          flight.begin(decision);
          pod.spec = cpu;
          pod.generation++;
          answers.set(index, { decision, generation: pod.generation });
        } else if (kind === 'allocate') {
          const others = server.filter((each) => each !== pod).reduce((sum, { allocated }) => sum + allocated, 0);
          expect(pod.spec + others, 'would be Deferred').toBeLessThanOrEqual(ALLOCATABLE);
          pod.allocated = pod.spec;
          pod.observed = pod.generation;
        } else if (kind === 'apply') pod.actual = pod.allocated;
        else if (kind === 'watch') seen[index] = { ...pod };
        else if (kind === 'answer') {
          const answer = answers.get(index);
          if (answer !== undefined)
            flight.settle(answer.decision, { result: 'accepted', generation: answer.generation });
          answers.delete(index);
        } else flight.review();
        const sum = server.reduce((total, each) => total + held(each), 0);
        expect(sum, `after ${kind} of ${name}`).toBeLessThanOrEqual(ALLOCATABLE);
      }
    }),
    { numRuns: 200 },
  );
});
