import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChanges } from '../../model/pod-size.ts';
import { noUse } from '../../model/size-bounds.ts';
import { aLimitRange, anHpa, aQuota, MIB } from '../../model/testing/sizing-records.ts';
import { nothingBeside } from './beside-containers.ts';
import { dueChanges } from './due-changes.ts';
import { nodeRoom } from './largest-node.ts';
import type { RightsizingPolicy } from './policy.ts';
import { requestOf } from './recommend-workload.ts';
import { profileOf } from './testing/profiles.ts';
import { type Asked, ask, container, eager, NOW, policy, STEPS, size, steady } from './testing/workload-question.ts';

describe('all containers of a workload', () => {
  test('each has advice of its own, in order', () => {
    const advice = ask({ containers: [container('app', size), container('log', size)] });
    expect(advice.map(({ container: name, cpu, memory }) => [name, cpu.target, memory.target])).toEqual([
      ['app', 240, 120 * MIB],
      ['log', 240, 120 * MIB],
    ]);
  });

  test('optipod defect B3: what is not known of one does not keep the other', () => {
    const [app, log] = ask({
      containers: [container('app', size), container('log', size)],
      profiles: { app: steady, log: undefined },
    });
    expect(app?.cpu.isDue).toBe(true);
    expect(log?.cpu).toMatchObject({ isDue: false, held: 'NoData', target: undefined });
  });

  test('optipod defect B1: a memory limit is no reason to leave CPU alone, nor is a sidecar’s', () => {
    const [app] = ask({
      containers: [
        container('app', { ...size, memoryLimit: 600 * MIB }),
        container('log', { cpuRequest: 10, memoryRequest: 2000 * MIB, memoryLimit: 4000 * MIB }),
      ],
    });
    expect(app?.cpu).toMatchObject({ isDue: true, request: 240 });
    expect(app?.memory).toMatchObject({ isDue: true, request: 120 * MIB });
  });

  test('a limit without a request is the request', () => {
    expect(requestOf('cpu', { cpuLimit: 400 })).toBe(400);
    expect(requestOf('memory', { memoryLimit: 4, memoryRequest: 2 })).toBe(2);
  });
});

describe('surroundings', () => {
  test('optipod defect B22: a LimitRange is met before the API server refuses', () => {
    const [app] = ask({ around: { limitRanges: [aLimitRange({ min: { cpu: 300 }, max: { memory: 110 * MIB } })] } });
    expect([app?.cpu.target, app?.memory.target]).toEqual([300, 110 * MIB]);
    expect(app?.cpu.notes.map(({ stage }) => stage)).toContain('limit-range');
  });

  test('rightsizing bug 8: under any LimitRange on pods, what was advised and applied is advised again, and not due', () => {
    const bound = fc.integer({ min: 20, max: 2_000 });
    const start = fc.record({ cpuRequest: bound, memoryRequest: bound.map((mib) => mib * MIB) });
    fc.assert(
      fc.property(start, start, bound, bound, bound, (app, log, min, more, memory) => {
        const range = aLimitRange({
          type: 'Pod',
          min: { cpu: min, memory: memory * MIB },
          max: { cpu: min + more, memory: (memory + more) * MIB },
        });
        const around = { limitRanges: [range] };
        const before = [container('app', app), container('log', log)];
        const applied = applyChanges(before, dueChanges(ask({ containers: before, around })));
        expect(dueChanges(ask({ containers: applied, around }))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test('a limit that a LimitRange gives caps the request, holds no other back, and keeps the class', () => {
    const containers = [container('app', { cpuRequest: 100, memoryRequest: 50 * MIB })];
    const given = (cpu: number, memory: number) =>
      ask({ containers, around: { limitRanges: [aLimitRange({ defaultLimit: { cpu, memory: memory * MIB } })] } })[0];
    const app = given(150, 512);
    expect(app?.cpu).toMatchObject({ isDue: true, request: 150, capped: 'AtLimitRange' });
    expect(app?.memory).toMatchObject({ isDue: true, request: 120 * MIB });
    const both = given(150, 80);
    expect([both?.cpu.request, both?.memory.request]).toEqual([149, 80 * MIB]);
  });

  test.each<[boolean, RegExp]>([
    [false, /Guaranteed, and the policy keeps limits/],
    [true, /Guaranteed, and a LimitRange gives them their limits: write limits into the template/],
  ])(
    'pods that are Guaranteed by limits that a LimitRange gives stay so, limits may change: %s',
    (mayChangeLimits, text) => {
      const [app] = ask({
        containers: [container('app', { cpuRequest: 500, memoryRequest: 512 * MIB })],
        around: { limitRanges: [aLimitRange({ defaultLimit: { cpu: 500, memory: 512 * MIB } })] },
        policy: { mayChangeLimits },
      });
      for (const advice of [app?.cpu, app?.memory]) {
        expect(advice).toMatchObject({ isDue: false, held: 'GuaranteedKept' });
        expect(advice?.notes.at(-1)?.text).toMatch(text);
      }
    },
  );

  test('a LimitRange on pods is shared out', () => {
    const small = { cpuRequest: 100, memoryRequest: 50 * MIB };
    const range = aLimitRange({ type: 'Pod', max: { cpu: 400 } });
    const advice = ask({
      containers: [container('app', small), container('log', small)],
      around: { limitRanges: [range] },
    });
    expect(advice.map(({ cpu }) => cpu.target)).toEqual([200, 200]);
  });

  test('a quota is shared out among replicas, and says so', () => {
    const [app] = ask({
      containers: [container('app', { cpuRequest: 100, memoryRequest: 50 * MIB })],
      around: { quotas: [aQuota({ hard: { cpuRequest: 1100 }, used: { cpuRequest: 1000 } })], replicas: 2 },
    });
    expect(app?.cpu.target).toBe(150);
    expect(app?.cpu.notes.find(({ stage }) => stage === 'quota')?.text).toContain('raise it to grant more');
  });

  test('what others have been promised is no room, but for who is killed for want of memory', () => {
    const profile = profileOf(STEPS, { cpu: () => 200, memory: () => 100 * MIB });
    const size = { cpuRequest: 100, memoryRequest: 64 * MIB };
    const growth = { ...noUse, cpuRequest: 1000, memoryRequest: 1000 * MIB };
    const quota = aQuota({ hard: { memoryRequest: 2000 * MIB }, used: { memoryRequest: 1000 * MIB } });
    const around = {
      quotas: [quota],
      promises: () => ({ promised: [{ growth, awaited: undefined, like: undefined }], returning: noUse }),
      replicas: 1,
    };
    const memoryOf = () => ask({ containers: [container('app', size)], profiles: { app: profile }, around })[0]?.memory;
    expect(memoryOf()).toMatchObject({ isDue: false, held: 'QuotaExceeded' });
    profile.memory.noteOom(500 * MIB, NOW);
    expect(memoryOf()?.isDue).toBe(true);
    expect(memoryOf()?.request).toBeGreaterThan(500 * MIB);
  });

  test.each([
    ['nothing is left', 1000, 'QuotaExceeded'],
    ['too little is left to be worth it', 1001, 'QuotaExceeded'],
    ['there is room', 9000, undefined],
  ])('where %s of a quota, that is what holds it', (_, hard, held) => {
    const cautious = { ...policy.cpu, change: { ...eager, minChange: 0.1 } };
    const [app] = ask({
      containers: [container('app', { cpuRequest: 100, memoryRequest: 50 * MIB })],
      policy: { cpu: cautious },
      around: { quotas: [aQuota({ hard: { cpuRequest: hard }, used: { cpuRequest: 1000 } })], replicas: 1 },
    });
    expect([app?.cpu.held, app?.cpu.isDue]).toEqual([held, held === undefined]);
  });

  test('no pod is made larger than any node', () => {
    const [app] = ask({
      containers: [container('app', { cpuRequest: 100, memoryRequest: 50 * MIB })],
      around: { largestNode: nodeRoom([[{ cpuMillis: 180, memoryBytes: 1024 * MIB }]]) },
    });
    expect(app?.cpu.target).toBe(180);
  });

  describe('CPU and memory have to be there on one node', () => {
    const around = {
      largestNode: nodeRoom([
        [
          { cpuMillis: 200, memoryBytes: 90 * MIB },
          { cpuMillis: 60, memoryBytes: 1024 * MIB },
        ],
      ]),
    };
    const sizesOf = (cpuRequest: number, memoryRequest: number) => {
      const [app] = ask({ containers: [container('app', { cpuRequest, memoryRequest: memoryRequest * MIB })], around });
      return [app?.cpu.request, (app?.memory.request ?? 0) / MIB];
    };

    test('memory grows as far as a node goes that has the CPU of now, and CPU as far as one that has that memory', () => {
      // 240m and 120Mi are wanted.
      expect(sizesOf(50, 50)).toEqual([60, 120]);
      expect(sizesOf(100, 50)).toEqual([200, 90]);
    });

    test('what is to be less is there until it is less', () => {
      expect(sizesOf(500, 50)[1]).toBe(120);
      expect(sizesOf(50, 200)).toEqual([60, 120]);
    });

    test('what fits on no node as it is gives way to the largest of each', () => {
      expect(sizesOf(300, 2048)[1]).toBe(120);
    });
  });

  test('an autoscaler on CPU holds CPU alone', () => {
    const hpa = anHpa({ utilization: { cpu: 80 } });
    const [app] = ask({ around: { hpas: [hpa] } });
    expect(app?.cpu).toMatchObject({ isDue: false, held: 'HpaTarget' });
    expect(app?.memory.isDue).toBe(true);
  });

  test('the point to keep is reckoned from all containers, each with its advice or as it is', () => {
    const hpa = anHpa({ utilization: { cpu: 50 } });
    const containers = [container('app', size), container('log', { cpuRequest: 300, memoryRequest: MIB })];
    const keep = (profiles: Asked['profiles']) =>
      ask({
        containers,
        ...(profiles && { profiles }),
        around: { hpas: [hpa] },
        policy: { hpa: 'KeepScalePoint' },
      }).map(({ cpu }) => /set its target to (\d+) %/.exec(cpu.notes.at(-1)?.text ?? '')?.[1]);
    // 800m together become 240m + 240m.
    expect(keep(undefined)).toEqual(['83', '83']);
    const ofMemory = anHpa({ utilization: { memory: 50 } });
    const [app] = ask({ around: { hpas: [ofMemory] }, policy: { hpa: 'KeepScalePoint' } });
    // 512Mi become 120Mi.
    expect(app?.memory.notes.at(-1)?.text).toContain('set its target to 213 %');
    // A proxy of 100m, which a webhook adds, stays: 900m become 580m.
    const beside = () => ({ ...nothingBeside, sizes: { ...noUse, cpuRequest: 100 } });
    const withProxy = ask({ containers, around: { hpas: [hpa], beside }, policy: { hpa: 'KeepScalePoint' } });
    expect(withProxy[0]?.cpu.notes.at(-1)?.text).toContain('set its target to 78 %');
  });

  test('whoever has no request yet is given one beside an autoscaler, and no more than there is room for', () => {
    const hpas = [anHpa({ utilization: { cpu: 80 } })];
    const quotas = [aQuota({ hard: { cpuRequest: 1100 }, used: { cpuRequest: 1000 } })];
    const [app] = ask({ containers: [container('app', { memoryRequest: 50 * MIB })], around: { hpas, quotas } });
    expect(app?.cpu).toMatchObject({ isDue: true, request: 50 });
  });

  test('what an autoscaler holds takes no part of a room that others could use', () => {
    const small = { cpuRequest: 100, memoryRequest: 50 * MIB };
    const containers = [container('app', small), container('log', small)];
    const containerUtilization = [{ container: 'app', resource: 'cpu', percent: 50 }] as const;
    const limitRanges = [aLimitRange({ type: 'Pod', max: { cpu: 340 } })];
    const asked = (hpa: RightsizingPolicy['hpa']) =>
      ask({ containers, around: { limitRanges, hpas: [anHpa({ containerUtilization })] }, policy: { hpa } }).map(
        ({ cpu }) => cpu.request,
      );
    expect(asked('Skip')[1]).toBe(240);
    expect(asked('Ignore')).toEqual([170, 170]);
  });

  test('where allocation shares out the CPU, only memory is written', () => {
    const [app] = ask({ isCpuAllocated: true });
    expect(app?.cpu).toMatchObject({ isDue: false, held: 'CpuAllocated', target: 240 });
    expect(app?.memory.isDue).toBe(true);
  });
});

// Feature: k8s-workload-rightsizing, Property 3: an update leaves limits as they are unless the policy says otherwise.
test('Property 3: for any limits, a policy that keeps them changes none and asks for no more than they allow', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 900 }), (cpu, memory) => {
      const own = { cpuRequest: 1, cpuLimit: cpu, memoryRequest: MIB, memoryLimit: memory * MIB };
      const [app] = ask({ containers: [container('app', own)] });
      expect([app?.cpu.limit, app?.memory.limit]).toEqual([undefined, undefined]);
      expect(app?.cpu.request).toBeLessThanOrEqual(cpu);
      expect(app?.memory.request).toBeLessThanOrEqual(memory * MIB);
    }),
    { numRuns: 150 },
  );
});

// Feature: k8s-workload-rightsizing, Property 4: a recommendation is within the bounds of the policy.
test('Property 4: for any bounds, sizes and surroundings, what is recommended and what is asked for next are within them', () => {
  const bounds = fc
    .tuple(fc.integer({ min: 1, max: 3000 }), fc.nat(3000))
    .map(([min, more]) => ({ min, max: min + more }));
  fc.assert(
    fc.property(
      bounds,
      bounds,
      fc.integer({ min: 1, max: 9000 }),
      fc.integer({ min: 1, max: 9000 }),
      (forCpu, forMemory, cpu, mib) => {
        const [app] = ask({
          containers: [container('app', { cpuRequest: cpu, memoryRequest: mib * MIB })],
          policy: {
            cpu: { ...policy.cpu, bounds: forCpu },
            memory: { ...policy.memory, bounds: { min: forMemory.min * MIB, max: forMemory.max * MIB } },
          },
          around: { limitRanges: [aLimitRange({ min: { cpu: 150 } })] },
        });
        expect(app?.cpu.target).toBeGreaterThanOrEqual(forCpu.min);
        for (const value of [app?.cpu.target, app?.cpu.request]) expect(value).toBeLessThanOrEqual(forCpu.max);
        expect(app?.memory.target).toBeGreaterThanOrEqual(forMemory.min * MIB);
        for (const value of [app?.memory.target, app?.memory.request])
          expect(value).toBeLessThanOrEqual(forMemory.max * MIB);
      },
    ),
    { numRuns: 200 },
  );
});
