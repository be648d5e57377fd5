/** Public manifests on the real control plane, under the operator as a process; then what its metrics, its commands and a dump say of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Deployment, Pod, StatefulSet } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { DUMP_COMMAND } from '../../src/cli/input/missing-data.ts';
import { READER_USER, STOWAGE_USER } from '../controlplane/audit-policy.ts';
import { run, stowage } from '../process/checkout.ts';
import { isWrite } from './audit-log.ts';
import { sumOf } from './metrics-text.ts';
import type { OperatorProcess } from './operator-process.ts';
import { useOperatorWorld } from './operator-world.ts';
import { type Application, applications, applyApplication, type PlacedWorkload } from './public-manifests.ts';
import { useRealCluster } from './real-cluster.ts';
import { annotate, describePod, expectPodSides, isReady, isStaying, podsOf, policy, sidesOf } from './workloads.ts';

const cluster = useRealCluster();
const world = useOperatorWorld(cluster);
let operator: OperatorProcess;
/** Namespaces by the file that was applied there. */
const namespaces = new Map<string, string>();

const namespaceOf = ({ file }: Application): string => namespaces.get(file) ?? '';
const boutique = (): string => namespaces.get('online-boutique.yaml') ?? '';

beforeAll(async () => {
  operator = await world().startOperator();
  const applied = await Promise.all(
    applications.map(
      async (application) => [application.file, await applyApplication(cluster(), application)] as const,
    ),
  );
  for (const [file, namespace] of applied) namespaces.set(file, namespace);
});

async function workloadPods(namespace: string, { kind, name }: PlacedWorkload): Promise<Pod[]> {
  const type = kind === 'Deployment' ? resources.deployments : resources.statefulSets;
  const { spec } = await cluster().api.get<Deployment | StatefulSet>(type, name, { namespace });
  return podsOf(cluster(), namespace, spec?.selector);
}

const placed = applications.flatMap((application) =>
  application.workloads.map((workload) => ({
    ...workload,
    application,
    title: `${application.file} ${workload.name}`,
  })),
);

describe('public manifests', () => {
  test.each(placed)('$title: $replicas replicas land $spot/$onDemand', async (workload) => {
    const { application, spot, onDemand } = workload;
    await cluster().eventually(async () => {
      const pods = await workloadPods(namespaceOf(application), workload);
      expectPodSides(pods, { spot, onDemand, pending: 0, ending: 0 });
    });
  });

  test('case 31: a Deployment without the label runs untouched', async () => {
    const { eventually } = cluster();
    const pods = await eventually(async () => {
      const found = await podsOf(cluster(), boutique(), { matchLabels: { app: 'productcatalogservice' } });
      expect(found.map(isReady)).toEqual([true]);
      return found;
    });
    const [{ metadata, spec } = {}] = pods;
    expect(Object.keys(metadata?.annotations ?? {}).filter((key) => key.startsWith('spotalis.io/'))).toEqual([]);
    expect(spec?.nodeSelector).toBeUndefined();
  });

  test('landing took no eviction and no disruption', () => {
    const evicted = applications.flatMap((application) => world().audit.evictions(namespaceOf(application)));
    expect(evicted).toEqual([]);
  });

  test('ordinals of a StatefulSet have fixed sides: the floor is below, spot above', async () => {
    const pods = await podsOf(cluster(), namespaces.get('cockroachdb-statefulset.yaml') ?? '');
    const nodes = pods.map(({ metadata, spec }) => `${metadata?.name} ${spec?.nodeName?.replace(/-.$/, '')}`);
    expect(nodes.toSorted()).toEqual([
      'cockroachdb-0 on-demand',
      'cockroachdb-1 on-demand',
      'cockroachdb-2 spot',
      'cockroachdb-3 spot',
      'cockroachdb-4 spot',
    ]);
  });
});

describe('metrics, health and logs', () => {
  test('spotalis_workload_replicas is what the cluster shows', async () => {
    const { eventually } = cluster();
    await eventually(async () => {
      const samples = await operator.metrics();
      for (const { application, kind, name, ...workload } of placed) {
        const namespace = namespaceOf(application);
        const pods = (await workloadPods(namespace, { kind, name, ...workload })).filter(isStaying);
        const { spot, onDemand } = sidesOf(pods);
        const labels = { namespace, workload: name, workload_type: kind.toLowerCase() };
        const shown = (type: string) => sumOf(samples, 'spotalis_workload_replicas', { ...labels, replica_type: type });
        const seen = { name, spot: shown('spot'), onDemand: shown('on-demand') };
        expect(seen, pods.map(describePod).join('\n')).toEqual({ name, spot, onDemand });
      }
    });
  });

  test('case 76: metrics parse, hold no NaN and the names of old; health says ok; each log line is JSON with level, msg and time', async () => {
    const samples = await operator.metrics();
    const names = new Set(samples.map(({ name }) => name));
    for (const name of [
      'spotalis_workload_replicas',
      'spotalis_evictions_total',
      'spotalis_disruptions_blocked_total',
      'spotalis_webhook_requests_total',
      'spotalis_webhook_mutations_total',
      'spotalis_leader_election_status',
      'spotalis_controller_last_seen_timestamp',
    ]) {
      expect([...names]).toContain(name);
    }
    expect(samples.filter(({ value }) => Number.isNaN(value))).toEqual([]);
    expect(sumOf(samples, 'spotalis_leader_election_status')).toBe(1);
    expect(await operator.health('/healthz')).toMatchObject({ status: 200, body: expect.stringContaining('ok') });
    expect(await operator.health('/readyz')).toMatchObject({ status: 200, body: expect.stringContaining('ok') });
    const records = operator.records();
    expect(records.length).toBeGreaterThan(3);
    const level = expect.stringMatching(/^(?:debug|info|warn|error)$/);
    for (const record of records) {
      expect(record).toMatchObject({ level, msg: expect.any(String), time: expect.any(String) });
    }
    expect(records.filter((record) => record.level === 'error')).toEqual([]);
  });
});

/** One run of a command under the user who may only read. */
const command = (...args: string[]) => stowage([...args, '--kubeconfig', world().readerKubeconfigPath]);

describe('commands on the live cluster, and on its dump', () => {
  beforeAll(async () => {
    const { api, eventually } = cluster();
    // Something to plan that stays: a window that opens once a year.
    await annotate(cluster(), 'deployments', boutique(), 'checkoutservice', {
      ...policy(50, 1),
      'spotalis.io/disruption-schedule': 'CRON_TZ=UTC 0 3 1 1 *',
      'spotalis.io/disruption-duration': '1h',
    });
    await eventually(async () => {
      const { items } = await api.list(resources.events, { namespace: boutique() });
      expect(items.map(({ reason }) => reason)).toContain('OutsideWindow');
    });
  });

  test('a second pass over an unchanged cluster writes nothing', async () => {
    const { eventually } = cluster();
    const passes = async (): Promise<number> =>
      sumOf(await operator.metrics(), 'spotalis_reconcile_duration_seconds_count');
    // What earlier tests have caused may be on its way still: then the passes after it are looked at.
    await eventually(async () => {
      const [position, before] = [world().audit.position(), await passes()];
      await eventually(async () => expect(await passes()).toBeGreaterThanOrEqual(before + 2 * placed.length));
      expect(world().audit.writesSince(position)).toEqual([]);
    }, 300_000);
  });

  test('plan, status and explain tell the drift and its block, and write nothing', async () => {
    const position = world().audit.position();
    const [plan, status, explain] = await Promise.all([
      command('plan'),
      command('status'),
      command('explain', `deploy/${boutique()}/checkoutservice`),
    ]);
    expect([plan, status, explain].map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(plan.stdout).toContain(
      `Deployment ${boutique()}/checkoutservice: 4 replicas, 50 % spot, at least 1 on-demand`,
    );
    expect(plan.stdout).toMatch(/blocked +OutsideWindow: .*01-01T03:00:00/);
    expect(plan.stdout).toContain('Nothing was written.');
    expect(status.stdout).toMatch(/^16 of \d+ workloads managed: 1 drifted \(2 replicas, 1 blocked\)/);
    expect(explain.stdout).toMatch(/checkoutservice: 0 on spot, 4 on on-demand, 2 and 2 wanted/);
    const asked = world()
      .audit.records()
      .slice(position)
      .filter(({ user }) => user === READER_USER);
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter(isWrite)).toEqual([]);
  });

  test('plan of a dump says what plan of the cluster says', async () => {
    const [program = '', ...args] = DUMP_COMMAND.split(' ');
    const dumped = await run(program, [...args, '--kubeconfig', cluster().adminKubeconfigPath]);
    expect({ code: dumped.code, stderr: dumped.stderr }).toEqual({ code: 0, stderr: '' });
    const path = join(world().directory, 'dump.yaml');
    writeFileSync(path, dumped.stdout);
    const [live, fromDump] = await Promise.all([
      command('plan', '-o', 'json'),
      stowage(['plan', '-o', 'json', '-f', path]),
    ]);
    expect([live.code, fromDump.code]).toEqual([0, 0]);
    expect(fromDump.stderr).toBe('');
    const { source: cameFrom, ...livePlan } = JSON.parse(live.stdout);
    const { source, ...dumpPlan } = JSON.parse(fromDump.stdout);
    expect({ cameFrom, source }).toEqual({ cameFrom: expect.stringContaining('https://127.0.0.1'), source: path });
    expect(livePlan.summary).toMatchObject({ managed: 16, blocked: 1, driftedReplicas: 2 });
    expect(dumpPlan).toEqual(livePlan);
    const [liveText, dumpText] = await Promise.all([command('plan'), stowage(['plan', '-f', path])]);
    expect(dumpText.stdout).toBe(liveText.stdout);
  });

  test('all the operator has ever written are evictions, stamps, events, its lease and its certificate', () => {
    const written = world()
      .audit.records()
      .filter((record) => record.user === STOWAGE_USER && isWrite(record));
    const kinds = new Set(written.map(({ verb, resource }) => `${verb} ${resource}`));
    const allowed = [
      'create events',
      'patch events',
      'create leases',
      'update leases',
      'patch pods',
      'create pods/eviction',
      'create secrets',
      'update mutatingwebhookconfigurations',
    ];
    expect([...kinds]).toEqual(expect.arrayContaining(['create events', 'update leases']));
    expect([...kinds].filter((kind) => !allowed.includes(kind))).toEqual([]);
  });
});
