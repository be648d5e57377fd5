import { expect, test } from 'vitest';
import { countsIn, type QuotaSubject } from './quota-scopes.ts';

const plain: QuotaSubject = { qos: 'Burstable', priorityClassName: '' };
const high: QuotaSubject = { ...plain, priorityClassName: 'high' };
const ending: QuotaSubject = { ...plain, hasDeadline: true };
const bestEffort: QuotaSubject = { ...plain, qos: 'BestEffort' };

test.each<[string, readonly string[] | undefined, QuotaSubject, boolean]>([
  ['without scopes: every pod', undefined, plain, true],
  ['BestEffort: no other', ['BestEffort'], plain, false],
  ['BestEffort: those', ['BestEffort'], bestEffort, true],
  ['BestEffort, written as an expression', ['BestEffort Exists'], plain, false],
  ['NotBestEffort', ['NotBestEffort'], plain, true],
  ['NotBestEffort: not those', ['NotBestEffort'], bestEffort, false],
  ['Terminating: no pod that runs on', ['Terminating'], plain, false],
  ['Terminating: pods with a deadline', ['Terminating'], ending, true],
  ['NotTerminating: pods that run on', ['NotTerminating'], plain, true],
  ['NotTerminating: no pod with a deadline', ['NotTerminating Exists'], ending, false],
  ['a class among several', ['PriorityClass In low,high'], high, true],
  ['another class', ['PriorityClass In low'], high, false],
  ['not of a class', ['PriorityClass NotIn high'], high, false],
  ['not of another class', ['PriorityClass NotIn low'], high, true],
  ['of any class', ['PriorityClass Exists'], plain, false],
  ['of no class', ['PriorityClass DoesNotExist'], plain, true],
  ['of a class, which is not said', ['PriorityClass'], plain, true],
  ['a scope that is not known counts', ['CrossNamespacePodAffinity'], plain, true],
  ['each scope must match', ['NotBestEffort', 'PriorityClass In low'], high, false],
])('%s', (_name, scopes, pod, expected) => {
  expect(countsIn(scopes, pod)).toBe(expected);
});
