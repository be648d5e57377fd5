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
import type { InFlightResize } from '../context.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import {
  aSizeLog,
  evictToResize,
  inFlight,
  memory,
  node,
  pods,
  reasonsFor,
  replicaSet,
  resize,
  retemplate,
  type SizeSceneChanges,
  sizeScene,
  withPod,
} from '../testing/size-scene.ts';

/** Asks for a whole node. */
const heavy = (name: string, changes: Partial<PodRecord>) => {
  const containers = [aContainer({ size: { cpuRequest: 4000, memoryRequest: MIB } })];
  return aSizedPod({ ...replicaSet, name: 'batch', uid: 'batch' }, name, { containers }, { uid: name, ...changes });
};

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

  test('a limit that a LimitRange gives to new pods is one of their template: none would be made with a request above it', () => {
    const records = {
      limitRanges: [aLimitRange({ defaultLimit: { memory: 512 * MIB } })],
      workloads: [aSizedWorkload({ containers: [aContainer({ size: { cpuRequest: 500, memoryRequest: MIB } })] })],
    };
    const to = (memoryRequest: number) => retemplate({ changes: [{ container: 'app', to: { memoryRequest } }] });
    expect(reasonsFor(to(512 * MIB), { records })).toEqual([]);
    expect(reasonsFor(to(513 * MIB), { records })).toEqual(['RequestAboveLimit']);
  });

  test('a LimitRange on pods is asked for what a template makes of them, with what others put into them', () => {
    const meshed = aSizedPod(replicaSet, 'web-1', { containers: [aContainer(), aContainer({ name: 'proxy' })] });
    const on = (max: number) => ({
      records: { pods: [meshed], limitRanges: [aLimitRange({ type: 'Pod', max: { cpu: max } })] },
    });
    // A limit of 400m each.
    expect(reasonsFor(retemplate(), on(799))).toEqual(['LimitRangeRefuses']);
    expect(reasonsFor(retemplate(), on(800))).toEqual([]);
  });

  test('a quota has to have room for the difference, beside what others have asked for', () => {
    const quotas = [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 850 } })];
    for (const decision of [resize(), evictToResize]) expect(reasonsFor(decision, { records: { quotas } })).toEqual([]);
    const resizes = [inFlight('web-2', { cpuRequest: 260 })];
    const [block] = inspectSizeAll(resize(), sizeScene({ records: { quotas }, resizes }));
    expect(block?.message).toBe('ResourceQuota compute has 90m of requests.cpu left; the change needs 100m more');
    expect(reasonsFor(evictToResize, { records: { quotas }, resizes })).toEqual(['QuotaRefuses']);
    // A decrease passes an overdrawn quota.
    const over = [aQuota({ hard: { cpuRequest: 100 }, used: { cpuRequest: 850 } })];
    const less = resize({ changes: [{ container: 'app', to: { cpuRequest: 100 } }] });
    expect(reasonsFor(less, { records: { quotas: over } })).toEqual([]);
  });

  describe('what counts against a quota beside the change', () => {
    const quotas = [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 850 } })];
    const elsewhere = aSizedPod(replicaSet, 'api-1', {}, { uid: 'api-1', namespace: 'other' });
    const records = { quotas, pods: [...pods, elsewhere] };
    const asked = inFlight('web-2', { cpuRequest: 260 });
    test.each<[string, InFlightResize, readonly string[]]>([
      ['a raise of another pod', asked, ['QuotaRefuses']],
      ['not a raise in another namespace', { ...asked, pod: elsewhere }, []],
      ['not a raise of a pod that is gone', { ...asked, pod: { ...asked.pod, name: 'web-9' } }, []],
      ['not a raise of its predecessor of the same name', { ...asked, pod: { ...asked.pod, uid: 'web-2-old' } }, []],
      ['not what the pod itself asked for before', inFlight('web-1', { cpuRequest: 260 }), ['ResizeInFlight']],
    ])('%s', (_, resizing, expected) => {
      expect(reasonsFor(resize(), { records, resizes: [resizing] })).toEqual(expected);
    });

    test('a decrease under way frees nothing before it is seen', () => {
      const full = { quotas: [aQuota({ hard: { cpuRequest: 949 }, used: { cpuRequest: 850 } })] };
      const resizes = [inFlight('web-2', { cpuRequest: 100 })];
      expect(reasonsFor(resize(), { records: full, resizes })).toEqual(['QuotaRefuses']);
    });
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

  test.each<[string, SizeSceneChanges, readonly string[]]>([
    ['a pod that has ended', { records: { pods: [...pods, heavy('old', { phase: 'Succeeded' })] } }, []],
    ['a pod of another node', { records: { pods: [...pods, heavy('far', { nodeName: 'n2' })] } }, []],
    ['a resize of a pod of another node', { resizes: [inFlight('far', { cpuRequest: 4000 })] }, []],
    ['a pod that still ends', { records: { pods: [...pods, heavy('old', { deletingAt: 1 })] } }, ['NodeHasNoRoom']],
  ])('who holds something of a node: %s', (_, changes, expected) => {
    expect(reasonsFor(resize(), changes)).toEqual(expected);
  });

  test.each([
    ['cpu', 'cpuRequest', 1, { cpuMillis: 600, memoryBytes: GIB }],
    ['memory', 'memoryRequest', MIB, { cpuMillis: 4000, memoryBytes: 3 * 128 * MIB }],
  ] as const)('%s that a node has no more of may become less, and nothing more', (_, key, unit, allocatable) => {
    const tooSmall = { cpuMillis: allocatable.cpuMillis / 2, memoryBytes: allocatable.memoryBytes / 2 };
    const now = smallSize[key] ?? 0;
    const to = (amount: number) => resize({ changes: [{ container: 'app', to: { [key]: amount } }] });
    const on = (size: typeof allocatable | typeof tooSmall) => ({
      records: { nodes: [aNode('n1', undefined, { allocatable: size })] },
    });
    expect(reasonsFor(to(now - unit), on(tooSmall))).toEqual([]);
    expect(reasonsFor(to(now + unit), on(allocatable))).toEqual(['NodeHasNoRoom']);
  });

  describe('decreases of a node come before its increases', () => {
    const sized = (
      name: string,
      spec: number,
      status: { allocated: number; actual: number } | undefined,
      unit: number,
    ) => {
      const of = (amount: number) => ({ cpuRequest: amount, memoryRequest: amount * unit });
      const container = aContainer({ size: { ...smallSize, ...of(spec) } });
      const statuses =
        status === undefined
          ? []
          : [aContainerStatus(container, { allocated: of(status.allocated), actual: of(status.actual) })];
      const held = Math.max(spec, status?.allocated ?? 0, status?.actual ?? 0);
      const requests = { cpuMillis: held, memoryBytes: held * unit };
      const template = { ...pods[1]?.template, requests } as PodRecord['template'];
      return aSizedPod(replicaSet, name, { containers: [container], statuses }, { uid: name, template });
    };
    const first = sized('web-1', 128, { allocated: 128, actual: 128 }, MIB);
    const settled = { allocated: 128, actual: 128 };

    test.each<[string, Parameters<typeof sized>[1], Parameters<typeof sized>[2], readonly string[]]>([
      ['one that the kubelet has not looked at', 28, { allocated: 128, actual: 128 }, ['WaitsForDecrease']],
      ['one that the kubelet is at', 28, { allocated: 28, actual: 128 }, ['WaitsForDecrease']],
      ['one that is in force before it is admitted', 28, { allocated: 128, actual: 28 }, ['WaitsForDecrease']],
      ['one that frees less than is needed', 29, settled, ['NodeHasNoRoom']],
      ['none: the pod is at rest', 128, settled, ['NodeHasNoRoom']],
      ['none: nothing is known of it', 128, undefined, ['NodeHasNoRoom']],
    ])('%s', (_, spec, status, expected) => {
      const second = sized('web-2', spec, status, MIB);
      for (const key of ['cpuRequest', 'memoryRequest'] as const) {
        const to = key === 'cpuRequest' ? { cpuRequest: 228 } : { memoryRequest: 228 * MIB };
        const scarce =
          key === 'cpuRequest' ? { cpuMillis: 256, memoryBytes: GIB } : { cpuMillis: 4000, memoryBytes: 256 * MIB };
        const records = { nodes: [aNode('n1', undefined, { allocatable: scarce })], pods: [first, second] };
        const workloads = [aSizedWorkload({ replicas: 2 })];
        const change = resize({ changes: [{ container: 'app', to }] });
        expect(reasonsFor(change, { records: { ...records, workloads } })).toEqual(expected);
      }
    });

    test('an increase under way takes nothing from what a decrease frees', () => {
      const nodes = [aNode('n1', undefined, { allocatable: { cpuMillis: 512, memoryBytes: GIB } })];
      const raising = sized('web-3', 256, settled, MIB);
      const records = { nodes, pods: [first, sized('web-2', 28, settled, MIB), raising] };
      const change = resize({ changes: [{ container: 'app', to: { cpuRequest: 228 } }] });
      expect(reasonsFor(change, { records })).toEqual(['WaitsForDecrease']);
    });
  });

  test('what a node can never give is not asked again, less of it is', () => {
    const history = aSizeLog();
    const changes = [{ container: 'app', to: { cpuRequest: 300 } }];
    history.recordInfeasible('web-1', 'n1', { changes, detail: "Node didn't have enough capacity: cpu" });
    expect(reasonsFor(resize(), { history })).toEqual(['InfeasibleBefore']);
    expect(reasonsFor(resize({ changes: [{ container: 'app', to: { cpuRequest: 250 } }] }), { history })).toEqual([]);
    expect(reasonsFor(resize({ isWithdrawal: true }), { history })).toEqual([]);
    expect(reasonsFor(resize({ isRestore: true }), { history })).toEqual([]);
    history.recordInfeasible('web-1', 'n2', { changes, detail: 'on another node' });
    expect(reasonsFor(resize(), { history })).toEqual([]);
  });

  test('as much in all that was refused is asked again; less in any of it is another question', () => {
    const history = aSizeLog();
    const containers = [aContainer(), aContainer({ name: 'log' })];
    const to = (app: number, log: number) => [
      { container: 'app', to: { cpuRequest: app } },
      { container: 'log', to: { cpuRequest: log } },
    ];
    history.recordInfeasible('web-1', 'n1', { changes: to(300, 300), detail: 'not enough capacity' });
    const at = (app: number, log: number) =>
      reasonsFor(resize({ changes: to(app, log) }), { ...withPod({ containers }), history });
    expect(at(300, 300)).toEqual(['InfeasibleBefore']);
    expect(at(350, 310)).toEqual(['InfeasibleBefore']);
    expect([...at(300, 299), ...at(250, 350)]).toEqual([]);
  });

  test('a static CPU manager refuses any CPU, unless the node declares that it no longer does', () => {
    const history = aSizeLog();
    const detail = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
    history.recordInfeasible('web-1', 'n1', { changes: [{ container: 'app', to: { cpuRequest: 900 } }], detail });
    expect(reasonsFor(resize(), { history })).toEqual(['InfeasibleBefore']);
    expect(reasonsFor(memory(300 * MIB), { history })).toEqual([]);
    const limit = [{ container: 'app', to: { cpuLimit: 500 } }];
    expect(reasonsFor(resize({ changes: limit }), { history })).toEqual(['InfeasibleBefore']);
    const containers = [aContainer(), aContainer({ name: 'log' })];
    const mixed = [...limit, { container: 'log', to: { memoryLimit: 300 * MIB } }];
    expect(reasonsFor(resize({ changes: mixed }), { ...withPod({ containers }), history })).toEqual([
      'InfeasibleBefore',
    ]);
    const nodes = [{ ...node, declaredFeatures: ['GuaranteedQoSPodCPUResize'] }];
    expect(reasonsFor(resize(), { history, records: { nodes } })).toEqual([]);
  });

  test('a static Memory manager refuses any memory, and says nothing of CPU', () => {
    const history = aSizeLog();
    const detail = 'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"';
    const to = { memoryRequest: 200 * MIB };
    history.recordInfeasible('web-1', 'n1', { changes: [{ container: 'app', to }], detail });
    expect(reasonsFor(resize(), { history })).toEqual([]);
    expect(reasonsFor(memory(300 * MIB), { history })).toEqual(['InfeasibleBefore']);
    expect(reasonsFor(resize({ changes: [{ container: 'app', to }] }), { history })).toEqual(['InfeasibleBefore']);
  });
});
