/** Plays sequences on a server and on its stand-in, and tells where they answered differently. */
import type { Endpoint } from '../endpoint.ts';
import { createPlayer } from './play.ts';
import { fingerprint } from './recorded-answers.ts';
import type { SeenAnswer } from './seen-answer.ts';
import type { Sequence, Step } from './step.ts';

export interface Difference {
  readonly seed: number;
  /** Which step of the sequence, from 0. */
  readonly index: number;
  readonly step: Step;
  /** Where in the answer, without the numbers of list items. */
  readonly where: string;
  readonly real: unknown;
  readonly embedded: unknown;
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Unequal {
  readonly where: string;
  readonly real: unknown;
  readonly embedded: unknown;
}

/** Every place at which two values differ; a list of another length is one. */
export function unequalPlaces(real: unknown, embedded: unknown, where = ''): Unequal[] {
  if (isMap(real) && isMap(embedded)) {
    const keys = new Set([...Object.keys(real), ...Object.keys(embedded)]);
    return [...keys].flatMap((key) => unequalPlaces(real[key], embedded[key], `${where}.${key}`));
  }
  if (Array.isArray(real) && Array.isArray(embedded) && real.length === embedded.length)
    return real.flatMap((item, index) => unequalPlaces(item, embedded[index], `${where}[]`));
  return JSON.stringify(real) === JSON.stringify(embedded) ? [] : [{ where, real, embedded }];
}

/** What is told of an answer: of one that differs in its code nothing but that and its words. */
function unequalAnswers(real: SeenAnswer, embedded: SeenAnswer): Unequal[] {
  if (real.status !== embedded.status) {
    const told = ({ status, body }: SeenAnswer): string =>
      `${status} ${status < 300 ? '' : isMap(body) ? String(body['message']) : String(body)}`.trim();
    return [{ where: 'status', real: told(real), embedded: told(embedded) }];
  }
  return unequalPlaces(real, embedded);
}

/** The servers no longer hold the same: what follows would say nothing. */
function haveParted(step: Step, real: SeenAnswer, embedded: SeenAnswer): boolean {
  return step.method !== 'GET' && (real.status < 300 || embedded.status < 300);
}

export interface ComparedSequence {
  readonly seed: number;
  readonly differences: readonly Difference[];
  /** What both have answered, step by step; null where they differ. It ends where they no longer hold the same. */
  readonly agreed: readonly (string | null)[];
}

/** Plays on both at a time, and ends where the servers no longer hold the same objects. */
export async function compareSequence(
  { seed, steps }: Sequence,
  real: Endpoint,
  embedded: Endpoint,
): Promise<ComparedSequence> {
  const [one, other] = [createPlayer(real), createPlayer(embedded)];
  const differences: Difference[] = [];
  const agreed: (string | null)[] = [];
  for (const [index, step] of steps.entries()) {
    const [a, b] = await Promise.all([one.play(step), other.play(step)]);
    const unequal = unequalAnswers(a, b);
    differences.push(...unequal.map((place) => ({ seed, index, step, ...place })));
    if (unequal.length > 0 && haveParted(step, a, b)) break;
    agreed.push(unequal.length > 0 ? null : fingerprint(a));
  }
  return { seed, differences, agreed };
}
