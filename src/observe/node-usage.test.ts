import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { usageOf } from '../model/snapshot.ts';
import { createNodeUsageIndex } from './node-usage.ts';
import { createProjections } from './project.ts';

const project = createProjections((message) => {
  throw new Error(message);
});

function podOn(name: string, nodeName: string | undefined, cpu: number, phase: string) {
  const object: Pod = {
    metadata: { name, namespace: 'shop', uid: name },
    spec: {
      containers: [{ name: 'app', resources: { requests: { cpu: `${cpu}m`, memory: `${cpu}Ki` } } }],
      ...(nodeName !== undefined && { nodeName }),
    },
    status: { phase },
  };
  return project.pod(object);
}

test('for any sequence of changes the sums equal a count from scratch', () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    node: fc.constantFrom('n1', 'n2', undefined),
    cpu: fc.integer({ min: 0, max: 500 }),
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
    isGone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const index = createNodeUsageIndex();
      const pods = new Map<string, ReturnType<typeof podOn>>();
      for (const { name, node, cpu, phase, isGone } of steps) {
        const after = isGone ? undefined : podOn(name, node, cpu, phase);
        index.apply(pods.get(name), after);
        pods.set(name, after);
      }
      for (const node of ['n1', 'n2']) {
        const there = [...pods.values()].flatMap((pod) => (pod?.nodeName === node ? [pod] : []));
        expect(index.of(node)).toEqual(usageOf(there));
      }
    }),
  );
});
