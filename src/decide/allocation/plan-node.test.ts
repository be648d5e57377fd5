import { describe, expect, test } from 'vitest';
import type { NodeInput, NodePlan, NodePod, PodPlan } from './node-input.ts';
import { planNode } from './plan-node.ts';
import { type PodSketch, resized, T0, testInput, testNode, testPod, testRules, using } from './testing/pods.ts';

const entry = (
  name: string,
  usage: number | undefined,
  sketch: Partial<PodSketch> = {},
  change: Partial<NodePod> = {},
): NodePod => ({
  pod: testPod(name, { request: 400, ...sketch }),
  measured: usage === undefined ? undefined : using(usage),
  ...change,
});
const plan = (pods: readonly NodePod[], change: Partial<NodeInput> = {}): NodePlan => planNode(testInput(pods, change));
const podOf = (found: NodePlan, name: string): PodPlan | undefined => found.pods.find((each) => each.name === name);
const total = (found: NodePlan): number => found.pods.reduce((sum, { share }) => sum + share, 0);

describe('one tick', () => {
  test('wants that fit are granted, and capacity has no price', () => {
    const found = plan([entry('a', 400), entry('b', 200)]);
    expect(found).toMatchObject({ mode: 'uncongested', shadowPrice: 0, capacity: 1710, isOvercommitted: false });
    // b wants 350m only, but nobody else wants the rest of what it requested.
    expect(found.pods.map(({ share, want }) => [share, want])).toEqual([
      [650, 650],
      [400, 350],
    ]);
    expect(found.fairness).toMatchObject({ jain: 1, satisfaction: 1 });
  });

  test('wants that do not fit share the surplus by weight, to the last millicore', () => {
    const found = plan([entry('a', 2000, { marks: { 'mbcas.io/weight': '2' } }), entry('b', 2000)]);
    expect(found.mode).toBe('congested');
    expect(total(found)).toBe(1710);
    const [a = 0, b = 0] = found.pods.map(({ share, claim }) => share - claim);
    expect(a / b).toBeCloseTo(2, 2);
    expect(found.shadowPrice).toBeCloseTo(1 / b, 4);
  });

  test('what others request is not there to share', () => {
    const others = entry('dns', undefined, { request: 300, namespace: 'kube-system' });
    const found = plan([entry('a', 2000), others]);
    expect(found.capacity).toBe(1410);
    expect(found.unmanaged).toEqual([{ uid: 'uid-dns', reason: 'Excluded' }]);
  });

  test('decreases come first, then raises, the smallest first', () => {
    const found = plan([
      entry('a', 700, { request: 200 }),
      entry('b', 50, { request: 900 }),
      entry('c', 600, { request: 600 }),
    ]);
    expect(found.writes.map(({ name }) => name)).toEqual(['b', 'c', 'a']);
  });

  test('only clamps that made a difference are told', () => {
    const found = plan([entry('a', 2500, { request: 900 }), entry('b', 0, { request: 600 })]);
    expect(podOf(found, 'a')?.clamps).toEqual([]);
    expect(podOf(found, 'b')?.clamps).toEqual([{ reason: 'StepLimit', what: 'min', before: 200, after: 300 }]);
  });

  test('a request is lowered to pay for another, and comes back when nobody needs it', () => {
    const busy = plan([entry('a', 1500), entry('b', 10, { request: 600 })]);
    expect(podOf(busy, 'b')?.target.request).toBe(300);
    const calm = plan([
      entry('a', 100),
      entry('b', 10, { request: 300 }, { original: { request: 600, limit: undefined } }),
    ]);
    expect(podOf(calm, 'b')).toMatchObject({ share: 600, isWritten: true });
  });

  test('what is given back stays within the bounds of the pod', () => {
    const marks = { 'mbcas.io/max-cpu': '450m' };
    const found = plan([entry('a', 10, { request: 300, marks }, { original: { request: 600, limit: undefined } })]);
    expect(podOf(found, 'a')?.share).toBe(450);
  });

  test('the order of pods does not matter', () => {
    const pods = [entry('a', 700), entry('b', 300, { request: 900 }), entry('c', 900)];
    expect(plan([...pods].reverse())).toEqual(plan(pods));
  });

  test('a node without pods', () => {
    expect(plan([])).toMatchObject({ pods: [], writes: [], capacity: 1710, mode: 'uncongested' });
  });

  test('pods that are gone are forgotten', () => {
    const first = plan([entry('a', 100), entry('b', 100)]);
    expect([...plan([entry('a', 100)], { memory: first.memory }).memory.keys()]).toEqual(['uid-a']);
  });
});

describe('nothing is known, nothing moves', () => {
  test.each<[string, Partial<NodeInput>, string]>([
    [
      'integration 3: the node is not Ready',
      { node: testNode({ conditions: [{ type: 'Ready', status: 'False', since: 0 }] }) },
      'NodeNotReady',
    ],
    ['nobody knows the node', { node: testNode({ conditions: undefined }) }, 'DataUnknown'],
  ])('%s', (_name, change, reason) => {
    const found = plan([entry('a', 1500), entry('b', 0)], change);
    expect(found.writes).toEqual([]);
    for (const each of found.pods) {
      expect(each.share).toBe(400);
      expect(each.clamps.map((clamp) => clamp.reason)).toContain(reason);
    }
  });

  test('mbcas bug 12: a pod that could not be measured keeps its share; the others go on', () => {
    const found = plan([entry('a', undefined), entry('b', 900)]);
    expect(podOf(found, 'a')).toMatchObject({ share: 400, isWritten: false });
    expect(podOf(found, 'b')?.isWritten).toBe(true);
  });

  test('writes are remembered for a minute, and no longer where the machine’s clock is set back', () => {
    const ask = (writes: readonly number[]) => {
      const first = plan([entry('a', 700, { request: 200 })]).memory.get('uid-a');
      if (first === undefined) throw new Error('it is remembered');
      const memory = new Map([['uid-a', { ...first, writes }]]);
      return plan([entry('a', 100)], { memory }).memory.get('uid-a')?.writes;
    };
    expect(ask([T0 - 60_000, T0 - 59_999, T0 + 3_600_000])).toEqual([T0 - 59_999]);
  });

  test('observing writes nothing and says what it would', () => {
    const found = plan([entry('a', 900)], { rules: { ...testRules, apply: 'observe' } });
    expect(found.writes).toEqual([]);
    expect(podOf(found, 'a')).toMatchObject({ held: 'Observe', share: 1400 });
  });
});

describe('overload', () => {
  const claims = (name: string, advice: number) => entry(name, 1500, {}, { advice });

  test('claims beyond the node are shed by weight, nobody above its claim', () => {
    const found = plan([claims('a', 1500), claims('b', 700)]);
    expect(found.mode).toBe('overloaded');
    expect(total(found)).toBe(1710);
    expect(podOf(found, 'b')?.share).toBe(700);
  });

  test('guards give way before claims do', () => {
    const starting = { pod: testPod('b', { request: 1200 }, { startedAt: T0 - 1000 }), measured: using(10) };
    const found = plan([claims('a', 1500), starting]);
    expect(total(found)).toBe(1710);
    expect(podOf(found, 'b')?.clamps.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['StartupGrace', 'GuardRelaxed']),
    );
  });
});

test('throttling counts at once where the load has changed; of a load that is known, when it lasts', () => {
  const rules = { ...testRules, apply: 'limits' as const };
  const pod = (usage: number, ratio: number) =>
    entry('a', usage, { request: 450, limit: 500 }, { measured: using(usage, ratio) });
  let { memory } = plan([pod(300, 0)], { rules });
  for (let tick = 1; tick < 10; tick++) ({ memory } = plan([pod(300, 0)], { rules, memory, now: T0 + 2000 * tick }));
  const once = plan([pod(310, 0.2)], { rules, memory, now: T0 + 20_000 });
  expect(podOf(once, 'a')).toMatchObject({ isWritten: false, held: 'HasRoom' });
  const twice = plan([pod(310, 0.2)], { rules, memory: once.memory, now: T0 + 22_000 });
  expect(podOf(twice, 'a')).toMatchObject({ isWritten: true, isForced: true });
  const other = plan([pod(490, 0.2)], { rules, memory, now: T0 + 20_000 });
  expect(podOf(other, 'a')).toMatchObject({ isWritten: true, isForced: true });
});

describe('what the public system got wrong', () => {
  test('mbcas bug 2: a throttled pod of 2000m is never cut for want of an earlier figure', () => {
    const found = plan([entry('a', 1900, { request: 900, limit: 2000 }, { measured: using(1900, 0.9) })], {
      node: testNode({ allocatable: 4000 }),
      rules: { ...testRules, apply: 'limits' },
    });
    expect(podOf(found, 'a')?.share).toBeGreaterThanOrEqual(2000);
  });

  test('mbcas bug 1: a raise is not capped by the present limit, and does not silence the next tick', () => {
    let found = plan([entry('a', 140, { request: 126, limit: 140 }, { measured: using(140, 0.9) })], {
      rules: { ...testRules, apply: 'limits' },
    });
    expect(podOf(found, 'a')).toMatchObject({ isWritten: true, isForced: true });
    expect(podOf(found, 'a')?.share).toBeGreaterThan(250);
    found = plan([entry('a', 260, { request: 234, limit: 260 }, { measured: using(260, 0.9) })], {
      rules: { ...testRules, apply: 'limits' },
      memory: found.memory,
      now: T0 + 2000,
    });
    expect(podOf(found, 'a')).toMatchObject({ isWritten: true, isForced: true });
  });

  test('mbcas bug 3: an idle pod gives finite figures, tick after tick', () => {
    let { memory } = plan([entry('a', 0)]);
    for (let tick = 1; tick < 50; tick++) {
      const found = plan([entry('a', 0)], { memory, now: T0 + 2000 * tick });
      const each = podOf(found, 'a');
      expect(
        Number.isFinite((each?.share ?? Number.NaN) + (each?.want ?? Number.NaN) + (each?.weight ?? Number.NaN)),
      ).toBe(true);
      ({ memory } = found);
    }
  });

  test('mbcas bug 5: Guaranteed and opted-out pods do not bid, and what they request is subtracted', () => {
    const out = entry('b', 900, { marks: { 'mbcas.io/managed': 'false' } });
    const guaranteed = {
      pod: testPod('c', { request: 500, limit: 500 }, { qos: 'Guaranteed' as const }),
      measured: using(500),
    };
    const found = plan([entry('a', 2000), out, guaranteed]);
    expect([found.capacity, found.pods.length]).toEqual([1710 - 400 - 500, 1]);
  });

  test('allocation bug 14: a share is never driven below the floor that keeps ratios sane (k/k#72811)', () => {
    const rules = { ...testRules, apply: 'limits' as const };
    const original = { request: 600, limit: 700 };
    let pods = [entry('a', 0, original)];
    let { memory } = plan(pods, { rules });
    for (let tick = 1; tick < 100; tick++) {
      const found = plan(pods, { rules, memory, now: T0 + 2000 * tick });
      const { request = 0, limit = 0 } = podOf(found, 'a')?.target ?? {};
      pods = [entry('a', 0, { request, limit }, { original })];
      ({ memory } = found);
    }
    expect(podOf(plan(pods, { rules, memory, now: T0 + 400_000 }), 'a')?.share).toBe(200);
  });
});

describe('integration 9: probes that fail after a cut', () => {
  test('integration 9: what the pod lost is given back at once', () => {
    const before = plan([entry('a', 300, { request: 900 }), entry('b', 700, { request: 300 })]);
    const pod = resized(testPod('a', { request: 900 }), { request: 500, limit: undefined });
    const b = entry('b', 700, { request: 700 });
    const cut = plan([{ pod, measured: using(300) }, b], { memory: before.memory, now: T0 + 2000 });
    expect(podOf(cut, 'a')).toMatchObject({ isWritten: false });
    const unready = { ...pod, ready: false, readyChangedAt: T0 + 3000 };
    const found = plan([{ pod: unready, measured: using(300) }, b], { memory: cut.memory, now: T0 + 4000 });
    expect(podOf(found, 'a')).toMatchObject({ isWritten: true, isForced: true, target: { request: 900 } });
    expect(podOf(found, 'a')?.clamps).toContainEqual(expect.objectContaining({ reason: 'RolledBack', after: 900 }));
  });

  test('integration 9: a pod that is starting is not found greedy, the same one that has started is', () => {
    const greed = { ticksAtShare: 50, isGreedy: false, calmTicks: 0 };
    const known = { demand: undefined, probes: { restarts: 0, restartedAt: undefined }, greed, writes: [] };
    const hogOf = (startedAt: number): PodPlan | undefined => {
      const pod = testPod('hog', { request: 300 }, { startedAt });
      const pods = [{ pod, measured: using(1200, undefined, 0.9) }, entry('b', 1500)];
      return podOf(plan(pods, { memory: new Map([['uid-hog', known]]) }), 'hog');
    };
    expect(hogOf(T0 - 10_000)).toMatchObject({ isGreedy: false, target: { limit: undefined } });
    expect(hogOf(T0 - 3_600_000)).toMatchObject({ isGreedy: true, target: { limitPolicy: 'Apply' } });
  });

  test('integration 9: a ceiling is lifted, however greedy the pod', () => {
    const greed = { ticksAtShare: 9, isGreedy: true, calmTicks: 0 };
    const probes = { restarts: 0, restartedAt: undefined, held: { share: 300, limit: undefined } };
    const memory = new Map([['uid-hog', { demand: undefined, probes, greed, writes: [] }]]);
    const pod = testPod('hog', { request: 300, limit: 330 }, { ready: false, readyChangedAt: T0 });
    const original = { request: 300, limit: undefined };
    const found = plan([{ pod, measured: using(330, 0.9), original }, entry('b', 1500)], { memory });
    expect(podOf(found, 'hog')).toMatchObject({ isGreedy: false, target: { limitPolicy: 'Lift' } });
  });
});
