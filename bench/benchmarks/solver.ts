/**
 * The fair-share solver on one node of 110 pods and on 10,000 pods at once, and the whole plan of a node of 110. The baseline
 * of the same run finds the same solution by bisection.
 */

import type { NodeInput, NodeMemory } from '../../src/decide/allocation/node-input.ts';
import { planNode } from '../../src/decide/allocation/plan-node.ts';
import type { Bid } from '../../src/decide/allocation/problem.ts';
import { solve } from '../../src/decide/allocation/solve.ts';
import { oracle } from '../../src/decide/allocation/testing/oracle.ts';
import { T0, testInput, testNode, testPod } from '../../src/decide/allocation/testing/pods.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import { type BenchResult, quantile } from '../bench-result.ts';

const random = createSeededRandom(1);
const between = (least: number, most: number): number => Math.floor(least + (most - least) * random.next());

/** Claims fill a third of the node, wants one and a half of it. */
function makeProblem(pods: number): { bids: Bid[]; capacity: number } {
  const bids = Array.from({ length: pods }, () => {
    const min = between(10, 200);
    // Uids in no order, as the API server makes them.
    const uid = `${between(0x10000000, 0xffffffff).toString(16)}-${between(0x10000000, 0xffffffff).toString(16)}`;
    return { uid, weight: 2 ** (6 * random.next() - 3), min, max: min + between(0, 800) };
  });
  return { bids, capacity: 300 * pods };
}

function medianMillis(runs: number, work: () => unknown): number {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    work();
    times.push(performance.now() - start);
  }
  return quantile(times, 0.5);
}

const large = makeProblem(10_000);
const small = makeProblem(110);
medianMillis(300, () => solve(small));
const solveLarge = medianMillis(21, () => solve(large));
const bisectLarge = medianMillis(5, () => oracle(large.bids, large.capacity));
const solveSmall = medianMillis(201, () => solve(small));
const bisectSmall = medianMillis(51, () => oracle(small.bids, small.capacity));

const wanted = oracle(large.bids, large.capacity);
const found = solve(large);
const error = Math.max(...found.exact.map((x, index) => Math.abs(x - (wanted[index] ?? Number.NaN))));
if (!(error < 1e-3)) throw new Error(`the solver and bisection differ by ${error}`);
if (found.mode !== 'congested') throw new Error('the problem of this benchmark must be congested');

const pods = Array.from({ length: 110 }, (_, index) => ({
  pod: testPod(`pod-${index}`, { request: 100 + index, marks: { 'mbcas.io/weight': String(1 + (index % 5)) } }),
  measured: { usage: between(10, 400), throttledRatio: undefined, pressure: 0.2 * random.next() },
}));
let memory: NodeMemory = new Map();
let now = T0;
const input = (): NodeInput => testInput(pods, { node: testNode({ allocatable: 24_000 }), memory, now });
const plan = medianMillis(201, () => {
  ({ memory } = planNode(input()));
  now += 2000;
});

const result: BenchResult = {
  name: 'solver',
  figures: {
    solve_10000_ms: solveLarge,
    solve_110_ms: solveSmall,
    bisection_10000_ms: bisectLarge,
    bisection_110_ms: bisectSmall,
    to_bisection_10000_ratio: solveLarge / bisectLarge,
    to_bisection_110_ratio: solveSmall / bisectSmall,
    largest_error_millicores: error,
    plan_110_ms: plan,
  },
  bars: [
    { key: 'solve_10000_ms', op: '<=', value: 20 },
    { key: 'solve_110_ms', op: '<=', value: 1 },
    { key: 'largest_error_millicores', op: '<=', value: 0.001 },
  ],
};
console.log(JSON.stringify(result));
