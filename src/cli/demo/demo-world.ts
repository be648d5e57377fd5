/** The demo's world: the embedded cluster on real sockets, the operator on it as it runs anywhere, and an observer of both. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compilePlacementRules, type PlacementRules } from '../../controllers/placement/rules.ts';
import type { Clock } from '../../lib/clock.ts';
import { createLogger, type Logger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { placementSettingsOf } from '../../operator/placement-settings.ts';
import type { StartOperator } from '../operator-port.ts';
import { createActor } from './actor.ts';
import { type Cleanup, createCleanup } from './cleanup.ts';
import { createDemoCertificates } from './demo-certificates.ts';
import { startDemoCluster } from './demo-cluster.ts';
import { type DemoObserver, startDemoObserver } from './demo-observer.ts';
import { startDemoOperator } from './demo-operator.ts';
import { startDemoReport } from './demo-report.ts';
import { demoConfig, demoPrices } from './demo-settings.ts';
import { type DemoShares, startDemoShares } from './demo-shares.ts';
import { addDemoPolicy } from './demo-sizing.ts';
import type { Actor } from './story.ts';

export interface DemoWorld extends Omit<DemoObserver, 'onSynced'>, DemoShares {
  readonly rules: PlacementRules;
  readonly actor: Actor;
  /** For `kubectl --kubeconfig`. */
  readonly kubeconfig: string;
  /** Where the operator serves its dashboard; undefined where it could not. */
  readonly dashboard: string | undefined;
  /** Evictions the API server has granted to the operator so far. */
  evictions(): number;
  /** How often the operator was started anew because the machine had stood still. */
  restarts(): number;
  /** Rejects when the operator ends by itself for any other reason. */
  readonly failed: Promise<never>;
  /** Ends everything and removes every file. */
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly clock: Clock;
  readonly seed: number;
  readonly startOperator: StartOperator;
}

/** @throws whatever kept a part from starting; nothing is left behind then. */
export async function startWorld(options: WorldOptions): Promise<DemoWorld> {
  const cleanup = createCleanup();
  try {
    return await build(options, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function build({ clock, seed, startOperator }: WorldOptions, cleanup: Cleanup): Promise<DemoWorld> {
  const folder = makeFolder(cleanup);
  const log = openLog(folder, clock, cleanup);
  const random = createSeededRandom(seed);
  const certificates = await createDemoCertificates(clock.now());

  const { cluster, writeKubeconfig } = await startDemoCluster({
    clock,
    random,
    log: log.child('cluster'),
    folder,
    certificates,
    cleanup,
  });
  const kubeconfig = writeKubeconfig('kubeconfig', 'kubernetes-admin', ['system:masters']);
  const prices = join(folder, 'prices.yaml');
  writeFileSync(prices, demoPrices());
  const reports = join(folder, 'reports');
  const config = demoConfig({ prices, reports });
  await addDemoPolicy(cluster);
  const { operator, evictions } = await startDemoOperator({
    admin: cluster.api,
    kubeconfig: writeKubeconfig('operator.kubeconfig', 'stowage-operator', []),
    config,
    certificates,
    startOperator,
    clock,
    random,
    log,
    cleanup,
  });
  const { dashboard } = operator.ports;
  const { shares } = await startDemoShares({ cluster, clock, random, log: log.child('agents'), cleanup });
  startDemoReport({ folder: reports, startOperator, clock, log: log.child('simulation'), cleanup });
  const observer = startDemoObserver({ api: cluster.api, clock, random, log: log.child('observer'), cleanup });
  await Promise.all([operator.synced, observer.onSynced]);
  return {
    ...observer,
    rules: compilePlacementRules(placementSettingsOf(config)),
    actor: createActor(cluster),
    kubeconfig,
    dashboard: dashboard === undefined ? undefined : `http://127.0.0.1:${dashboard}/`,
    evictions,
    shares,
    restarts: operator.restarts,
    failed: operator.failed,
    stop: () => cleanup.run(),
  };
}

function makeFolder(cleanup: Cleanup): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-demo-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // However the process ends, by a crash or a second Ctrl-C too.
  process.once('exit', remove);
  cleanup.defer(() => process.off('exit', remove));
  cleanup.defer(remove);
  return folder;
}

function openLog(folder: string, clock: Clock, cleanup: Cleanup): Logger {
  const file = openSync(join(folder, 'demo.log'), 'a');
  cleanup.defer(() => closeSync(file));
  return createLogger({ level: 'info', format: 'json', clock, write: (line) => void writeSync(file, line) });
}
