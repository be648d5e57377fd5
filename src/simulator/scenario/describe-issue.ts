/** What is wrong with a value of a scenario, in the words of whoever writes the file. */
import type { z } from 'zod';
import { memberOf } from '../../lib/is-record.ts';
import { shortened } from '../../lib/shortened.ts';

/** As a schema tells it where the input is reported with it. */
export type ScenarioIssue = z.core.$ZodIssue;

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'keys with values',
  record: 'keys with values',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

/** One sentence without its subject, which is the place of the value. */
export function describeIssue(issue: ScenarioIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return `unknown key ${shortened(issue.keys.join(', '), LONGEST_QUOTE)}`;
    case 'invalid_type': {
      const wanted = typeNames[issue.expected] ?? issue.expected;
      return issue.input === undefined ? `is missing; give ${wanted}` : `should be ${wanted}`;
    }
    case 'invalid_value':
      return notOneOf(issue.values, issue.input);
    case 'too_small':
      if (issue.origin === 'array') return `give at least ${issue.minimum}`;
      return issue.origin === 'string' ? 'should not be empty' : `should be ${issue.minimum} or more`;
    case 'too_big':
      return `should be ${issue.maximum} or less`;
    case 'invalid_union':
      // The key that says which form an entry has, such as `do` of an event.
      return 'options' in issue && issue.discriminator !== undefined
        ? notOneOf(issue.options ?? [], memberOf(issue.input, issue.discriminator))
        : describeUnion(issue);
    default:
      return issue.message;
  }
}

type UnionIssue = Extract<ScenarioIssue, { code: 'invalid_union' }>;

const LONGEST_QUOTE = 100;
const UNTOLD = 'Invalid input';

/** A union that says itself what it takes; else the first of its branches that got further than its type. */
function describeUnion(issue: UnionIssue): string {
  if (issue.message !== UNTOLD) return issue.message;
  const inner = issue.errors.flat().find(({ code }) => code !== 'invalid_type') ?? issue.errors[0]?.[0];
  return inner === undefined ? issue.message : describeIssue(inner);
}

function notOneOf(accepted: readonly unknown[], given: unknown): string {
  const words = `one of ${accepted.join(', ')}`;
  return given === undefined
    ? `is missing; give ${words}`
    : `is not known: ${shortened(JSON.stringify(given), LONGEST_QUOTE)}; accepted: ${words}`;
}
