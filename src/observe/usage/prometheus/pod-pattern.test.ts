import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeRegex, podPattern } from './pod-pattern.ts';

const of = (kind: string, name: string, pods: readonly string[] = []) => {
  const pattern = new RegExp(`^(?:${podPattern({ kind, namespace: 'shop', name }, pods)})$`);
  return (pod: string) => pattern.test(pod);
};
const LONG = 'a-very-long-name-of-a-deployment-that-is-nearly-at-the-limit-63';

describe('pattern of pod names', () => {
  test.each([
    ['Deployment', 'web', 'web-7d4f9c5b8-x2k7p', true],
    ['Deployment', 'web', 'web-api-7d4f9c5b8-x2k7p', false],
    // A DaemonSet `web-api` has pods that look nearly like those of a Deployment `web`: `api` is no hash.
    ['Deployment', 'web', 'web-api-x2k7p', false],
    ['Deployment', 'web', 'my-web-7d4f9c5b8-x2k7p', false],
    ['Deployment', 'web', 'web-7d4f9c5b8-x2k7p-more', false],
    ['Deployment', 'w.b', 'web-7d4f9c5b8-x2k7p', false],
    ['Rollout', 'web', 'web-7d4f9c5b8-x2k7p', true],
    ['ReplicaSet', 'web-7d4f9c5b8', 'web-7d4f9c5b8-x2k7p', true],
    ['StatefulSet', 'db', 'db-0', true],
    ['StatefulSet', 'db', 'db-117', true],
    ['StatefulSet', 'db', 'db-x2k7p', false],
    ['StatefulSet', 'db', 'db-replica-0', false],
    ['DaemonSet', 'agent', 'agent-x2k7p', true],
    ['DaemonSet', 'agent', 'agent-x2k7p-x2k7p', false],
    ['Job', 'report', 'report-x2k7p', true],
    ['Job', 'report', 'report-3-x2k7p', true],
    ['CronJob', 'report', 'report-28934567-x2k7p', true],
    ['CronJob', 'report', 'report-28934567-3-x2k7p', true],
    ['CronJob', 'report', 'report-x2k7p', false],
  ])('%s %s: %s %s', (kind, name, pod, expected) => {
    expect(of(kind, name)(pod)).toBe(expected);
  });

  test.each(['Deployment', 'DaemonSet', 'Job'])(
    '%s of a long name: generated names are cut to 58 characters and 5 more',
    (kind) => {
      const base = kind === 'Deployment' ? `${LONG}-7d4f9c5b8-` : `${LONG}-`;
      expect(of(kind, LONG)(`${base.slice(0, 58)}x2k7p`)).toBe(true);
    },
  );

  test('for any length of a Deployment name, the name the API server generates is found', () => {
    const hash = fc.stringMatching(/^[bcdfghjklmnpqrstvwxz2456789]{8,10}$/);
    const random = fc.stringMatching(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9-]{0,61}[a-z0-9]$/), hash, random, (name, middle, end) => {
        expect(of('Deployment', name)(`${`${name}-${middle}-`.slice(0, 58)}${end}`)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('optipod defect B18: for any ordinal, the pod of a StatefulSet is found, whether or not there is one of ordinal 0', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.boolean(), (ordinal, isThere) => {
        const pods = isThere ? [`db-${ordinal}`] : [];
        expect(of('StatefulSet', 'db', pods)(`db-${ordinal}`)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test('pods that exist and are named otherwise are found, too', () => {
    expect(of('Deployment', 'web', ['web-00001-aaaaa'])('web-00003-eaiou')).toBe(true);
    const odd = of('Deployment', 'web', ['odd.name', 'web-7d4f9c5b8-x2k7p']);
    expect([odd('odd.name'), odd('oddxname'), odd('web-7d4f9c5b8-x2k7p')]).toEqual([true, false, true]);
  });

  test('rightsizing bug 30: 300 pods make no longer a pattern than 3', () => {
    const letters = 'bcdfghjklmnpqrstvwxz2456789';
    const pods = Array.from(
      { length: 300 },
      (_, index) => `web-7d4f9c5b8-x2k${letters[index % 27]}${letters[Math.floor(index / 27)]}`,
    );
    expect(new Set(pods).size).toBe(300);
    const patternOf = (count: number): string =>
      podPattern({ kind: 'Deployment', namespace: 'shop', name: 'web' }, pods.slice(0, count));
    expect(patternOf(300)).toBe(patternOf(3));
    expect(patternOf(300).length).toBeLessThan(120);
    const odd = Array.from({ length: 300 }, (_, index) => `odd-${index}.name`);
    expect(podPattern({ kind: 'Deployment', namespace: 'shop', name: 'web' }, odd).length).toBeLessThan(1000);
  });

  test('for any text, what is escaped matches itself and nothing else', () => {
    const text = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const pattern = new RegExp(`^(?:${escapeRegex(one)})$`);
        expect([pattern.test(one), pattern.test(other)]).toEqual([true, other === one]);
      }),
      { numRuns: 100 },
    );
  });
});
