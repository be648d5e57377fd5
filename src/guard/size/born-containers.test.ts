import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { aContainer, aLimitRange, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { bornContainers } from './born-containers.ts';
import type { ResizeSubject, RetemplateSubject } from './context.ts';
import { replicaSet, retemplate, sizeScene, web } from './testing/size-scene.ts';

const requestOnly = aContainer({ size: { cpuRequest: 300 } });
const subject: RetemplateSubject = {
  kind: 'retemplate',
  decision: retemplate(),
  workload: web,
  changes: [],
  before: [],
  after: [requestOnly],
};
const meshed = (name: string, createdAt: number, proxy: string, changes: Partial<PodRecord> = {}) =>
  aSizedPod(replicaSet, name, { containers: [requestOnly, aContainer({ name: proxy })] }, { createdAt, ...changes });
const born = (pods: readonly PodRecord[]) =>
  bornContainers(subject, sizeScene({ records: { pods } })).map(({ name }) => name);

describe('the containers of pods as they will be', () => {
  test('of a template have what LimitRanges fill in', () => {
    const limitRanges = [aLimitRange({ defaultLimit: { cpu: 500 }, defaultRequest: { memory: MIB } })];
    const [app] = bornContainers(subject, sizeScene({ records: { limitRanges } }));
    expect(app?.size).toEqual({ cpuRequest: 300, cpuLimit: 500, memoryRequest: MIB });
  });

  test('of a template have beside them what the newest pod that is there has beside its own', () => {
    const [older, newer] = [meshed('web-1', 1, 'old-proxy'), meshed('web-2', 2, 'proxy')];
    expect(born([newer, older])).toEqual(['app', 'proxy']);
    expect(born([older, meshed('web-3', 3, 'gone', { phase: 'Failed' })])).toEqual(['app', 'old-proxy']);
    expect(born([])).toEqual(['app']);
  });

  test('of a pod are those it has', () => {
    const after = [aContainer({ name: 'proxy' })];
    const resized = { ...subject, kind: 'resize', after } as unknown as ResizeSubject;
    expect(bornContainers(resized, sizeScene())).toBe(after);
  });
});
