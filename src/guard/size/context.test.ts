import { expect, test } from 'vitest';
import { applyChanges } from '../../model/pod-size.ts';
import { object } from '../objection.ts';
import { resizeRule, type SizeSubject, sizeRule } from './context.ts';
import { node, pods, resize, retemplate, sizeScene, web } from './testing/size-scene.ts';

const [pod] = pods;
if (pod === undefined) throw new Error('no pod');
const before = pod.sizing.containers;
const { changes } = resize();
const shared = { changes, before, after: applyChanges(before, changes) };
const ofPod: SizeSubject = {
  kind: 'resize',
  decision: resize(),
  pod: { pod, sizing: pod.sizing },
  workload: web,
  node,
  ...shared,
};
const ofTemplate: SizeSubject = { kind: 'retemplate', decision: retemplate(), workload: web, ...shared };
const no = object('ReadOnly', {});

test.each([
  ['every change', sizeRule('r', 'why', () => no), true, true],
  ['resizes', resizeRule('r', 'why', () => no), true, false],
])('a rule about %s looks at nothing else', (_, rule, atPods, atTemplates) => {
  const context = sizeScene();
  expect(rule.check(ofPod, context) !== undefined).toBe(atPods);
  expect(rule.check(ofTemplate, context) !== undefined).toBe(atTemplates);
});
