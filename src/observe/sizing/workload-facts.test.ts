import { expect, test } from 'vitest';
import { workloadKey } from '../../model/cluster-view.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createWorkloadFacts } from './workload-facts.ts';

const named = (name: string, changes: Partial<SizedWorkload> = {}) =>
  aSizedWorkload({ name, uid: `uid-${name}`, ...changes });

/** The fact about a workload is how many replicas it wants; of one that wants none there is nothing to tell. */
function setUp(workloads: readonly SizedWorkload[]) {
  let snapshot = createSizingSnapshot({ workloads });
  const found: string[] = [];
  const view = new Proxy({} as SizingView, { get: (_, key: keyof SizingView) => snapshot[key] });
  const facts = createWorkloadFacts(view, ({ name, replicas }) => {
    found.push(name);
    return replicas === 0 ? undefined : replicas;
  });
  return {
    facts,
    become(...now: readonly SizedWorkload[]): void {
      snapshot = createSizingSnapshot({ workloads: now });
    },
    /** With what was found out for it. */
    ask(namespace = 'shop') {
      const known = Object.fromEntries(facts.in(namespace));
      return { known, found: found.splice(0) };
    },
  };
}

const tell = (workload: SizedWorkload) => ({ kind: 'workload', key: workloadKey(workload) }) as const;
const tellGone = (workload: SizedWorkload) =>
  ({ kind: 'workload-deleted', key: workloadKey(workload), uid: workload.uid }) as const;

const web = named('web');
const api = named('api', { replicas: 2 });

test('of a namespace everything is found out once, and then of those that changed', () => {
  const { facts, become, ask } = setUp([web, api, named('far', { namespace: 'other' })]);
  expect(ask()).toEqual({ known: { 'uid-web': 3, 'uid-api': 2 }, found: ['web', 'api'] });
  expect(ask().found).toEqual([]);
  const scaled = { ...web, replicas: 5 };
  become(scaled, api);
  for (const change of [tell(scaled), tell(scaled)]) facts.note(change);
  expect(ask()).toEqual({ known: { 'uid-web': 5, 'uid-api': 2 }, found: ['web'] });
  become({ ...web, replicas: 0 }, api);
  facts.note(tell(web));
  expect(ask().known).toEqual({ 'uid-api': 2 });
});

test('who is gone is known no more; who comes in its place is another', () => {
  const { facts, become, ask } = setUp([web, api]);
  ask();
  become(api);
  facts.note(tell(web));
  facts.note(tellGone(web));
  expect(ask()).toEqual({ known: { 'uid-api': 2 }, found: [] });
  const again = { ...api, uid: 'uid-again' };
  become(again);
  facts.note(tellGone(api));
  facts.note(tell(again));
  expect(ask()).toEqual({ known: { 'uid-again': 2 }, found: ['api'] });
});

test('one that is found by its name and is no workload of its own is none', () => {
  const job = named('nightly-1', { kind: 'Job' });
  const found: string[] = [];
  const snapshot = createSizingSnapshot({ workloads: [web] });
  const facts = createWorkloadFacts({ ...snapshot, workload: () => job }, ({ name }) => found.push(name));
  facts.in('shop');
  facts.note(tell(job));
  expect([...facts.in('shop').keys()]).toEqual(['uid-web']);
  expect(found).toEqual(['web']);
});

test('a namespace that is gone is let go of when another is asked for', () => {
  const { facts, become, ask } = setUp([web]);
  ask();
  become(named('far', { namespace: 'other' }));
  ask('other');
  become(web);
  // Nothing was told of it: it is known because it is asked for anew.
  expect(ask()).toEqual({ known: { 'uid-web': 3 }, found: ['web'] });
  facts.clear();
  expect(ask().found).toEqual(['web']);
});
