import { describe, expect, test } from 'vitest';
import { aSizedWorkload } from '../../../model/testing/sizing-records.ts';
import { reasonsFor, retemplate } from '../testing/size-scene.ts';

describe('templates', () => {
  test('need new pods, which the owner must allow', () => {
    expect(reasonsFor(retemplate(), { policy: { allowRecreate: false } })).toEqual(['RecreateNotAllowed']);
  });
  test.each<[string, Parameters<typeof aSizedWorkload>[0], string]>([
    ['under way', { isRollingOut: true }, 'TemplateRollout'],
    ['of a CronJob', { kind: 'CronJob' }, 'KindAdvisedOnly'],
    ['of a Rollout', { kind: 'Rollout' }, 'KindAdvisedOnly'],
    ['being deleted', { deleting: true }, 'Deleting'],
  ])('%s', (_, changes, reason) => {
    expect(reasonsFor(retemplate(), { records: { workloads: [aSizedWorkload(changes)] } })).toEqual([reason]);
  });
});
