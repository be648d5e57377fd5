/** Usage of each replica beside that of all, where the policy asks for it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { replicaRef } from '../../model/replica.ts';
import { freshState, writeReplicaSizes } from '../../model/replica-sizes.ts';
import { aContainer, aContainerStatus, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { aSeries, DAY, HOUR } from '../../model/testing/usage.ts';
import { MIB, start, steady } from './testing/collected.ts';
import { aPodOf, aTarget, START } from './testing/collecting.ts';
import type { UsageAnswer, UsageRequest } from './usage-source.ts';

const db = aSizedWorkload({ kind: 'StatefulSet', name: 'db', uid: 'db' });
const agent = aSizedWorkload({ kind: 'DaemonSet', name: 'agent', uid: 'agent' });
const pods = ['db-0', 'db-1'].map((name) => aPodOf(name, {}, { uid: name }));
const own = { isPerReplica: true } as const;

/** As `steady`, with ten times the memory for the pod of this name. */
const hot =
  (name: string) =>
  (request: UsageRequest): UsageAnswer => {
    const answer = steady(request);
    if (!answer.ok) return answer;
    const series = answer.series.map((each) =>
      each.pod === name ? { ...each, memory: each.memory.map(({ at, value }) => ({ at, value: 10 * value })) } : each,
    );
    return { ...answer, series };
  };

describe('usage of replicas', () => {
  test('each has its own, and all together what they had', async () => {
    const collecting = start({ targets: [aTarget(db, own)], pods });
    collecting.answer = hot('db-1');
    await collecting.clock.advance(0);
    const peakOf = (replica?: string): number | undefined => {
      const ref = replica === undefined ? db : replicaRef(db, replica);
      return collecting.collector.profileOf(ref, 'app')?.memory.peaks().at(-1)?.bytes;
    };
    expect([peakOf('0'), peakOf('1'), peakOf()]).toEqual([50 * MIB, 500 * MIB, 500 * MIB]);
    expect(collecting.requests).toHaveLength(1);
  });

  test('the page of all is the same to the last bit, whether or not replicas are told apart', async () => {
    const pageOf = async (settings: object): Promise<unknown> => {
      const collecting = start({ targets: [aTarget(db, settings)], pods });
      collecting.answer = hot('db-1');
      await collecting.clock.advance(3 * HOUR);
      return [...collecting.book.save()].find(([first]) => first?.workload.name === 'db');
    };
    expect(await pageOf(own)).toEqual(await pageOf({}));
  });

  test('without the field nothing is remembered of replicas', async () => {
    const collecting = start({ targets: [aTarget(db), aTarget(agent)], pods });
    collecting.answer = steady;
    await collecting.clock.advance(HOUR);
    expect([...collecting.book.save()].flat().map(({ workload }) => workload.name)).toEqual(['db']);
  });

  test('those of a DaemonSet are known by the node of their pod; one without is of all only', async () => {
    const of = (name: string, nodeName: string | undefined) => aPodOf(name, {}, { uid: name, nodeName });
    const collecting = start({
      targets: [aTarget(agent, own)],
      pods: [of('agent-a', 'node-1'), of('agent-b', 'node-2'), of('agent-c', undefined)],
    });
    collecting.answer = hot('agent-b');
    await collecting.clock.advance(0);
    const names = [...collecting.book.save()].flat().map(({ workload }) => workload.name);
    expect(names.toSorted()).toEqual(['agent', 'agent#node-1', 'agent#node-2']);
  });

  test('the past is asked for once when it begins, and not again for a replica that comes later', async () => {
    const collecting = start({ targets: [aTarget(db)], pods });
    collecting.answer = steady;
    await collecting.clock.advance(HOUR);
    const spans = () => collecting.requests.splice(0).map(({ from, to }) => to - from.memory);
    expect(Math.max(...spans().slice(1))).toBeLessThan(HOUR);
    collecting.targets = [aTarget(db, own)];
    await collecting.clock.advance(HOUR);
    const begun = spans();
    expect(begun.filter((span) => span === DAY)).toHaveLength(1);
    collecting.pods = [...pods, aPodOf('db-2', {}, { uid: 'db-2' })];
    await collecting.clock.advance(HOUR);
    expect(Math.max(...spans())).toBeLessThan(HOUR);
    expect(collecting.collector.profileOf(replicaRef(db, '2'), 'app')).toBeDefined();
  });

  test('a kill is known of the replica and of all, once', async () => {
    const killed = aContainerStatus(aContainer(), {
      restartCount: 1,
      lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: START },
    });
    const collecting = start({
      targets: [aTarget(db, own)],
      pods: [aPodOf('db-0', { statuses: [killed] }, { uid: 'db-0' }), ...pods.slice(1)],
    });
    collecting.answer = () => ({ ok: true, series: [], readTo: {}, warnings: [] });
    await collecting.clock.advance(60_000);
    const oomOf = (replica: string) => collecting.collector.profileOf(replicaRef(db, replica), 'app')?.memory.oom();
    expect(oomOf('0')).toBeDefined();
    expect(oomOf('1')).toBeUndefined();
    expect(collecting.collector.profileOf(db, 'app')?.memory.oom()).toEqual(oomOf('0'));
    const [saved] = [...collecting.book.save()].flat().filter(({ workload }) => workload.name === 'db#0');
    expect(saved?.kills).toHaveLength(1);
  });

  test('of more than 200 replicas the first 200 are remembered, before them who has a size of his own; of kills, too', async () => {
    const killed = aContainerStatus(aContainer(), {
      restartCount: 1,
      lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: START },
    });
    const many = Array.from({ length: 220 }, (_, index) =>
      aPodOf(`db-${index}`, { statuses: [killed] }, { uid: `db-${index}` }),
    );
    const written = writeReplicaSizes(db.containers, new Map([['210', freshState(db.containers)]])) ?? '';
    const workload = { ...db, annotations: { [rightsizingKeys.replicaSizes]: written } };
    const collecting = start({ targets: [aTarget(workload, own)], pods: many });
    collecting.answer = steady;
    await collecting.clock.advance(0);
    const names = [...collecting.book.save()].flat().map((saved) => saved.workload.name);
    expect(names).toHaveLength(201);
    expect(names).toEqual(expect.arrayContaining(['db', 'db#0', 'db#198', 'db#210']));
    expect(names).not.toContain('db#199');
  });

  test('for any series, a replica remembers nothing of another’s', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 6 }), async (use) => {
        const collecting = start({
          targets: [aTarget(db, own)],
          pods: use.map((_, index) => aPodOf(`db-${index}`, {}, { uid: `db-${index}` })),
        });
        collecting.answer = ({ to }) => ({
          ok: true,
          series: use.map((value, index) => aSeries(`db-${index}`, { memory: [[to - 60_000, value * MIB]] })),
          readTo: { memory: to },
          warnings: [],
        });
        await collecting.clock.advance(0);
        for (const [index, value] of use.entries()) {
          const profile = collecting.collector.profileOf(replicaRef(db, String(index)), 'app');
          expect(profile?.memory.peaks().map(({ bytes }) => bytes)).toEqual([value * MIB]);
        }
      }),
      { numRuns: 50 },
    );
  });
});
