/** Runs `stowage operator`: configuration, logs, connection, then the operator until it is told to stop. */
import { randomUUID } from 'node:crypto';
import { homedir, hostname } from 'node:os';
import { loadConfigFile } from '../../config/load.ts';
import { followConfigFile } from '../../config/reload.ts';
import { loadConnection } from '../../kube/auth/load-connection.ts';
import { createKubeApi } from '../../kube/client.ts';
import { createLoopDelayMeter } from '../../kube/loop-delay.ts';
import { defaultRateLimits } from '../../kube/rate-limiter.ts';
import { createMonotonicTime } from '../../lib/clock.ts';
import { createLogger, createStderrWriter, type Logger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { proxyOfSources } from '../../observe/usage/source-proxy.ts';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { RunningOperator, StartOperator, StartOperatorOptions } from '../operator-port.ts';
import { namingFlags, withOptipodFlags } from './optipod-flags.ts';

/** Besides these, OptiPod's flags. */
export interface OperatorCommandOptions extends Readonly<Record<string, unknown>> {
  /** Configuration file; undefined means defaults and environment. */
  readonly config?: string;
}

/** What the command cannot know by itself. */
export interface RunOptions {
  readonly start: StartOperator;
  /** Stowage's version. */
  readonly version: string;
}

/** Who gives it means "nowhere else": without a word it would act in all namespaces. */
const NOT_ITS_NAMESPACE =
  'the operator does not go by -n; set controllers.watchNamespaces in its configuration for one that acts in some namespaces only, and leave -n out';

/**
 * @throws UsageError for `-n`; ConfigError, KubeconfigError or StowageError when it cannot start, or has to end on its
 *   own: the lease was lost.
 */
export async function runOperator(
  { io, global }: CliContext,
  options: OperatorCommandOptions,
  { start, version }: RunOptions,
): Promise<ExitCode> {
  if (global.namespace !== undefined) throw new UsageError(NOT_ITS_NAMESPACE);
  const { clock, random, signal } = io;
  const overlay = withOptipodFlags(io.env, options);
  const { env } = overlay;
  const { config, warnings } = namingFlags(overlay.flagOf, () => loadConfigFile(options.config, env));
  const { level, format } = config.observability.logging;
  const log = createLogger({ level, format, clock, write: createStderrWriter() });
  for (const warning of [...overlay.warnings, ...warnings]) log.warn({}, warning);
  const { kubeconfig, context } = global;
  const connection = await loadConnection({
    env,
    clock,
    homeDirectory: homedir(),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  });
  const { qps, burst } = config.controllers.rateLimit;
  // The reserve for leases has to be smaller than the burst it is a part of.
  const limits = { qps, burst, reserve: Math.min(defaultRateLimits.reserve, Math.floor(burst / 2)) };
  const metrics = createMetrics({ processMetrics: true });
  metrics.set('stowage_build_info', { version }, 1);
  metrics.set('stowage_watched_namespaces', {}, config.controllers.watchNamespaces.length);
  const api = createKubeApi({
    connection,
    clock,
    random,
    log: log.child('kube'),
    limits,
    onRequest: ({ throttledMillis }) => metrics.observe('stowage_api_throttle_seconds', {}, throttledMillis / 1000),
  });
  // It forgets old stalls: one long ago must not cost the leadership for ever.
  const loopDelay = createLoopDelayMeter(clock);
  metrics.onRender(() => {
    const delay = 'stowage_event_loop_delay_seconds';
    for (const quantile of [0.5, 0.99] as const)
      metrics.set(delay, { quantile: String(quantile) }, loopDelay.quantileMillis(quantile) / 1000);
    metrics.set(delay, { quantile: '1' }, loopDelay.maxMillis() / 1000);
  });
  const ending = new AbortController();
  try {
    const operator = await startUnlessStopped({
      config,
      api,
      clock,
      random,
      log,
      identity: `${hostname()}_${randomUUID()}`,
      loopDelayMillis: () => loopDelay.maxMillis(),
      monotonic: createMonotonicTime(),
      metrics,
      signal,
      sourceProxy: proxyOfSources(env),
      // Set by the Deployment from the pod's own address (downward API).
      ...(env['POD_IP'] !== undefined && { advertisedHost: env['POD_IP'] }),
    });
    if (operator === undefined) return exitCodes.ok;
    log.info({ server: connection.server.href, connection: connection.description }, 'Started');
    if (options.config !== undefined) followConfig(options.config, operator, log, ending.signal);
    const stop = (): void => void operator.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    await operator.ended;
    return exitCodes.ok;
  } finally {
    ending.abort();
    loopDelay.close();
    api.close();
  }

  /** Undefined where it was told to stop before it had started. */
  async function startUnlessStopped(all: StartOperatorOptions): Promise<RunningOperator | undefined> {
    try {
      return await start(all);
    } catch (error) {
      if (error !== signal.reason) throw error;
      log.info({}, 'Stopped before it had started');
      return undefined;
    }
  }

  function followConfig(path: string, operator: RunningOperator, logger: Logger, until: AbortSignal): void {
    followConfigFile({
      path,
      env,
      clock,
      initial: config,
      signal: until,
      onValid: () => metrics.set('stowage_config_invalid', {}, 0),
      onChange: (change) => {
        for (const warning of change.warnings) logger.warn({}, warning);
        logger.info({ changed: change.changed, needRestart: change.needRestart }, 'The configuration changed');
        const result = change.needRestart.length > 0 ? 'restart-needed' : 'applied';
        metrics.inc('stowage_config_reloads_total', { result });
        operator.applyConfig(change.config);
      },
      onInvalid: (error) => {
        metrics.inc('stowage_config_reloads_total', { result: 'invalid' });
        metrics.set('stowage_config_invalid', {}, 1);
        logger.error({ error }, 'The changed configuration is not valid; the one before stays in force');
      },
    });
  }
}
