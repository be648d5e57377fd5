import { describe, expect, test } from 'vitest';
import { isObject, toJson } from '../json.ts';
import type { ApiObject } from '../served-type.ts';
import { ageOf, humanDuration } from './column-source.ts';
import { podRow } from './pod-row.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('ages', () => {
  test.each([
    [0, '0s'],
    [119 * SECOND, '119s'],
    [2 * MINUTE, '2m'],
    [9 * MINUTE + 59 * SECOND, '9m59s'],
    [179 * MINUTE, '179m'],
    [3 * HOUR, '3h'],
    [7 * HOUR + 59 * MINUTE, '7h59m'],
    [47 * HOUR, '47h'],
    [48 * HOUR, '2d'],
    [7 * DAY + 5 * HOUR, '7d5h'],
    [8 * DAY + 5 * HOUR, '8d'],
    [729 * DAY, '729d'],
    [800 * DAY, '2y70d'],
    [3_650 * DAY, '10y'],
    [-5 * SECOND, '<invalid>'],
  ])('%i ms are %s', (millis, expected) => {
    expect(humanDuration(millis)).toBe(expected);
  });

  test('of what has no time are unknown', () => {
    expect(ageOf(undefined, NOW)).toBe('<unknown>');
    expect(ageOf('2025-12-31T23:59:30Z', NOW)).toBe('30s');
  });
});

describe('pods', () => {
  const pod = (status: object, { spec = {}, metadata = {} }: { spec?: object; metadata?: object } = {}): ApiObject => {
    const content = toJson({ spec: { containers: [{ name: 'a' }, { name: 'b' }], ...spec }, status });
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      ...(isObject(content) ? content : {}),
      metadata: { name: 'p', ...metadata },
    };
  };
  const running = (name: string, more: object = {}) => ({
    name,
    ready: true,
    restartCount: 0,
    state: { running: {} },
    ...more,
  });
  const waiting = (name: string, reason: string) => ({
    name,
    ready: false,
    restartCount: 0,
    state: { waiting: { reason } },
  });
  const ended = (name: string, terminated: object) => ({ name, ready: false, restartCount: 0, state: { terminated } });

  test.each<[string, ApiObject, [string, string, string]]>([
    ['running', pod({ phase: 'Running', containerStatuses: [running('a'), running('b')] }), ['2/2', 'Running', '0']],
    ['pending', pod({ phase: 'Pending' }), ['0/2', 'Pending', '0']],
    [
      'gated',
      pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
      ['0/2', 'SchedulingGated', '0'],
    ],
    [
      'crash loop',
      pod({ phase: 'Running', containerStatuses: [running('a'), waiting('b', 'CrashLoopBackOff')] }),
      ['1/2', 'CrashLoopBackOff', '0'],
    ],
    [
      'killed for memory',
      pod({ phase: 'Failed', containerStatuses: [ended('a', { reason: 'OOMKilled', exitCode: 137 })] }),
      ['0/2', 'OOMKilled', '0'],
    ],
    [
      'exit code',
      pod({ phase: 'Failed', containerStatuses: [ended('a', { exitCode: 3 })] }),
      ['0/2', 'ExitCode:3', '0'],
    ],
    [
      'signal',
      pod({ phase: 'Failed', containerStatuses: [ended('a', { exitCode: 137, signal: 9 })] }),
      ['0/2', 'Signal:9', '0'],
    ],
    [
      'one completed, one running',
      pod({
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [ended('a', { reason: 'Completed', exitCode: 0 }), running('b')],
      }),
      ['1/2', 'Running', '0'],
    ],
    ['evicted', pod({ phase: 'Failed', reason: 'Evicted' }), ['0/2', 'Evicted', '0']],
    [
      'terminating',
      pod(
        { phase: 'Running', containerStatuses: [running('a'), running('b')] },
        { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
      ),
      ['2/2', 'Terminating', '0'],
    ],
    [
      'restarted',
      pod({
        phase: 'Running',
        containerStatuses: [
          running('a', { restartCount: 2, lastState: { terminated: { finishedAt: '2025-12-31T23:55:00Z' } } }),
          running('b'),
        ],
      }),
      ['2/2', 'Running', '2 (5m ago)'],
    ],
    [
      'initializing',
      pod(
        { phase: 'Pending', initContainerStatuses: [ended('i', { exitCode: 0 }), waiting('j', 'PodInitializing')] },
        { spec: { initContainers: [{ name: 'i' }, { name: 'j' }] } },
      ),
      ['0/2', 'Init:1/2', '0'],
    ],
    [
      'init failed',
      pod(
        { phase: 'Pending', initContainerStatuses: [ended('i', { exitCode: 1 })] },
        { spec: { initContainers: [{ name: 'i' }] } },
      ),
      ['0/2', 'Init:ExitCode:1', '0'],
    ],
    [
      'sidecar',
      pod(
        {
          phase: 'Running',
          initContainerStatuses: [running('s', { started: true, restartCount: 1 })],
          containerStatuses: [running('a'), running('b')],
        },
        { spec: { initContainers: [{ name: 's', restartPolicy: 'Always' }] } },
      ),
      ['3/3', 'Running', '1'],
    ],
  ])('%s', (_, object, expected) => {
    const { ready, status, restarts } = podRow(object, NOW);
    expect([ready, status, restarts]).toEqual(expected);
  });
});
