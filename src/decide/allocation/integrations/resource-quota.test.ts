import { describe, expect, test } from 'vitest';
import type { QuotaRecord } from '../../../model/sizing-records.ts';
import { type NodeQuota, quotaCap, quotaRoom, quotaShortfall } from './resource-quota.ts';

const quota = (hard: QuotaRecord['hard'], used: QuotaRecord['used'], scopes?: readonly string[]): QuotaRecord => ({
  namespace: 'shop',
  name: 'quota',
  hard,
  used,
  scopes,
});

const web = { qos: 'Burstable', priorityClassName: '' } as const;

describe('room of a namespace', () => {
  test.each<[string, readonly QuotaRecord[], number | undefined, number | undefined]>([
    ['no quota', [], undefined, undefined],
    ['requests only', [quota({ cpuRequest: 2000 }, { cpuRequest: 1500 })], 500, undefined],
    ['nothing used yet', [quota({ cpuLimit: 2000 }, {})], undefined, 2000],
    ['over its quota: no room, not less', [quota({ cpuRequest: 2000 }, { cpuRequest: 2500 })], 0, undefined],
    [
      'the tightest of several',
      [quota({ cpuRequest: 2000 }, { cpuRequest: 500 }), quota({ cpuRequest: 900 }, { cpuRequest: 500 })],
      400,
      undefined,
    ],
    ['memory alone limits no CPU', [quota({ memoryRequest: 1 }, { memoryRequest: 1 })], undefined, undefined],
    ['for BestEffort pods only', [quota({ cpuRequest: 1 }, { cpuRequest: 1 }, ['BestEffort'])], undefined, undefined],
    ['for pods that end', [quota({ cpuRequest: 1 }, { cpuRequest: 1 }, ['Terminating'])], undefined, undefined],
    ['for other than BestEffort', [quota({ cpuRequest: 9 }, { cpuRequest: 1 }, ['NotBestEffort'])], 8, undefined],
    [
      'for a priority class, not said which: taken to match',
      [quota({ cpuRequest: 9 }, {}, ['PriorityClass'])],
      9,
      undefined,
    ],
  ])('integration 2: %s', (_name, quotas, cpuRequest, cpuLimit) => {
    expect(quotaRoom(quotas, [web])).toEqual({ cpuRequest, cpuLimit });
  });

  test('integration 2: a quota for others of the namespace alone is not this pod’s', () => {
    const others = quota({ cpuRequest: 9 }, { cpuRequest: 9 }, ['PriorityClass In batch']);
    const own = quota({ cpuRequest: 900 }, { cpuRequest: 500 });
    expect(quotaRoom([others, own], [web])).toEqual({ cpuRequest: 400, cpuLimit: undefined });
    expect(quotaRoom([others, own], [web, { ...web, priorityClassName: 'batch' }]).cpuRequest).toBe(0);
    expect(quotaRoom([others, own], [])).toEqual({ cpuRequest: undefined, cpuLimit: undefined });
  });

  test('integration 2: one for pods that end counts those with a deadline', () => {
    const ending = quota({ cpuRequest: 9 }, { cpuRequest: 1 }, ['Terminating']);
    expect(quotaRoom([ending], [{ ...web, hasDeadline: true }]).cpuRequest).toBe(8);
  });
});

describe('cap on a node', () => {
  test.each<[string, NodeQuota, 'request' | 'limit', number | undefined]>([
    [
      'the node has a third of the room',
      { room: { cpuRequest: 600, cpuLimit: undefined }, nodeShare: 1 / 3 },
      'request',
      1200,
    ],
    [
      'limits do not bound requests',
      { room: { cpuRequest: undefined, cpuLimit: 0 }, nodeShare: 1 },
      'request',
      undefined,
    ],
    ['limits bound limits', { room: { cpuRequest: undefined, cpuLimit: 90 }, nodeShare: 1 }, 'limit', 1090],
    ['requests bound limits by the ratio', { room: { cpuRequest: 90, cpuLimit: 500 }, nodeShare: 1 }, 'limit', 1100],
    ['over quota: may stay, not grow', { room: { cpuRequest: 0, cpuLimit: 0 }, nodeShare: 1 }, 'request', 1000],
    ['not known: may stay, not grow', { room: 'unknown', nodeShare: 1 }, 'request', 1000],
    ['shares out of range are cut', { room: { cpuRequest: 10, cpuLimit: undefined }, nodeShare: 7 }, 'request', 1010],
  ])('integration 2: %s', (_name, given, shareIs, cap) => {
    expect(quotaCap(1000, given, shareIs, 0.9)).toBe(cap);
  });
});

describe('check before a write', () => {
  const tight = [quota({ cpuRequest: 2000, cpuLimit: 3000 }, { cpuRequest: 1900, cpuLimit: 2500 })];
  const ledger = (cpuRequest: number, denied = false) => ({ cpuRequest, cpuLimit: 0, denied });

  test.each<
    [
      string,
      readonly [number, number],
      Parameters<typeof quotaShortfall>[2],
      Parameters<typeof quotaShortfall>[3],
      unknown,
    ]
  >([
    ['fits', [100, 500], tight, undefined, undefined],
    ['one millicore too many', [101, 0], tight, undefined, { resource: 'requests.cpu', room: 100 }],
    ['limits too', [0, 501], tight, undefined, { resource: 'limits.cpu', room: 500 }],
    ['growth on its way counts', [60, 0], tight, ledger(50), { resource: 'requests.cpu', room: 50 }],
    [
      'a refusal closes the namespace until the quota changes',
      [1, 0],
      tight,
      ledger(0, true),
      { resource: 'requests.cpu', room: 0 },
    ],
    ['shrinking always fits', [-500, -1], tight, ledger(0, true), undefined],
    ['not known: nothing grows', [1, 0], undefined, undefined, { resource: 'requests.cpu', room: undefined }],
    ['not known: shrinking is fine', [-1, 0], undefined, undefined, undefined],
    ['no quota: anything', [9000, 9000], [], ledger(0), undefined],
    [
      'refused though no quota is known: the server knows better',
      [1, 0],
      [],
      ledger(0, true),
      { resource: 'requests.cpu', room: 0 },
    ],
  ])('integration 2: %s', (_name, [cpuRequest, cpuLimit], quotas, sent, wanted) => {
    expect(quotaShortfall(web, { cpuRequest, cpuLimit }, quotas, sent)).toEqual(wanted);
  });
});
