/** The command line of the arms. */
import { parseArgs } from 'node:util';
import type { Millis } from '../../../src/lib/units.ts';
import { type NodeArm, nodeArms, type RequestKind, requestKinds } from './arms.ts';

export interface ArmsOptions {
  readonly arms: readonly NodeArm[];
  readonly requests: readonly RequestKind[];
  readonly runs: number;
  readonly measuredMillis: Millis;
  readonly warmUpMillis: Millis;
  readonly rate: number;
  readonly isAlone: boolean;
  /** Folder for arms.md and arms.json. */
  readonly out: string | undefined;
}

const USAGE = `Usage: npm run bench:node -- [--arms NAMES] [--requests wrong,right] [--runs 3] [--seconds 90] [--rate 1] [--alone] [--out FOLDER]
  --arms      of ${nodeArms.map(({ name }) => name).join(', ')}; default all
  --requests  what A asks for: wrong (100m), right (600m), or both (default)
  --seconds   measured, after 15 s that are not
  --rate      factor of all request rates
  --alone     the agent takes no account of what else is busy on the machine`;

const WARM_UP: Millis = 15_000;

/** @throws Error with the usage where something is not understood. */
export function readArmsOptions(args: readonly string[]): ArmsOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      arms: { type: 'string', default: nodeArms.map(({ name }) => name).join(',') },
      requests: { type: 'string', default: requestKinds.join(',') },
      runs: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '90' },
      rate: { type: 'string', default: '1' },
      alone: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  return {
    arms: values.arms.split(',').map((name) => named(name, nodeArms)),
    requests: values.requests.split(',').map((name) => one(name, requestKinds)),
    runs: positive('runs', values.runs),
    measuredMillis: 1000 * positive('seconds', values.seconds),
    warmUpMillis: WARM_UP,
    rate: positive('rate', values.rate),
    isAlone: values.alone,
    out: values.out,
  };
}

function named(name: string, arms: readonly NodeArm[]): NodeArm {
  const found = arms.find((arm) => arm.name === name);
  if (found === undefined) throw new Error(`There is no arm ${JSON.stringify(name)}.\n${USAGE}`);
  return found;
}

function one<Word extends string>(name: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === name);
  if (found === undefined) throw new Error(`${JSON.stringify(name)} is not one of ${words.join(', ')}.\n${USAGE}`);
  return found;
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new Error(`--${option} is a number above 0.\n${USAGE}`);
  return value;
}
