import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../../model/records.ts';
import { aNode, GIB } from '../../../model/testing/records.ts';
import {
  aContainer,
  aContainerStatus,
  aLimitRange,
  aQuota,
  aSizedPod,
  aSizedWorkload,
  MIB,
  smallSize,
} from '../../../model/testing/sizing-records.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import {
  aSizeLog,
  inFlight,
  memory,
  node,
  pods,
  reasonsFor,
  replicaSet,
  resize,
  retemplate,
  sizeScene,
} from '../testing/size-scene.ts';

describe('room', () => {
  test('a LimitRange is asked for the whole pod', () => {
    const limitRanges = [aLimitRange({ max: { cpu: 500 }, min: { memory: 64 * MIB } })];
    expect(reasonsFor(resize(), { records: { limitRanges } })).toEqual([]);
    const [block] = inspectSizeAll(
      resize({ changes: [{ container: 'app', to: { cpuLimit: 600 } }] }),
      sizeScene({ records: { limitRanges } }),
    );
    expect(block).toMatchObject({
      reason: 'LimitRangeRefuses',
      message: 'LimitRange bounds does not allow it: the cpu limit of container app would be 600m, of at most 500m',
    });
    const broken = [aLimitRange({ min: { memory: 256 * MIB } })];
    expect(reasonsFor(resize(), { records: { limitRanges: broken } })).toEqual(['LimitRangeRefuses']);
    expect(reasonsFor(retemplate(), { records: { limitRanges: broken } })).toEqual(['LimitRangeRefuses']);
  });

  test('what a LimitRange gives to new pods counts for templates: a limit that is left to it is not missing', () => {
    const bounds = { max: { cpu: 4000 }, maxLimitRequestRatio: { cpu: 8 } };
    const records = (changes: object) => ({
      records: {
        limitRanges: [aLimitRange({ ...bounds, ...changes })],
        workloads: [aSizedWorkload({ containers: [aContainer({ size: { cpuRequest: 500, memoryRequest: MIB } })] })],
      },
    });
    const requestOnly = retemplate({ changes: [{ container: 'app', to: { cpuRequest: 600 } }] });
    expect(reasonsFor(requestOnly, records({ defaultLimit: { cpu: 4000 } }))).toEqual([]);
    expect(reasonsFor(requestOnly, records({ defaultLimit: { cpu: 5000 } }))).toEqual(['LimitRangeRefuses']);
  });

  test('a quota has to have room for the difference, beside what others have asked for', () => {
    const quotas = [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 850 } })];
    expect(reasonsFor(resize(), { records: { quotas } })).toEqual([]);
    const resizes = [inFlight('web-2', { cpuRequest: 260 })];
    const [block] = inspectSizeAll(resize(), sizeScene({ records: { quotas }, resizes }));
    expect(block?.message).toBe('ResourceQuota compute has 90m of requests.cpu left; the change needs 100m more');
    // A decrease passes an overdrawn quota.
    const over = [aQuota({ hard: { cpuRequest: 100 }, used: { cpuRequest: 850 } })];
    const less = resize({ changes: [{ container: 'app', to: { cpuRequest: 100 } }] });
    expect(reasonsFor(less, { records: { quotas: over } })).toEqual([]);
  });

  test('rightsizing bug 22: a limit that grows ten times as much as its request has to fit the quota of limits, too', () => {
    const memoryRequest = 768 * MIB;
    const change = (memoryLimit: number) =>
      resize({ changes: [{ container: 'app', to: { memoryRequest, memoryLimit } }] });
    const quotas = [aQuota({ hard: { memoryRequest: 4 * GIB, memoryLimit: 4 * GIB }, used: { memoryLimit: GIB } })];
    expect(reasonsFor(change(GIB), { records: { quotas } })).toEqual([]);
    const [block] = inspectSizeAll(change(7680 * MIB), sizeScene({ records: { quotas } }));
    expect(block?.message).toMatch(/^ResourceQuota compute has 3Gi of limits\.memory left; the change needs \d/);
  });

  test('an increase has to fit its node, beside what pods hold until they let go of it', () => {
    const small = (cpuMillis: number) => ({
      nodes: [aNode('n1', undefined, { allocatable: { cpuMillis, memoryBytes: GIB } })],
    });
    expect(reasonsFor(resize(), { records: small(700) })).toEqual([]);
    const [block] = inspectSizeAll(resize(), sizeScene({ records: small(699) }));
    expect(block?.message).toBe('Node n1 has 99m of cpu left; the change needs 100m more');
    const resizes = [inFlight('web-2', { cpuRequest: 201 })];
    expect(reasonsFor(resize(), { records: small(700), resizes })).toEqual(['NodeHasNoRoom']);
  });

  test('decreases of a node come before its increases', () => {
    const shrinking = aSizedPod(
      replicaSet,
      'web-2',
      {
        containers: [aContainer({ size: { ...smallSize, cpuRequest: 100 } })],
        statuses: [aContainerStatus(aContainer())],
      },
      {
        uid: 'web-2',
        template: {
          ...pods[1]?.template,
          requests: { cpuMillis: 200, memoryBytes: 128 * MIB },
        } as PodRecord['template'],
      },
    );
    const nodes = [aNode('n1', undefined, { allocatable: { cpuMillis: 600, memoryBytes: GIB } })];
    const [first, , third] = pods;
    const records = { nodes, pods: [first, shrinking, third].filter((pod) => pod !== undefined) };
    expect(reasonsFor(resize(), { records })).toEqual(['WaitsForDecrease']);
    expect(reasonsFor(resize({ changes: [{ container: 'app', to: { cpuRequest: 301 } }] }), { records })).toEqual([
      'NodeHasNoRoom',
    ]);
  });

  test('what a node can never give is not asked again, less of it is', () => {
    const history = aSizeLog();
    const changes = [{ container: 'app', to: { cpuRequest: 300 } }];
    history.recordInfeasible('web-1', 'n1', { changes, detail: "Node didn't have enough capacity: cpu" });
    expect(reasonsFor(resize(), { history })).toEqual(['InfeasibleBefore']);
    expect(reasonsFor(resize({ changes: [{ container: 'app', to: { cpuRequest: 250 } }] }), { history })).toEqual([]);
    expect(reasonsFor(resize({ isWithdrawal: true }), { history })).toEqual([]);
    history.recordInfeasible('web-1', 'n2', { changes, detail: 'on another node' });
    expect(reasonsFor(resize(), { history })).toEqual([]);
  });

  test('a static CPU manager refuses any CPU, unless the node declares that it no longer does', () => {
    const history = aSizeLog();
    const detail = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
    history.recordInfeasible('web-1', 'n1', { changes: [{ container: 'app', to: { cpuRequest: 900 } }], detail });
    expect(reasonsFor(resize(), { history })).toEqual(['InfeasibleBefore']);
    expect(reasonsFor(memory(300 * MIB), { history })).toEqual([]);
    const nodes = [{ ...node, declaredFeatures: ['GuaranteedQoSPodCPUResize'] }];
    expect(reasonsFor(resize(), { history, records: { nodes } })).toEqual([]);
  });
});
