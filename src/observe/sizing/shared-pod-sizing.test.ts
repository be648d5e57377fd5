import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { MIB } from '../../model/testing/sizing-records.ts';
import { sizingParts } from './compact-pod-sizing.ts';
import { projectPodSizing } from './project-pod-sizing.ts';
import { createSizingInterners } from './sizing-interners.ts';
import { changed } from './testing/pod-in-resize.ts';

const read = (object: Pod) => projectPodSizing(object, createSizingInterners(100));

describe('sharing', () => {
  /** Of this size in all places, and seen by the kubelet. */
  const settled = (cpu: string, generation: number): Pod => {
    const requests = { cpu, memory: '64Mi' };
    const resources = { requests, limits: { memory: '128Mi' } };
    return changed(
      { containers: [{ name: 'app', resources }], initContainers: [] },
      {
        conditions: [],
        observedGeneration: generation,
        containerStatuses: [
          { name: 'app', ready: true, restartCount: 0, allocatedResources: requests, resources, state: {} },
        ],
        initContainerStatuses: [],
      },
      { generation },
    );
  };
  const partsOf = (sizing: ReturnType<typeof read>) => {
    const parts = sizingParts(sizing);
    if (parts === undefined) throw new Error('it is a compact one');
    return parts;
  };

  test('pods of one template have all in common but times, generations and sizes of their own', () => {
    const interners = createSizingInterners(100);
    const of = (cpu: string, generation: number) => projectPodSizing(settled(cpu, generation), interners);
    const pods = [of('300m', 1), of('300m', 1), of('345m', 7)];
    const [a, b, resized] = pods.map(partsOf);
    expect(b?.common).toBe(a?.common);
    expect(resized?.common).toBe(a?.common);
    expect([a, b, resized].map((parts) => parts?.ownCpu?.length)).toEqual([undefined, undefined, 2]);
    expect(pods.map(({ containers }) => containers[0]?.size.cpuRequest)).toEqual([300, 300, 345]);
  });

  test('pods of two revisions, one after the other, have the memory of theirs, and share it', () => {
    const interners = createSizingInterners(100);
    const of = (memory: string) => {
      const resources = { requests: { cpu: '300m', memory } };
      return projectPodSizing(changed({ containers: [{ name: 'app', resources }] }, {}), interners);
    };
    const pods = ['64Mi', '96Mi', '64Mi', '96Mi', '96Mi', '96Mi'].map(of);
    const memories = pods.map(({ containers }) => (containers[0]?.size.memoryRequest ?? 0) / MIB);
    expect(memories).toEqual([64, 96, 64, 96, 96, 96]);
    const [fifth, sixth] = pods.slice(-2).map(partsOf);
    expect(sixth?.common.sizes).toBe(fifth?.common.sizes);
  });

  test('what is as the spec has it reads so', () => {
    const { statuses, containers, generation, observedGeneration } = read(settled('345m', 7));
    expect([generation, observedGeneration]).toEqual([7, 7]);
    expect(containers[0]?.size).toEqual({ cpuRequest: 345, memoryRequest: 64 * MIB, memoryLimit: 128 * MIB });
    expect(statuses[0]?.actual).toEqual(containers[0]?.size);
    expect(statuses[0]?.allocated).toEqual({ cpuRequest: 345, memoryRequest: 64 * MIB });
  });

  test('pods in the middle of a resize push out nothing that others share', () => {
    const interners = createSizingInterners(2);
    const before = partsOf(projectPodSizing(settled('300m', 1), interners));
    const underWay = [9, 10].map((generation) => partsOf(projectPodSizing(changed({}, {}, { generation }), interners)));
    expect(underWay.map(({ common }) => common.unobserved)).toEqual([7, 8]);
    expect(partsOf(projectPodSizing(settled('345m', 2), interners)).common).toBe(before.common);
  });
});
