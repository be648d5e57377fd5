import { describe, expect, test } from 'vitest';
import { noUse } from '../../model/size-bounds.ts';
import { aLimitRange, MIB } from '../../model/testing/sizing-records.ts';
import { nodeRoom } from './largest-node.ts';
import { ask, container } from './testing/workload-question.ts';

describe('a pod has to fit with what it has beside the containers of its template', () => {
  // 240m and 120Mi are wanted.
  const containers = [container('app', { cpuRequest: 100, memoryRequest: 50 * MIB })];
  const beside = () => ({
    sizes: { ...noUse, cpuRequest: 30, memoryRequest: 20 * MIB },
    ofNode: { cpuMillis: 40, memoryBytes: 30 * MIB },
  });

  test('on the largest node', () => {
    const largestNode = nodeRoom([[{ cpuMillis: 200, memoryBytes: 90 * MIB }]]);
    const [advice] = ask({ containers, around: { largestNode, beside } });
    expect([advice?.cpu.request, advice?.memory.request]).toEqual([160, 60 * MIB]);
    expect(advice?.memory.notes.find(({ stage }) => stage === 'node-size')?.text).toMatch(
      / has more than 60Mi beside /,
    );
  });

  test('on one that has the other resource for both', () => {
    const largestNode = nodeRoom([
      [
        { cpuMillis: 1000, memoryBytes: 149 * MIB },
        { cpuMillis: 200, memoryBytes: 1024 * MIB },
      ],
    ]);
    const [advice] = ask({ containers, around: { largestNode, beside } });
    expect([advice?.cpu.request, advice?.memory.request]).toEqual([160, 120 * MIB]);
  });

  test('in a LimitRange on pods', () => {
    const limitRanges = [aLimitRange({ type: 'Pod', max: { cpu: 200, memory: 90 * MIB } })];
    const [advice] = ask({ containers, around: { limitRanges, beside } });
    expect([advice?.cpu.request, advice?.memory.request]).toEqual([170, 70 * MIB]);
  });

  test('what surrounds it is looked at only where something is to grow', () => {
    const ample = [container('app', { cpuRequest: 500, memoryRequest: 512 * MIB })];
    const largestNode = nodeRoom([[{ cpuMillis: 200, memoryBytes: 90 * MIB }]]);
    const never = () => {
      throw new Error('nothing grows');
    };
    const [advice] = ask({ containers: ample, around: { largestNode, beside: never, promises: never } });
    expect([advice?.cpu.request, advice?.memory.request]).toEqual([240, 120 * MIB]);
  });
});
