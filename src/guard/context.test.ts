import { expect, test } from 'vitest';
import { type GuardedDecision, isWithin, type Scope, type Subject, scopes } from './context.ts';
import { evict, pods, web } from './testing/scene.ts';

test.each<[Scope, readonly GuardedDecision['kind'][]]>([
  ['every', ['evict', 'fallback', 'restamp', 'evict-to-resize']],
  ['placement', ['evict', 'fallback', 'restamp']],
  ['eviction', ['evict', 'evict-to-resize']],
  ['end', ['evict', 'fallback', 'evict-to-resize']],
  ['evict', ['evict']],
  ['fallback', ['fallback']],
  ['size', ['evict-to-resize']],
])('rules about %s are asked about %o, and about nothing else', (scope, expected) => {
  const [pod] = pods;
  if (pod === undefined) throw new Error('the scene has pods');
  const about = (kind: GuardedDecision['kind']): Subject => {
    const decision = { ...evict(), kind } as GuardedDecision;
    return { decision, workload: web, pod, pods };
  };
  expect(scopes.every.filter((kind) => isWithin(scope, about(kind)))).toEqual(expected);
});
