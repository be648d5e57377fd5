import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../model/records.ts';
import type { ContainerStatusRecord, PodSizing } from '../model/sizing-records.ts';
import { aTemplate, NOON } from '../model/testing/records.ts';
import { aContainer, aContainerStatus, MIB, smallSize } from '../model/testing/sizing-records.ts';
import { asked, bigger, decisionFor, pendingAs, setUp } from './testing/resize-in-flight.ts';

const killed = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON };
const failing = (error: string): PodSizing['resize'] => ({ pending: undefined, inProgress: { error, since: NOON } });

describe('the ordinary course', () => {
  test('it counts from before it is sent until what is in force is what was asked', async () => {
    const { clock, flight, show, start } = setUp();
    const decision = start();
    expect(flight.isResizing('web-1')).toBe(true);
    expect(flight.list()).toMatchObject([{ engine: 'rightsizing', since: NOON, changes: decision.changes }]);
    expect(flight.review()).toEqual([]);
    show(asked({ observedGeneration: 1 }));
    await clock.advance(50);
    expect(flight.review()).toEqual([]);
    show(asked({ resize: { pending: undefined, inProgress: { error: undefined, since: NOON } } }));
    expect(flight.review()).toEqual([]);
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }))] }));
    await clock.advance(50);
    expect(flight.review()).toEqual([{ kind: 'done', decision, tookMillis: 100, restarted: false }]);
    expect(flight.list()).toEqual([]);
    expect(flight.review()).toEqual([]);
  });

  test('conditions of an older spec say nothing about this one', () => {
    const { flight, show, start } = setUp();
    start();
    show(asked({ observedGeneration: 1, resize: pendingAs('Infeasible', 'of the size before') }));
    expect(flight.review()).toEqual([]);
  });

  test('CPU quota that the node rounded, and memory in pages, are close enough', () => {
    const { flight, show, start } = setUp();
    start(decisionFor({ cpuLimit: 455, memoryLimit: 300 * MIB + 1 }));
    const spec = aContainer({ size: { ...smallSize, cpuLimit: 455, memoryLimit: 300 * MIB + 1 } });
    const show2 = (cpuLimit: number, memoryLimit: number) =>
      show({
        ...asked(),
        containers: [spec],
        statuses: [aContainerStatus(spec, { actual: { ...smallSize, cpuLimit, memoryLimit } })],
      });
    show2(400, 300 * MIB);
    expect(flight.review()).toEqual([]);
    show2(460, 300 * MIB);
    expect(flight.review()).toMatchObject([{ kind: 'done' }]);
  });

  test('a container that restarted is told', () => {
    const { flight, show, start } = setUp();
    start();
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }), { restartCount: 1 })] }));
    expect(flight.review()).toMatchObject([{ kind: 'done', restarted: true }]);
  });

  test.each<[string, Partial<ContainerStatusRecord>, Partial<ContainerStatusRecord>, boolean]>([
    ['was killed for want of memory', {}, { lastTermination: killed }, false],
    ['waited to be started again', { running: false }, {}, false],
    ['waited to be started again, and restarted since', { running: false }, { restartCount: 2 }, true],
  ])('one that %s is told only where the resize may have done it', (_, before, after, restarted) => {
    const { flight, show, start } = setUp();
    show({ statuses: [aContainerStatus(aContainer(), before)] });
    start();
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }), { restartCount: 1, ...after })] }));
    expect(flight.review()).toMatchObject([{ kind: 'done', restarted }]);
  });
});

describe('ends that nobody decides', () => {
  test.each<[string, Partial<PodSizing> | undefined, Partial<PodRecord>, string]>([
    ['the pod is gone', undefined, {}, 'gone'],
    ['another pod has its name', {}, { uid: 'other' }, 'gone'],
    ['the pod is ending', asked(), { deletingAt: NOON }, 'gone'],
  ])('%s', (_, sizing, changes, kind) => {
    const { flight, show, start } = setUp();
    const decision = start();
    show(sizing, changes);
    expect(flight.review()).toEqual([{ kind, decision }]);
    expect(flight.isResizing('web-1')).toBe(false);
  });

  test('somebody asked for another size: told with both', () => {
    const { flight, show, start } = setUp();
    const decision = start();
    show({ containers: [aContainer({ size: { ...smallSize, cpuRequest: 250 } })], generation: 3 });
    const [end] = flight.review();
    expect(end).toMatchObject({
      kind: 'superseded',
      decision,
      answer: { action: 'retry', reason: 'ResizeOverwritten' },
    });
    expect(end?.kind === 'superseded' && end.answer.message).toContain('cpu 250m -> 300m');
    expect(flight.isResizing('web-1')).toBe(false);
  });
});

describe('what the node does not grant', () => {
  test('rightsizing bug 28: Deferred beyond the deadline is taken back to what is allocated', async () => {
    const { clock, flight, show, start } = setUp();
    const decision = start();
    show(
      asked({
        resize: pendingAs(
          'Deferred',
          "Node didn't have enough resource: cpu, requested: 300, used: 900, capacity: 1000",
        ),
      }),
    );
    await clock.advance(5_000);
    expect(flight.review()).toEqual([]);
    await clock.advance(14_999);
    expect(flight.review()).toEqual([]);
    await clock.advance(1);
    const [end] = flight.review();
    expect(end).toMatchObject({
      kind: 'taken-back',
      decision,
      tookMillis: 20_000,
      nodeName: 'n1',
      answer: { action: 'wait', reason: 'ResizeDeferred' },
    });
    expect(end?.kind === 'taken-back' && end.withdrawal).toMatchObject({
      isWithdrawal: true,
      changes: [{ container: 'app', to: { cpuRequest: 200 } }],
    });
    expect(flight.isResizing('web-1')).toBe(false);
  });

  test('a Deferred that is granted in time is done', async () => {
    const { clock, flight, show, start } = setUp();
    start();
    show(asked({ resize: pendingAs('Deferred', '') }));
    await clock.advance(10_000);
    flight.review();
    show(asked({ statuses: [aContainerStatus(aContainer({ size: bigger }))] }));
    await clock.advance(10_000);
    expect(flight.review()).toMatchObject([{ kind: 'done', tookMillis: 20_000 }]);
  });

  test('Infeasible is taken back at once, and says that only a new pod helps', () => {
    const { flight, show, start } = setUp();
    start();
    show(
      asked({
        resize: pendingAs(
          'Infeasible',
          'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
        ),
      }),
    );
    expect(flight.review()).toMatchObject([
      { kind: 'taken-back', answer: { action: 'recreate', reason: 'ResizeInfeasible' } },
    ]);
  });

  test('a memory limit below what is used is taken back at once', () => {
    const { flight, show, start } = setUp();
    start(decisionFor({ memoryLimit: 64 * MIB }));
    const container = aContainer({ size: { ...smallSize, memoryLimit: 64 * MIB } });
    const error =
      'cannot decrease memory limits: [attempting to set container "app" memory limit (1) below current usage (2)]';
    show(asked({ containers: [container], resize: failing(error) }));
    const [end] = flight.review();
    expect(end).toMatchObject({ kind: 'taken-back', answer: { reason: 'ResizeMemoryStillUsed' } });
    expect(end?.kind === 'taken-back' && end.withdrawal?.changes).toEqual([
      { container: 'app', to: { memoryLimit: 256 * MIB } },
    ]);
  });

  test('of memory alone memory is taken back: the CPU of the pod may be allocation’s, and its limit was rounded', async () => {
    const { clock, flight, show, start } = setUp();
    start(decisionFor({ memoryRequest: 512 * MIB }));
    const spec = { ...smallSize, cpuLimit: 395, memoryRequest: 512 * MIB };
    const statuses = [aContainerStatus(aContainer(), { actual: { ...smallSize, cpuLimit: 400 } })];
    show(asked({ containers: [aContainer({ size: spec })], statuses, resize: pendingAs('Deferred', '') }));
    flight.review();
    await clock.advance(15_000);
    const [end] = flight.review();
    expect(end?.kind === 'taken-back' && end.withdrawal?.changes).toEqual([
      { container: 'app', to: { memoryRequest: 128 * MIB } },
    ]);
  });

  test('rightsizing bug 11: another error is the kubelet’s to retry, for a while', async () => {
    const { clock, flight, show, start } = setUp();
    start();
    show(asked({ resize: failing('runtime is busy') }));
    flight.review();
    await clock.advance(59_999);
    expect(flight.review()).toEqual([]);
    await clock.advance(1);
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', answer: { reason: 'ResizeErrorOnNode' } }]);
  });

  test('a kubelet that says nothing is not waited for for ever', async () => {
    const { clock, flight, show, start } = setUp();
    start();
    show(asked({ observedGeneration: 1 }));
    flight.review();
    await clock.advance(120_000);
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', answer: { reason: 'ResizeNotSeen' } }]);
  });

  test('a container that is restarted for it may take its grace period to end', async () => {
    const { clock, flight, show, start } = setUp();
    const containers = [aContainer({ cpuRestart: 'RestartContainer' })];
    const template = aTemplate({ terminationGraceSeconds: 600 });
    show({ containers }, { template });
    start();
    const inProgress = { error: undefined, since: NOON };
    const restarting = containers.map((each) => ({ ...each, size: bigger }));
    show(asked({ containers: restarting, resize: { pending: undefined, inProgress } }), { template });
    flight.review();
    await clock.advance(719_999);
    expect(flight.review()).toEqual([]);
    await clock.advance(1);
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', answer: { reason: 'ResizeNotSeen' } }]);
  });

  test('a withdrawal is not withdrawn', async () => {
    const { clock, flight, show, start } = setUp();
    start(decisionFor({ cpuRequest: 300 }, { isWithdrawal: true }));
    show(asked({ observedGeneration: 1 }));
    flight.review();
    await clock.advance(120_000);
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', withdrawal: undefined }]);
  });

  test('a limit that was not there before cannot be taken away again', () => {
    const { flight, show, start } = setUp();
    start(decisionFor({ cpuLimit: 500 }));
    const before = aContainer({ size: { cpuRequest: 200 } });
    const after = aContainer({ size: { cpuRequest: 200, cpuLimit: 500 } });
    show(asked({ containers: [after], statuses: [aContainerStatus(before)], resize: pendingAs('Infeasible', 'no') }));
    expect(flight.review()).toMatchObject([{ kind: 'taken-back', withdrawal: undefined }]);
  });
});
