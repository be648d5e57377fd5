/** What the agent says of itself: `/healthz` as MBCAS answered it, and `/readyz`. */
import type { EpochMillis, Millis } from '../lib/units.ts';
import { isoText } from '../lib/utc-text.ts';
import { type Endpoint, jsonAnswer, textAnswer } from '../web/endpoint-server.ts';

/** Figures at one moment. */
export interface AgentHealth {
  readonly cgroupDetection: string;
  readonly podsTracked: number;
  readonly podsManaged: number;
  readonly lastSampleAt: EpochMillis | undefined;
  readonly lastWriteAt: EpochMillis | undefined;
  readonly samplesSinceStart: number;
  readonly writesSinceStart: number;
  readonly startedAt: EpochMillis;
  readonly now: EpochMillis;
  readonly gracePeriodMillis: Millis;
  readonly blockedBecause: string | undefined;
  readonly isWriterWaiting: boolean;
  readonly problems: readonly string[];
}

/** A loop that has not sampled for so long is stuck... */
const STUCK: Millis = 30_000;
/** ...unless the process has only just started. */
const STARTING: Millis = 60_000;

/** By the wall clock: where it is set forward, unhealthy until the next sample a second later. */
export function isHealthy({ lastSampleAt, startedAt, now }: AgentHealth): boolean {
  if (now - startedAt < STARTING) return true;
  return lastSampleAt !== undefined && now - lastSampleAt <= STUCK;
}

/** Status 503 while unhealthy. An API outage never makes it so: a restart would not help. */
export function healthEndpoint(read: () => AgentHealth): Endpoint {
  return () => {
    const health = read();
    const healthy = isHealthy(health);
    const { startedAt, now, lastSampleAt, lastWriteAt, blockedBecause } = health;
    return jsonAnswer(healthy ? 200 : 503, {
      healthy,
      cgroupDetection: health.cgroupDetection,
      podsTracked: health.podsTracked,
      podsManaged: health.podsManaged,
      lastSampleTime: timeOf(lastSampleAt),
      lastWriteTime: timeOf(lastWriteAt),
      samplesSinceStart: health.samplesSinceStart,
      writesSinceStart: health.writesSinceStart,
      startTime: timeOf(startedAt),
      uptime: `${Math.max(0, Math.floor((now - startedAt) / 1000))}s`,
      inGracePeriod: now - startedAt < health.gracePeriodMillis,
      blockedBecause: blockedBecause ?? null,
      isWriterWaiting: health.isWriterWaiting,
      problems: health.problems.slice(0, 20),
    });
  };
}

/** Status 503 while something is missing that plans are made of. */
export function readyEndpoint(unready: () => string | undefined): Endpoint {
  return () => {
    const missing = unready();
    return missing === undefined ? textAnswer(200, 'ok') : textAnswer(503, `not ready: ${missing}\n`);
  };
}

const timeOf = (at: EpochMillis | undefined): string | null => (at === undefined ? null : isoText(at));
