import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { shopRules, viewOf } from '../testing/plan-shop.ts';
import { type Manifest, shopCluster, workload } from '../testing/shop.ts';
import type { DemoWorld } from './demo-world.ts';
import type { Frame } from './frame.ts';
import { createInvariantMonitor } from './invariants.ts';
import { type Played, play } from './play.ts';
import type { Presenter } from './presenter.ts';

const web = (pods: readonly string[]): Manifest[] => [
  ...shopCluster(),
  ...workload({ name: 'web', annotations: { 'spot-percentage': '50', 'min-on-demand': '1' }, pods, replicas: 2 }),
];
const atRest = viewOf(web(['od-1', 'spot-1']));
const onlySpot = viewOf(web(['spot-1', 'spot-2']));

function setUp(view: ClusterView, evictions: () => number = () => 0) {
  const clock = createVirtualClock(0);
  const acts: string[] = [];
  const announced: string[] = [];
  const frames: Frame[] = [];
  let restarts = 0;
  let tell: Parameters<DemoWorld['onDecision']>[0] = () => {};
  const world: DemoWorld = {
    view,
    rules: shopRules,
    kubeconfig: '/k',
    dashboard: undefined,
    actor: {
      applyWorkloads: async () => void acts.push('apply'),
      interrupt: () => void acts.push('interrupt'),
      scale: async () => void acts.push('scale'),
      setSpotPercentage: async () => void acts.push('percent'),
    },
    budgets: () => [],
    evictions,
    restarts: () => restarts,
    shares: () => [{ name: 'checkout', request: clock.now() < 2000 ? 100 : 400, limit: undefined, used: 200 }],
    onDecision(listener) {
      tell = listener;
      return () => {
        tell = () => {};
      };
    },
    failed: new Promise(() => {}),
    stop: async () => {},
  };
  const presenter: Presenter = {
    announce: (text) => void announced.push(text),
    decision() {},
    show: (frame) => void frames.push(frame),
    end() {},
  };
  const monitor = createInvariantMonitor();
  const stopper = new AbortController();
  const start = (runMillis: number | undefined): Promise<Played> =>
    play({ world, monitor, presenter, clock, startedAt: 0, runMillis, signal: stopper.signal });
  return {
    clock,
    acts,
    announced,
    frames,
    monitor,
    stopper,
    start,
    restart: () => {
      restarts++;
    },
    tell: (text: string) => tell({ at: 0, text, isWarning: false }),
  };
}

const broken = ({ monitor }: ReturnType<typeof setUp>): string[] =>
  monitor.results().flatMap(({ invariant, violation }) => (violation === undefined ? [] : [invariant]));

describe('play', () => {
  test('one chapter follows the other once all is at rest, until the time is up', async () => {
    const stage = setUp(atRest);
    const playing = stage.start(14_000);
    await stage.clock.advance(20_000);
    expect(await playing).toMatchObject({ chapters: 3, evictions: 0 });
    // Nothing has grown in this view, so nothing shrinks.
    expect(stage.acts).toEqual(['apply', 'interrupt', 'scale', 'interrupt']);
    expect(stage.announced.filter((text) => text.startsWith('Chapter'))).toHaveLength(4);
    expect(broken(stage)).toEqual([]);
    expect(stage.clock.pendingTimers()).toBe(0);
  });

  test('a cluster that does not come to rest is judged when its time is up, and the story goes on', async () => {
    const stage = setUp(onlySpot);
    const playing = stage.start(190_000);
    await stage.clock.advance(170_000);
    expect(broken(stage)).toEqual([]);
    await stage.clock.advance(30_000);
    expect((await playing).chapters).toBe(1);
    expect(broken(stage)).toEqual(['exact']);
  });

  test('its time is not up before the first chapter is at its end, for two minutes more', async () => {
    const stage = setUp(onlySpot);
    const playing = stage.start(40_000);
    await stage.clock.advance(155_000);
    expect(stage.frames.at(-1)?.elapsedMillis).toBeGreaterThan(150_000);
    await stage.clock.advance(10_000);
    expect(await playing).toMatchObject({ chapters: 0 });
    expect(broken(stage)).toEqual([]);
  });

  test('an operator that had to start anew is an excuse, and gives the chapter more time', async () => {
    let evictions = 0;
    const stage = setUp(onlySpot, () => evictions);
    const playing = stage.start(200_000);
    await stage.clock.advance(10_000);
    stage.restart();
    await stage.clock.advance(1_000);
    evictions = 7;
    await stage.clock.advance(100_000);
    expect(broken(stage)).toEqual([]);
    expect(stage.announced.at(-1)).toContain('stood still');
    await stage.clock.advance(100_000);
    expect((await playing).chapters).toBe(1);
    expect(broken(stage)).toEqual(['exact']);
  });

  test('where it starts anew between two chapters, the next one waits for rest', async () => {
    let evictions = 0;
    const stage = setUp(atRest, () => evictions);
    const playing = stage.start(9_000);
    await stage.clock.advance(3_000);
    stage.restart();
    await stage.clock.advance(500);
    evictions = 3;
    await stage.clock.advance(10_000);
    expect((await playing).chapters).toBe(2);
    expect(broken(stage)).toEqual([]);
  });

  test('spot nodes are lost too seldom to be a storm, however long it runs', async () => {
    const stage = setUp(atRest);
    const at: number[] = [];
    const push = stage.acts.push.bind(stage.acts);
    stage.acts.push = (...words) => {
      if (words.includes('interrupt')) at.push(stage.clock.now());
      return push(...words);
    };
    const playing = stage.start(960_000);
    await stage.clock.advance(970_000);
    await playing;
    expect(at.length).toBeGreaterThan(2);
    for (const [index, third] of at.slice(2).entries()) expect(third - (at[index] ?? 0)).toBeGreaterThan(600_000);
  });

  test('the signal ends it within a tick, without a verdict on what was under way', async () => {
    const stage = setUp(onlySpot);
    const playing = stage.start(undefined);
    await stage.clock.advance(5_000);
    stage.stopper.abort();
    expect(await playing).toMatchObject({ chapters: 0, evictions: 0 });
    expect(broken(stage)).toEqual([]);
  });

  test('what is told in the end is how shares have moved since both pods ran', async () => {
    const stage = setUp(atRest);
    const playing = stage.start(5_000);
    await stage.clock.advance(6_000);
    const { shares } = await playing;
    expect(shares.last).toEqual([{ name: 'checkout', request: 400, limit: undefined, used: 200 }]);
  });

  test('frames carry the story, the clock, decisions, and what is broken', async () => {
    let evictions = 0;
    const stage = setUp(atRest, () => evictions);
    const playing = stage.start(3_000);
    await stage.clock.advance(500);
    stage.tell('shop/web: something');
    evictions = 1;
    await stage.clock.advance(5_000);
    await playing;
    const last = stage.frames.at(-1);
    expect(last?.story).toContain('Chapter 1');
    expect(last?.decisions.map(({ text }) => text)).toEqual(['shop/web: something']);
    expect(last?.violations).toEqual([
      'new pods land on the right side without an eviction (1 eviction, 0 expected at most)',
    ]);
    expect(last?.nodes).toHaveLength(4);
    expect(last?.shares).toBe('CPU of shared-1: checkout asks 400m, uses 200m');
    expect(stage.frames[1]?.elapsedMillis).toBe(250);
  });
});
