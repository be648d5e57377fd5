/** Runs a scenario: the embedded cluster and the real operator in virtual time, judged at every step. The same seed gives the same run. */
import { resolve } from 'node:path';
import { readManifests } from '../api/manifests.ts';
import { StowageError } from '../lib/errors.ts';
import { createSilentLogger, type Logger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { Side } from '../model/records.ts';
import { createAllocationJudge } from './allocation-judge.ts';
import { startDrivers } from './drivers.ts';
import { createJudge, type Judge } from './judge.ts';
import { listenForMistakes } from './listen-for-mistakes.ts';
import { lieAbout, type MetricsLie } from './lying-metrics.ts';
import { createMarket } from './market.ts';
import { AGENT_USER, type NodeAgents, startNodeAgents } from './node-agents.ts';
import { tellByNodeClocks } from './node-clocks.ts';
import { agentEnv, objectsOf, poolOf, quotasOf, type SimulatedPool, systemObjects, webhookObject } from './objects.ts';
import type { SimulatedOperator, StartSimulatedOperator } from './operator-port.ts';
import { createOperatorTeam } from './operator-team.ts';
import { createPolicyBook } from './policy-book.ts';
import { randomStream } from './random-stream.ts';
import { figuresOf, poolReports, type SimulationReport } from './report.ts';
import { createRestInspector } from './rest-inspector.ts';
import { checkAssertion } from './scenario/assertions.ts';
import type { Scenario } from './scenario/schema.ts';
import { playScript } from './script/script.ts';
import type { SimulationSeries } from './series.ts';
import { createSeriesReader } from './series-reading.ts';
import { recordSeries } from './series-recorder.ts';
import { changedConfig, simulationConfig } from './simulation-config.ts';
import { drawSkews } from './skewed-clock.ts';
import { createWorld, type World } from './world.ts';

/** A scenario, the operator to try, and whoever watches the run. */
export interface SimulateOptions {
  readonly scenario: Scenario;
  /** Folder that the scenario's manifests are relative to. */
  readonly folder: string;
  readonly startOperator: StartSimulatedOperator;
  /** Default the scenario's. */
  readonly seed?: number;
  /** The report is to have its series; nothing else changes. Default no. */
  readonly withSeries?: boolean;
  readonly log?: Logger;
  /** Told now and then how far the run is, 0..1. */
  readonly onProgress?: (done: number) => void;
  /** Ends the run early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const OPERATOR_USER = 'system:serviceaccount:spotalis-system:spotalis';
/** For the operator to come up before there is anything to do. */
const WARM_UP_MILLIS = 5000;
/** How often progress is told, the fleet at rest judged, and the signal looked at; in virtual time. */
const CHUNK_MILLIS = 60_000;

/**
 * @throws StowageError when the scenario's operator configuration or objects cannot be used.
 */
export async function simulate(options: SimulateOptions): Promise<SimulationReport> {
  const { scenario, signal } = options;
  const seed = options.seed ?? scenario.seed;
  const { config, warnings } = simulationConfig(scenario);
  const pools = scenario.pools.map(poolOf);
  const clock = createVirtualClock(scenario.start);
  let judge: Judge | undefined;
  const log = listenForMistakes(options.log ?? createSilentLogger(), (mistake) =>
    judge?.ledger.check('sound', mistake === undefined, () => mistake ?? ''),
  );
  const manifests = await readManifests(scenario.manifests.map((path) => resolve(options.folder, path)));
  const nodeSkewOf = drawSkews(scenario.nodeClockSkew, randomStream(seed, 'node-clocks'));
  const metrics: { isUp: boolean; lie: MetricsLie | undefined } = { isUp: true, lie: undefined };
  const policies = createPolicyBook(scenario.policies, clock);
  const world = await createWorld({
    clock,
    random: randomStream(seed, 'cluster'),
    log,
    cluster: {
      pools,
      // Simulations of many pods need the memory; only server-side apply and writers who are told apart need the fields.
      apiServer: { managedFields: config.engines.rightsizing || scenario.events.some((event) => event.do === 'rival') },
      ...(config.engines.rightsizing && {
        metricsServer: { isUp: () => metrics.isUp, told: (truth) => lieAbout(truth, () => metrics.lie) },
      }),
    },
    startOperator: (given) =>
      options.startOperator({
        ...given,
        ...(scenario.nodeClockSkew > 0 && { api: tellByNodeClocks(given.api, nodeSkewOf) }),
      }),
    config,
    skewOf: drawSkews(scenario.clockSkew, randomStream(seed, 'clocks')),
    userOf: (identity) => `${OPERATOR_USER}/${identity}`,
    observer: {
      onWrite: (write, identity) => judge?.onWrite(write, identity),
      onRead: (verb, resource, identity) => judge?.onRead(verb, resource, identity),
    },
    onAdmission: (answer) => judge?.onAdmission(answer),
  });
  const stopping = new AbortController();
  let agents: NodeAgents | undefined;
  try {
    judge = createJudge({
      cluster: world.cluster,
      config,
      clock,
      policies,
      replicas: () => world.replicas().values(),
      hasQuota: quotasOf(scenario, manifests.objects),
      sideOfNode: sideByName(pools),
      clockErrors: world.clockErrors,
    });
    const problems = [...warnings, ...manifests.problems];
    await applyAll(world, [...systemObjects(config), webhookObject()]);
    if (config.engines.allocation)
      agents = startNodeAgents({
        cluster: world.cluster,
        share: scenario.agents,
        env: agentEnv(config),
        clock,
        random: randomStream(seed, 'agents'),
        log,
        signal: stopping.signal,
      });
    const team = createOperatorTeam({
      world,
      clock,
      problems,
      signal: stopping.signal,
      onChange: judge.onOperatorChange,
    });
    for (let index = 0; index < scenario.replicas; index++) await team.start();
    await clock.advance(WARM_UP_MILLIS);

    const startedAt = clock.now();
    const read = options.withSeries === true && createSeriesReader({ cluster: world.cluster, judge, pools });
    const recorder = read ? recordSeries({ clock, durationMillis: scenario.duration, read }) : undefined;
    const objects = [...objectsOf(scenario), ...manifests.objects];
    await applyAll(world, objects);
    const endDrivers = startDrivers({ cluster: world.cluster, clock, fleet: judge.fleet, scenario, pools, seed });
    const market = createMarket(pools, world.cluster.autoscaler.setPoolAvailability);
    let operatorFile: Readonly<Record<string, unknown>> = scenario.operator;
    const played = playScript(
      {
        cluster: world.cluster,
        clock,
        random: randomStream(seed, 'script'),
        pools,
        market,
        fleet: judge.fleet,
        events: scenario.events,
        users: { operator: `${OPERATOR_USER}*`, agents: AGENT_USER },
        changePolicy: (key, spec) => policies.change(key, spec),
        removePolicy: policies.remove,
        setMetricsUp: (isUp) => {
          metrics.isUp = isUp;
        },
        setMetricsLie: (lie) => {
          metrics.lie = lie;
        },
        replaceAgents: async (count, after) => await agents?.replace(count, after),
        setWebhookTrouble: world.setWebhookTrouble,
        reloadConfig(change, reaches) {
          const changed = changedConfig(scenario, operatorFile, change);
          operatorFile = changed.operator;
          judge?.onConfig(changed.config);
          const [oldest] = world.replicas().values();
          world.applyConfig(changed.config, reaches === 'all' || oldest === undefined ? undefined : [oldest]);
        },
        replaceOperator: team.replace,
        replaceAtWrite: team.replaceAtWrite,
        isolateOperator: team.isolate,
        setClock: team.setClock,
        upheavals: { objects, onPoliciesGone: policies.removeAll, onPoliciesBack: policies.renewAll },
        onNodeLost: judge.onNodeLost,
        onNodeDrained: judge.onNodeDrained,
        onPools: () => judge?.onPools(market.isSpotAvailable()),
        onProblem: (problem) => problems.push(problem),
      },
      stopping.signal,
    );

    const endsAt = startedAt + scenario.duration;
    const inspectRest = createRestInspector({
      clock,
      endsAt,
      judge,
      replicas: () => world.replicas().values(),
      isDisturbed: () => world.cluster.server.faults.active().length > 0,
      ...(agents !== undefined && {
        judgeReturned: createAllocationJudge({
          caches: world.cluster.caches,
          config,
          clock,
          ledger: judge.ledger,
          deadSince: agents.deadSince,
        }),
      }),
    });
    while (clock.now() < endsAt) {
      signal?.throwIfAborted();
      await clock.advance(Math.min(CHUNK_MILLIS, endsAt - clock.now()));
      inspectRest();
      options.onProgress?.((clock.now() - startedAt) / scenario.duration);
    }
    const series = recorder?.end();
    judge.settleAll();
    endDrivers();
    stopping.abort();
    await played;
    return reportOf(scenario, seed, { judge, world, pools, problems, elapsedMillis: clock.now() - startedAt, series });
  } finally {
    stopping.abort();
    if (agents !== undefined) await world.settled(agents.stop());
    await world.stop();
  }
}

interface Finished {
  readonly judge: Judge;
  readonly world: World<SimulatedOperator>;
  readonly pools: readonly SimulatedPool[];
  readonly problems: readonly string[];
  readonly elapsedMillis: number;
  readonly series: SimulationSeries | undefined;
}

function reportOf(scenario: Scenario, seed: number, finished: Finished): SimulationReport {
  const { judge, world, problems, elapsedMillis, series } = finished;
  const pools = poolReports(finished.pools, world.cluster.autoscaler.nodeHours());
  const violations = judge.ledger.violations();
  const figures = figuresOf(judge.tally(elapsedMillis), judge.accounts.sums(), pools, judge.ledger.broken());
  return {
    scenario: scenario.name,
    description: scenario.description,
    seed,
    figures,
    pools,
    reasons: judge.reasons(),
    asserts: scenario.asserts.map((assertion) => checkAssertion(assertion, figures)),
    violations,
    checks: judge.ledger.checks(),
    problems,
    ...(series !== undefined && { series }),
  };
}

async function applyAll(
  world: World<SimulatedOperator>,
  objects: Parameters<World<SimulatedOperator>['cluster']['apply']>[0],
) {
  const { problems } = await world.settled(world.cluster.apply(objects));
  if (problems.length > 0) throw new StowageError('SCENARIO_OBJECTS', `cannot be created: ${problems.join('; ')}`);
}

/** Nodes are named after their pool. */
function sideByName(pools: readonly SimulatedPool[]): (node: string) => Side | undefined {
  const sides = new Map(pools.map((pool): [string, Side] => [pool.name, pool.class]));
  return (node) => sides.get(node.slice(0, node.lastIndexOf('-')));
}
