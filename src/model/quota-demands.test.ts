import { describe, expect, test } from 'vitest';
import { unmetDemand } from './quota-demands.ts';
import type { QuotaRecord } from './sizing-records.ts';
import { aContainer, aPodSizing, aQuota, smallSize } from './testing/sizing-records.ts';

const { cpuLimit: _, ...unlimited } = smallSize;
const proxy = aContainer({ name: 'proxy', size: unlimited });
const containers = [aContainer(), proxy, { ...proxy, name: 'logs' }];
const pod = aPodSizing({ containers });
const unmet = (changes: Partial<QuotaRecord>, subject = pod) =>
  unmetDemand([aQuota(), aQuota({ name: 'limits', ...changes })], subject, subject.containers);

describe('what a quota wants every container to say', () => {
  test('is told with the containers that do not say it', () => {
    const told = { name: 'limits', resource: 'limits.cpu', containers: 'proxy, logs' };
    expect(unmet({ hard: { cpuLimit: 4000 } })).toEqual(told);
    expect(unmet({ hard: { cpuRequest: 4000, memoryRequest: 1, memoryLimit: 1 } })).toBeUndefined();
  });

  test('is said with a zero, too', () => {
    const said = aPodSizing({ containers: [aContainer({ size: { ...unlimited, cpuLimit: 0 } })] });
    expect(unmet({ hard: { cpuLimit: 4000 } }, said)).toBeUndefined();
  });

  test.each<[string, readonly string[], boolean]>([
    ['counts the pod', ['NotBestEffort', 'NotTerminating'], true],
    ['does not count it', ['BestEffort'], false],
    ['nobody here can tell of', ['CrossNamespacePodAffinity'], false],
  ])('matters where the quota %s', (_name, scopes, isTold) => {
    expect(unmet({ hard: { cpuLimit: 4000 }, scopes }) !== undefined).toBe(isTold);
  });
});
