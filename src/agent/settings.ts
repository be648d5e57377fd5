/**
 * The agent's settings: defaults, then the ConfigMap, then the environment. A bad value is told and its default kept,
 * one by one.
 */
import { defaultAllocationRules } from '../decide/allocation/rules.ts';
import type { Millis } from '../lib/units.ts';
import { type AgentSettings, type SettingRow, settingTable } from './setting-table.ts';

/** Sampling and tick as MBCAS has them in its second generation. */
export const defaultAgentSettings: AgentSettings = {
  samplingMillis: 1000,
  tickMillis: 2000,
  renewMillis: 30_000,
  staleMillis: 120_000,
  prometheus: undefined,
  rules: defaultAllocationRules,
};

/** Always something to work with: what was not accepted keeps its default. */
export interface ReadSettings {
  readonly settings: AgentSettings;
  /** What was not accepted, one sentence each. */
  readonly problems: readonly string[];
  /** What was accepted and does nothing, one sentence each. */
  readonly notes: readonly string[];
}

/** From weak to strong. */
export interface SettingSources {
  /** `data` of the ConfigMap; undefined where there is none. */
  readonly configMap?: Readonly<Record<string, string>> | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Never throws. Each setting stands alone, so that one mistake does not stop the agents of a whole cluster. */
export function readSettings({ configMap = {}, env }: SettingSources): ReadSettings {
  const problems: string[] = [];
  const notes: string[] = [];
  let settings = defaultAgentSettings;
  /** One value of one source; what is not accepted keeps what was there before. */
  const put = (row: SettingRow, name: string, text: string): void => {
    const result = row.apply(settings, text);
    if ('accepted' in result)
      problems.push(`${name}: ${JSON.stringify(text)} is not valid and ignored; accepted: ${result.accepted}`);
    else if (row.without !== undefined) notes.push(`${name} has no effect: ${row.without}`);
    else settings = result;
  };
  const known = new Set<string>();
  for (const row of settingTable) {
    const { key } = row;
    if (key !== undefined) known.add(key);
    const fromMap = key === undefined ? undefined : configMap[key];
    if (key !== undefined && fromMap !== undefined) put(row, key, fromMap);
  }
  for (const row of settingTable) {
    const text = row.env === undefined ? undefined : env[row.env];
    // A variable set to nothing is one that a manifest names and nobody filled in.
    if (row.env !== undefined && text !== undefined && text !== '') put(row, row.env, text);
  }
  for (const key of Object.keys(configMap))
    if (!known.has(key)) problems.push(`${key}: there is no such setting; it is ignored`);
  const checked = checkTogether(settings);
  return { settings: checked.settings, problems: [...problems, ...checked.problems], notes };
}

/**
 * An agent that is not heard for half of `staleAfter` is taken for silent, and then for gone: its pods would get back
 * what they had before each of its signs of life, for ever.
 */
const RENEWALS_IN_TIME = 3;

/** Values that are fine alone and not together. */
function checkTogether(settings: AgentSettings): Pick<ReadSettings, 'settings' | 'problems'> {
  const problems: string[] = [];
  const { staleMillis } = settings;
  const mostMillis = Math.floor(staleMillis / RENEWALS_IN_TIME);
  /** Of what is done once in so long a time, signs of life among it: those are given at ticks, and these follow samples. */
  const inTime = (name: string, millis: Millis): Millis => {
    if (millis <= mostMillis) return millis;
    problems.push(
      `${name}: ${millis} ms is too long for allocation.staleAfter, ${staleMillis} ms; ${mostMillis} ms is used instead`,
    );
    return mostMillis;
  };
  const samplingMillis = inTime('samplingInterval', settings.samplingMillis);
  let tickMillis = inTime('fastLoopInterval', settings.tickMillis);
  let renewMillis = inTime('allocation.renewInterval', settings.renewMillis);
  if (tickMillis < samplingMillis) {
    problems.push(
      `fastLoopInterval: ${tickMillis} ms is shorter than samplingInterval, ${samplingMillis} ms, which is used instead`,
    );
    tickMillis = samplingMillis;
  }
  if (renewMillis < tickMillis) {
    problems.push(
      `allocation.renewInterval: ${renewMillis} ms is shorter than a tick, ${tickMillis} ms, which is used instead`,
    );
    renewMillis = tickMillis;
  }
  return { settings: { ...settings, samplingMillis, tickMillis, renewMillis }, problems };
}
