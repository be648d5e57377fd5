import { describe, expect, test } from 'vitest';
import type { PlannedWorkload } from '../fleet.ts';
import { planObjects } from '../testing/plan-shop.ts';
import { shopCluster, workload } from '../testing/shop.ts';
import type { NodeLine } from './frame.ts';
import { type Actor, type Chapter, isAtRest, nextChapter, type Scene } from './story.ts';

const spotNode: NodeLine = { name: 'spot-1', class: 'spot', state: 'ready', pods: 'web 5', podCount: 5 };
const half = { 'spot-percentage': '50', 'min-on-demand': '1' };
const many = Array.from({ length: 10 }, (_, index) => (index < 5 ? 'spot-1' : 'od-1'));
const web = (pods: readonly string[], annotations: Readonly<Record<string, string>> = half): PlannedWorkload[] =>
  planObjects([
    ...shopCluster(),
    ...workload({ name: 'web', annotations, pods }),
    ...workload({ kind: 'StatefulSet', name: 'db', annotations: half, pods: ['od-1', 'spot-1'] }),
  ]);
const scene = (workloads: readonly PlannedWorkload[], nodes: readonly NodeLine[] = [spotNode], first = 4): Scene => ({
  workloads,
  nodes,
  isCalm: true,
  firstReplicas: new Map([['Deployment/shop/web', first]]),
});

/** What a chapter does, as words. */
async function acts(chapter: Chapter): Promise<string[]> {
  const done: string[] = [];
  const actor: Actor = {
    applyWorkloads: async () => void done.push('apply'),
    interrupt: (node) => void done.push(`interrupt ${node}`),
    scale: async ({ name }, replicas) => void done.push(`scale ${name} ${replicas}`),
    setSpotPercentage: async ({ name }, percent) => void done.push(`percent ${name} ${percent}`),
  };
  await chapter.act(actor);
  return done;
}

describe('nextChapter', () => {
  test.each([
    [0, ['apply'], false],
    [1, ['interrupt spot-1'], true],
    [2, ['scale web 16'], false],
    [3, ['percent web 20'], false],
    [4, ['scale web 5'], false],
    [5, ['percent web 80'], false],
    [6, ['interrupt spot-1'], true],
  ])('after %d chapters: %j', async (done, expected, losesNodes) => {
    const chapter = nextChapter(scene(web(many)), done);
    expect(await acts(chapter)).toEqual(expected);
    expect(chapter.circumstances).toEqual({ losesNodes });
    expect(chapter.text).toMatch(new RegExp(`^Chapter ${done + 1}: `));
  });

  test('the text names what is to be seen', () => {
    expect(nextChapter(scene(web(many)), 3).text).toContain('web is set from 50 to 20 % spot. 3 pods must move');
    expect(nextChapter(scene(web(many)), 2).text).toContain(
      'grows from 10 to 16 replicas, which makes 8 on spot and 8 on on-demand',
    );
  });

  test('what the scene does not lend itself to is left out', async () => {
    const withoutSpot = nextChapter(scene(web(many), [{ ...spotNode, state: 'leaving' }]), 1);
    expect(await acts(withoutSpot)).toEqual(['scale web 16']);
    const nothing = nextChapter(scene([], []), 1);
    expect(await acts(nothing)).toEqual([]);
    expect(nothing.text).toContain('nothing happens');
  });

  test('no node is taken that would make it a storm: the others go on', async () => {
    const stormy = { ...scene(web(many)), isCalm: false };
    expect(await acts(nextChapter(stormy, 1))).toEqual(['scale web 16']);
  });

  test('the percentage of a workload with a window stays: its pods could not be moved now', async () => {
    const nightly = { ...half, 'disruption-schedule': '0 2 * * *', 'disruption-duration': '1h' };
    expect(await acts(nextChapter(scene(web(many, nightly)), 3))).toEqual(['scale web 5']);
  });

  test('a workload shrinks by half, and never below what it was at first', async () => {
    expect(await acts(nextChapter(scene(web(many), [spotNode], 8), 4))).toEqual(['scale web 8']);
    expect(await acts(nextChapter(scene(web(many), [spotNode], 10), 4))).toEqual(['percent web 80']);
  });

  test('a workload grows to 24 replicas at most', async () => {
    const pods = (count: number) => Array.from({ length: count }, (_, index) => (index % 2 === 0 ? 'spot-1' : 'od-1'));
    expect(await acts(nextChapter(scene(web(pods(20))), 2))).toEqual(['scale web 24']);
    expect(await acts(nextChapter(scene(web(pods(24))), 2))).not.toEqual(['scale web 24']);
  });

  test('a change of percentage that moves nothing is left out', async () => {
    const allOnDemand = web(Array<string>(10).fill('od-1'), { 'spot-percentage': '0' });
    expect(await acts(nextChapter(scene(allOnDemand), 3))).toEqual(['scale web 5']);
  });
});

describe('isAtRest', () => {
  test.each([
    ['every pod ready and on its side', web(many), true],
    ['a wrong mix', web([...many.slice(1), 'od-1']), false],
    ['a pod without a node', web([...many.slice(1), '']), false],
    ['no workload at all', [], false],
  ])('%s', (_name, workloads, expected) => {
    expect(isAtRest(workloads)).toBe(expected);
  });
});
