import { describe, expect, test } from 'vitest';
import { aNamespace } from '../../../model/testing/records.ts';
import { aSizedWorkload } from '../../../model/testing/sizing-records.ts';
import { reasonsFor, resize, retemplate } from '../testing/size-scene.ts';

describe('templates', () => {
  test('need new pods, which the owner must allow', () => {
    expect(reasonsFor(retemplate(), { policy: { allowRecreate: false } })).toEqual(['RecreateNotAllowed']);
  });
  test.each<[string, Parameters<typeof aSizedWorkload>[0], string]>([
    ['under way', { isRollingOut: true }, 'TemplateRollout'],
    ['of a CronJob', { kind: 'CronJob' }, 'KindAdvisedOnly'],
    ['of a Rollout', { kind: 'Rollout' }, 'KindAdvisedOnly'],
    ['being deleted', { deleting: true }, 'Deleting'],
    ['paused', { keepsPods: 'Paused' }, 'Paused'],
    ['of pods that stay until somebody deletes them', { keepsPods: 'OnDelete' }, 'TemplateOnDelete'],
  ])('%s', (_, changes, reason) => {
    expect(reasonsFor(retemplate(), { records: { workloads: [aSizedWorkload(changes)] } })).toEqual([reason]);
  });
  test('in a namespace that is being deleted, as nothing there, are changed no more', () => {
    const records = { namespaces: [aNamespace({ terminating: true })] };
    expect(reasonsFor(retemplate(), { records })).toEqual(['Deleting']);
    expect(reasonsFor(resize(), { records })).toEqual(['Deleting']);
  });
  test('of a paused rollout that stands half way: that it is paused is told first', () => {
    const records = { workloads: [aSizedWorkload({ keepsPods: 'Paused', isRollingOut: true })] };
    expect(reasonsFor(retemplate(), { records })).toEqual(['Paused', 'TemplateRollout']);
  });
});
