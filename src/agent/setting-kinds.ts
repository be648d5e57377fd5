/** How a setting of the agent is written as text and read; each reader gives undefined for what it does not accept. */
import { parseDuration } from '../lib/duration.ts';
import { tryParseMillicores } from '../lib/quantity.ts';
import type { Millicores, Millis } from '../lib/units.ts';

/** Texts are those of ConfigMaps and variables. */
export interface SettingKind<Value> {
  read(text: string): Value | undefined;
  /** What is accepted, as the end of a sentence. */
  readonly accepted: string;
  /** All that is accepted, where that is a handful of words. */
  readonly words?: readonly string[];
}

/** Both ends belong to it; no exponents. */
export function number(min: number, max: number): SettingKind<number> {
  return {
    accepted: `a number from ${min} to ${max}`,
    read(text) {
      const value = /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

/** Both ends belong to it; Go's grammar. */
export function duration(min: Millis, max: Millis): SettingKind<Millis> {
  return {
    accepted: `a duration such as 500ms, 10s or 1m30s, from ${min} ms to ${max / 1000} s`,
    read(text) {
      try {
        const millis = parseDuration(text);
        return millis >= min && millis <= max ? millis : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Zero and more, in millicores, rounded up. */
export const cpuAmount: SettingKind<Millicores> = {
  accepted: 'an amount of CPU such as 100m or 2',
  read(text) {
    const amount = tryParseMillicores(text);
    return amount === undefined || amount < 0 ? undefined : amount;
  },
};

export function oneOf<const Word extends string>(...words: readonly Word[]): SettingKind<Word> {
  return { accepted: `one of ${words.join(', ')}`, words, read: (text) => words.find((word) => word === text) };
}

/** In any case of letters. */
export const flag: SettingKind<boolean> = {
  accepted: 'true or false',
  read: (text) => (/^(?:true|1)$/i.test(text) ? true : /^(?:false|0)$/i.test(text) ? false : undefined),
};

/** Names of namespaces; blanks around them do not matter. */
export const names: SettingKind<readonly string[]> = {
  accepted: 'names separated by commas, or nothing',
  read(text) {
    if (text === '') return [];
    const parts = text.split(',').map((part) => part.trim());
    return parts.every((part) => /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(part)) ? parts : undefined;
  },
};

/** Null for none, which is a value of its own here. */
export const httpUrl: SettingKind<URL | null> = {
  accepted: 'an address such as http://prometheus.monitoring:9090, or nothing',
  read(text) {
    if (text === '') return null;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
  },
};
