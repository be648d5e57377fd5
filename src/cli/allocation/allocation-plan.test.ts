import { describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';
import { dump, type Manifest, namespace, node } from '../testing/shop.ts';

interface Sketch {
  readonly request: string;
  readonly limit?: string;
  readonly on?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function pod(name: string, { request, limit, on = 'n1', labels = {} }: Sketch): Manifest {
  const resources = { requests: { cpu: request }, ...(limit !== undefined && { limits: { cpu: limit } }) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z', labels },
    spec: { nodeName: on, containers: [{ name: 'main', image: 'x', resources }] },
    status: {
      phase: 'Running',
      qosClass: 'Burstable',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      containerStatuses: [
        {
          name: 'main',
          ready: true,
          restartCount: 0,
          resources,
          state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        },
      ],
    },
  };
}

function metrics(name: string, cpu: string): Manifest {
  return {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { namespace: 'shop', name },
    timestamp: '2026-01-01T00:00:00Z',
    window: '15s',
    containers: [{ name: 'main', usage: { cpu, memory: '10Mi' } }],
  };
}

interface Asked {
  readonly request: string;
  readonly limit?: string;
  readonly policy?: string;
  readonly silentMillis?: number;
  /** Since the last sign of life without a new spec. */
  readonly renewedMillis?: number;
  readonly phase?: string;
  readonly reason?: string;
}

function allocation(name: string, asked: Asked): Manifest {
  const {
    request,
    limit = '8',
    policy = 'Keep',
    silentMillis = 4000,
    renewedMillis,
    phase = 'Applied',
    reason = 'Applied',
  } = asked;
  return {
    apiVersion: 'allocation.mbcas.io/v1alpha1',
    kind: 'PodAllocation',
    metadata: {
      namespace: 'shop',
      name: `uid-${name}`,
      ...(renewedMillis !== undefined && {
        annotations: { 'mbcas.io/renewed-at': new Date(Date.now() - renewedMillis).toISOString() },
      }),
    },
    spec: {
      namespace: 'shop',
      podName: name,
      podUID: `uid-${name}`,
      nodeName: 'n1',
      desiredCPURequest: request,
      desiredCPULimit: limit,
      limitPolicy: policy,
      renewTime: new Date(Date.now() - silentMillis).toISOString(),
      decision: {
        mode: 'congested',
        claim: '100m',
        want: '900m',
        weight: 4,
        cpuUsage: '500m',
        clamps: [{ reason: 'LimitRange', message: 'LimitRange: max 900m -> 620m' }],
      },
    },
    status: { phase, reason },
  };
}

const managed = namespace('shop', { 'mbcas.io/managed': 'true' });
const base = [
  managed,
  node('n1', 'on-demand'),
  pod('web', { request: '200m' }),
  pod('hog', { request: '900m', labels: { 'mbcas.io/workload-type': 'batch' } }),
];
const run = (command: string, objects: readonly Manifest[], ...args: readonly string[]) =>
  runCommand([command, '-f', '-', ...args], { stdin: dump(...objects) });

describe('plan', () => {
  test('says of each pod what its agent asked for, and why', async () => {
    const asked = [
      allocation('web', { request: '620m', phase: 'Pending', reason: 'CapacityInFlight' }),
      allocation('hog', { request: '480m', limit: '530m', policy: 'Apply', phase: 'Pending' }),
    ];
    const { stdout } = await run('plan', [...base, ...asked], '-o', 'wide');
    const lines = stdout.split('\n');
    expect(lines).toContain('Node n1: 1100m of 8000m CPU requested, 2 pods in allocation, congested');
    expect(lines).toContain('  keep      shop/web: request 200m -> 620m (CapacityInFlight)');
    expect(lines).toContain('            uses 500m, could use 900m, is owed 100m, weight 4');
    expect(lines).toContain('            LimitRange: max 900m -> 620m');
    expect(lines.some((line) => line.startsWith('  measured  by its agent, last heard of '))).toBe(true);
    expect(lines).toContain('  keep      shop/hog: request 900m -> 480m, limit none -> 530m (Applied)');
  });

  test('what is in force is kept', async () => {
    const { stdout } = await run('plan', [...base, allocation('web', { request: '200m' })]);
    expect(stdout).toContain('  keep      shop/web: request 200m\n');
    expect(stdout).toContain('  keep      shop/hog: request 900m (NotReported)');
    expect(stdout).toContain(
      'Allocation: 2 pods on 1 node take part; 0 resizes now; off in this configuration (engines.allocation).',
    );
  });

  test('works the bargain out where only the Metrics API has figures', async () => {
    const small = {
      ...node('n1', 'on-demand'),
      status: {
        allocatable: { cpu: '1200m', memory: '8Gi', pods: '110' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    };
    const objects = [managed, small, ...base.slice(2), metrics('web', '450m'), metrics('hog', '740m')];
    const { stdout } = await run('plan', objects);
    expect(stdout).toContain('by the Metrics API, one look');
    const [, to = '0'] = /resize +shop\/web: request 200m -> (\d+)m/.exec(stdout) ?? [];
    expect(Number(to)).toBeGreaterThan(350);
    expect(stdout).toMatch(/resize +shop\/hog: request 900m -> \d+m\n/);
    const document = JSON.parse((await run('plan', objects, '-o', 'json')).stdout);
    expect(document.allocation).toMatchObject({
      isOn: false,
      resizes: 2,
      nodes: [{ measuredBy: 'metrics', agent: 'none' }],
    });
    const requests = document.allocation.nodes[0].shares.map(({ request }: { request: { to: number } }) => request.to);
    expect(requests.reduce((sum: number, each: number) => sum + each, 0)).toBeLessThanOrEqual(1140);
  });

  test('says that nothing was measured, and how to mend it', async () => {
    const { stdout } = await run('plan', base);
    expect(stdout).toContain('  measured  not at all: no agent has reported');
    expect(stdout).toContain('1 node without measurements');
    expect(stdout).not.toContain('shop/web: request');
  });

  test('nobody takes part: not a word', async () => {
    const { stdout } = await run('plan', [namespace('shop'), ...base.slice(1), metrics('web', '450m')]);
    expect(stdout).not.toContain('Allocation');
    expect(stdout).not.toContain('Node n1');
  });

  test('who asked to take part and cannot is counted with the reason', async () => {
    const vip = { ...pod('vip', { request: '1', limit: '1' }) };
    const guaranteed = { ...vip, status: { ...(vip['status'] as object), qosClass: 'Guaranteed' } };
    const { stdout } = await run('plan', [...base, guaranteed, allocation('web', { request: '200m' })]);
    expect(stdout).toContain('  left out  1 GuaranteedQoS');
  });

  test('another namespace is not shown', async () => {
    const { stdout } = await run('plan', [...base, allocation('web', { request: '620m' })], '-n', 'other');
    expect(stdout).not.toContain('Node n1');
  });

  test('allocations and metrics are no objects that were ignored', async () => {
    const { stdout, stderr } = await run('plan', [...base, allocation('web', { request: '1' }), metrics('web', '1m')]);
    expect(stdout + stderr).not.toMatch(/PodAllocation|PodMetrics/);
  });
});

describe('status', () => {
  test('a row a node: its agent, what is requested and in force, who has what', async () => {
    const asked = [allocation('web', { request: '620m', phase: 'Pending' }), allocation('hog', { request: '900m' })];
    const { stdout } = await run('status', [...base, ...asked]);
    expect(stdout).toMatch(/CPU OF NODE +AGENT +REQUESTED +IN FORCE +MODE +SHARES\n/);
    expect(stdout).toMatch(/n1 +alive, [45]s ago +1100m of 8000m +1\/2 +congested +web 620m, hog 900m\n/);
  });

  test.each([
    [70_000, 'silent'],
    [130_000, 'gone'],
  ])('an agent that has not written for %d ms is %s', async (silentMillis, state) => {
    const { stdout } = await run('status', [...base, allocation('web', { request: '200m', silentMillis })]);
    expect(stdout).toMatch(new RegExp(`n1 +${state}, `));
  });

  test('an agent that wrote its last spec long ago and gives signs of life since is alive', async () => {
    const asked = allocation('web', { request: '200m', silentMillis: 3_600_000, renewedMillis: 20_000 });
    expect((await run('status', [...base, asked])).stdout).toMatch(/n1 +alive, 2[01]s ago/);
  });

  test.each([
    ['alive', 'it wrote when an old dump was taken', 3_600_000, 3_620_000],
    ['gone', 'it had not written for minutes when an old dump was taken', 3_600_000, 3_800_000],
    ['gone', 'it has not written for an hour, and the dump is of now', 60_000, 3_620_000],
  ])('an agent is %s where %s', async (state, _, heartbeatMillis, silentMillis) => {
    const lastHeartbeatTime = new Date(Date.now() - heartbeatMillis).toISOString();
    const told = {
      ...node('n1', 'on-demand'),
      status: { allocatable: { cpu: '8' }, conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime }] },
    };
    const objects = [managed, told, ...base.slice(2), allocation('web', { request: '200m', silentMillis })];
    const { stdout, stderr } = await run('status', objects);
    expect(stdout).toMatch(new RegExp(`n1 +${state}, `));
    const note = `the input is of ${lastHeartbeatTime}: which agents are alive is told as of then`;
    expect(stderr.includes(note)).toBe(heartbeatMillis > 600_000);
    expect((await run('plan', objects, '-o', 'json')).stdout.includes(note)).toBe(heartbeatMillis > 600_000);
  });

  test('no agent', async () => {
    expect((await run('status', base)).stdout).toMatch(/n1 +none +1100m of 8000m/);
  });
});
