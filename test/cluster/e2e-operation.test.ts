/** The process of the operator in service: changed configuration, missing rights, the death of a leader, a graceful end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { isForbidden } from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { applyObject } from './apply-objects.ts';
import { sumOf } from './metrics-text.ts';
import type { LogRecord, OperatorProcess } from './operator-process.ts';
import { type ClusterRole, useOperatorWorld } from './operator-world.ts';
import { useRealCluster } from './real-cluster.ts';
import {
  annotate,
  deploy,
  expectPodSides,
  managedNamespace,
  podsOf,
  policy,
  sidesOf,
  untilSides,
} from './workloads.ts';

const cluster = useRealCluster();
const world = useOperatorWorld(cluster, { takesRightsAway: true });
let operator: OperatorProcess;
/** A client with the operator's own account. */
let account: KubeClient;

beforeAll(async () => {
  operator = await world().startOperator();
  account = await cluster().connect(world().operatorKubeconfigPath);
});

const evictions = (namespace: string): number => world().audit.evictions(namespace).length;

async function reasonsIn(namespace: string): Promise<(string | undefined)[]> {
  const { items } = await cluster().api.list(resources.events, { namespace });
  return items.map(({ reason }) => reason);
}

/** Log records that say all of this, in their message or their fields. */
function recordsWith(process: OperatorProcess, ...words: readonly string[]): LogRecord[] {
  return process.records().filter((record) => words.every((word) => JSON.stringify(record).includes(word)));
}

describe('configuration', () => {
  const change = (edit: (text: string) => string): void =>
    writeFileSync(operator.configPath, edit(readFileSync(operator.configPath, 'utf8')));
  const withReadOnly = (readOnlyMode: unknown) => (text: string) => {
    const config = parse(text);
    return stringify({ ...config, operator: { ...config.operator, readOnlyMode } });
  };

  test('case 58: read-only from one moment to the next: pods come unsteered, moves are told and not made; then all is repaired', async () => {
    const { eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    change(withReadOnly(true));
    let drifted = 0;
    try {
      await eventually(async () => expect(recordsWith(operator, 'The configuration changed')).toHaveLength(1));
      await deploy(cluster(), namespace, 4, policy(100, 0));
      await eventually(async () => {
        const pods = await podsOf(cluster(), namespace);
        expectPodSides(pods, { pending: 0, ending: 0 });
        expect(pods).toHaveLength(4);
      });
      const pods = await podsOf(cluster(), namespace);
      expect(pods.flatMap(({ metadata }) => Object.keys(metadata?.annotations ?? {}))).toEqual([]);
      expect(pods.filter(({ spec }) => spec?.nodeSelector !== undefined)).toEqual([]);
      // The scheduler has spread them over both sides.
      drifted = sidesOf(pods).onDemand;
      expect(drifted).toBeGreaterThan(0);
      await eventually(async () => expect(await reasonsIn(namespace)).toContain('WouldEvict'));
      expect(evictions(namespace)).toBe(0);
    } finally {
      change(withReadOnly(false));
    }
    await untilSides(cluster(), namespace, 4, 0);
    expect(evictions(namespace)).toBe(drifted);
  });

  test('an invalid change is refused by name and the configuration before stays in force', async () => {
    const { eventually } = cluster();
    const before = readFileSync(operator.configPath, 'utf8');
    change(withReadOnly('perhaps'));
    try {
      await eventually(async () => {
        expect(recordsWith(operator, 'is not valid', 'operator.readOnlyMode', 'perhaps')).toHaveLength(1);
      });
      const namespace = await managedNamespace(cluster());
      await deploy(cluster(), namespace, 3, policy(67, 1));
      await untilSides(cluster(), namespace, 2, 1);
    } finally {
      change(() => before);
    }
  });
});

describe('missing rights', () => {
  const without = (resource: string): ClusterRole => ({
    ...world().clusterRole,
    rules: world().clusterRole.rules.map((rule) => ({
      ...rule,
      resources: rule.resources.filter((name) => name !== resource),
    })),
  });
  /** Rules without a resource are refused by the API server. */
  const apply = (role: ClusterRole): Promise<void> => {
    const valid: ClusterRole = { ...role, rules: role.rules.filter(({ resources: names }) => names.length > 0) };
    return applyObject(cluster().api, valid);
  };

  test('without the right to evict it says so, moves nothing, and goes on with the rest; given back, it converges', async () => {
    const { eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(0, 0));
    await untilSides(cluster(), namespace, 0, 4);
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'nobody' } };
    await apply(without('pods/eviction'));
    try {
      // Of a pod that is not there: refused for that reason only once the right is gone.
      await eventually(() =>
        expect(account.createSubresource(resources.pods, 'nobody', 'eviction', body, { namespace })).rejects.toSatisfy(
          isForbidden,
        ),
      );
      await annotate(cluster(), 'deployments', namespace, 'web', policy(50, 0));
      await eventually(async () => expect(await reasonsIn(namespace)).toContain('EvictionFailed'));
      await eventually(async () => {
        const told = recordsWith(operator, 'forbidden', 'pods/eviction', namespace);
        expect(told.filter(({ level }) => level === 'error' || level === 'warn').length).toBeGreaterThan(0);
      });
      expect(evictions(namespace)).toBe(0);
      expect((await operator.health('/readyz')).status).toBe(200);
      await deploy(cluster(), namespace, 10, policy(70, 1), 'other');
      await untilSides(cluster(), namespace, 7, 3, { matchLabels: { app: 'other' } });
    } finally {
      await apply(world().clusterRole);
    }
    await untilSides(cluster(), namespace, 2, 2, { matchLabels: { app: 'web' } });
    expect(evictions(namespace)).toBe(2);
  });

  test('without the right to see nodes it starts, names what is refused, and is not ready until it may', async () => {
    const { eventually } = cluster();
    await apply(without('nodes'));
    try {
      await eventually(() => expect(account.list(resources.nodes)).rejects.toSatisfy(isForbidden));
      const other = await world().launchOperator();
      await eventually(async () => {
        const { status, body } = await other.health('/readyz');
        expect({ status, body }).toEqual({ status: 500, body: expect.stringContaining('caches') });
      });
      await eventually(async () => expect(recordsWith(other, 'forbidden', 'nodes')).not.toEqual([]));
      expect((await other.health('/healthz')).status).toBe(200);
      await apply(world().clusterRole);
      await eventually(async () => expect((await other.health('/readyz')).status).toBe(200));
      await other.stop();
    } finally {
      await apply(world().clusterRole);
    }
  });
});

describe('end of a process', () => {
  const isLeading = async (process: OperatorProcess): Promise<boolean> =>
    sumOf(await process.metrics(), 'spotalis_leader_election_status') === 1;
  const holder = async (): Promise<string> => {
    const options = { namespace: 'spotalis-system' };
    const lease = await cluster().api.get(resources.leases, 'spotalis-controller-leader', options);
    return lease.spec?.holderIdentity ?? '';
  };

  test('case 75: one of two leads; killed in the middle of its moves, the other admits meanwhile, takes over and ends the work', async () => {
    const { eventually } = cluster();
    const second = await world().startOperator();
    await eventually(async () => expect([await isLeading(operator), await isLeading(second)]).toEqual([true, false]));
    const firstHolder = await holder();
    const [namespace, meanwhile] = [await managedNamespace(cluster()), await managedNamespace(cluster())];
    await deploy(cluster(), namespace, 6, policy(0, 0));
    await untilSides(cluster(), namespace, 0, 6);
    await annotate(cluster(), 'deployments', namespace, 'web', policy(100, 0));
    await eventually(async () => expect(evictions(namespace)).toBeGreaterThanOrEqual(2));
    operator.signal('SIGKILL');
    await eventually(async () => expect(operator.isRunning()).toBe(false));

    // Nobody leads; the webhook of the other decides alone.
    await deploy(cluster(), meanwhile, 20, policy(80, 2));
    await untilSides(cluster(), meanwhile, 16, 4);
    const stamps = (await podsOf(cluster(), meanwhile)).map(
      ({ metadata }) => metadata?.annotations?.['spotalis.io/unconfirmed'],
    );
    expect(stamps).toContain('true');

    // A lease lasts 15 s, and is tried every 2 s.
    await eventually(async () => expect(await isLeading(second)).toBe(true));
    expect(await holder()).not.toBe(firstHolder);
    await untilSides(cluster(), namespace, 6, 0);
    const evicted = world()
      .audit.evictions(namespace)
      .map(({ name }) => name);
    expect(evicted).toHaveLength(6);
    expect(new Set(evicted).size).toBe(6);
    expect(evictions(meanwhile)).toBe(0);
    operator = second;
  });

  test('SIGTERM: the lease is released, the process ends with 0, and nothing listens any more', async () => {
    const { eventually } = cluster();
    expect(await isLeading(operator)).toBe(true);
    operator.signal('SIGTERM');
    await eventually(async () => expect(operator.ended()).toEqual({ code: 0, signal: null }));
    expect(await holder()).toBe('');
    expect(operator.records().at(-1)).toMatchObject({ msg: 'Stopped', level: 'info' });
    await expect(operator.health('/healthz')).rejects.toThrow('ECONNREFUSED');
    await expect(operator.metrics()).rejects.toThrow('ECONNREFUSED');
  });
});
