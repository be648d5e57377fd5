/** Guidance, originals, options, health, steady time: the small parts of the agent. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { readAgentOptions } from './agent-options.ts';
import { readGuidance } from './guidance.ts';
import { type AgentHealth, healthEndpoint, isHealthy, readyEndpoint } from './health.ts';
import { tighterRatio } from './measure.ts';
import { annotatedOriginal, notedOriginal } from './original-cpu.ts';
import { createSteadyTime } from './steady-time.ts';

describe('guidance of the operator', () => {
  test('nothing said is nothing known', () => {
    expect(readGuidance(undefined)).toBeUndefined();
  });

  test('becomes hints, history and quota', () => {
    const guidance = readGuidance({
      bounds: [{ layer: 'hard', reason: 'LimitRange', max: 500 }],
      isRequestFrozen: true,
      step: 0.1,
      advice: 200,
      originalRequest: 100,
      quotaRequestRoom: 300,
      quotaNodeShare: 0.5,
      isVpaOwned: true,
    });
    expect(guidance).toEqual({
      advice: 200,
      original: { request: 100, limit: undefined },
      hints: {
        bounds: [{ layer: 'hard', reason: 'LimitRange', max: 500 }],
        spread: 1,
        affinity: 1,
        isRequestFrozen: true,
        bandFactor: 1,
        step: 0.1,
      },
      history: { isVpaOwned: true },
      quota: { room: { cpuRequest: 300, cpuLimit: undefined }, nodeShare: 0.5 },
    });
  });

  test('an operator that cannot say freezes the pod', () => {
    expect(readGuidance({ isUnknown: true })?.hints).toBe('unknown');
  });

  test('what is not understood counts as not said', () => {
    const guidance = readGuidance({
      bounds: [
        { layer: 'granite', reason: 'LimitRange', max: 1 },
        { layer: 'hard', reason: 'Whim', max: 1 },
      ],
      spread: Number.NaN,
      advice: -5,
    });
    expect(guidance?.hints).toMatchObject({ bounds: [], spread: 1 });
    expect(guidance?.advice).toBeUndefined();
  });
});

describe('original sizes', () => {
  const key = 'mbcas.io/original-resources';
  test.each([
    ['{"app":{"requests":{"cpu":"200m"}},"side":{"requests":{"cpu":"0.1"}}}', { request: 300, limit: undefined }],
    ['{"app":{"requests":{"cpu":"200m"},"limits":{"cpu":"1"}}}', { request: 200, limit: 1000 }],
    ['{"app":{}}', undefined],
    ['{}', undefined],
    ['[1]', undefined],
    ['not json', undefined],
    ['null', undefined],
  ])('annotation %s', (text, original) => {
    expect(annotatedOriginal({ [key]: text })).toEqual(original);
  });

  test('no annotation never breaks it', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void annotatedOriginal({ [key]: text })));
  });

  test('of an allocation', () => {
    expect(notedOriginal({})).toBeUndefined();
    expect(notedOriginal({ originalCPURequest: '150m' })).toEqual({ request: 150, limit: undefined });
  });
});

describe('options', () => {
  test('have defaults that fit a DaemonSet', () => {
    expect(readAgentOptions({}, { NODE_NAME: 'worker-1', POD_NAMESPACE: 'infra' })).toMatchObject({
      nodeName: 'worker-1',
      configNamespace: 'infra',
      cgroupRoot: '/sys/fs/cgroup',
      bind: { host: undefined, port: 8082 },
      isObserving: false,
    });
  });

  test('what is given beats the environment', () => {
    expect(readAgentOptions({ 'node-name': 'b', observe: true }, { NODE_NAME: 'a' })).toMatchObject({
      nodeName: 'b',
      isObserving: true,
    });
  });

  test.each([
    [{ 'bind-address': '8082' }, '--bind-address'],
    [{ 'bind-address': ':70000' }, '--bind-address'],
    [{ 'log-level': 'loud' }, '--log-level'],
    [{ 'log-format': 'xml' }, '--log-format'],
    [{ 'node-name': 'Not A Node' }, '--node-name'],
  ])('%j is told', (given, option) => {
    expect(readAgentOptions(given, {})).toMatch(new RegExp(`^${option}: ".*" is not `));
  });

  test.each([
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL: "loud" is not one of debug, info, warn, error'],
    [{ LOG_FORMAT: 'xml' }, 'LOG_FORMAT: "xml" is not one of json, text'],
    [{ NODE_NAME: 'Not A Node' }, 'NODE_NAME: "Not A Node" is not the name of a node'],
  ])('%j is told by the name of the variable', (env, message) => {
    expect(readAgentOptions({}, env)).toContain(message);
  });
});

describe('health', () => {
  const health: AgentHealth = {
    cgroupDetection: 'cgroup v2',
    podsTracked: 2,
    podsManaged: 1,
    lastSampleAt: 100_000,
    lastWriteAt: undefined,
    samplesSinceStart: 3,
    writesSinceStart: 0,
    startedAt: 0,
    now: 101_000,
    gracePeriodMillis: 45_000,
    blockedBecause: undefined,
    isWriterWaiting: false,
    problems: [],
  };

  test.each([
    ['fresh samples', {}, true],
    ['no sample for over 30 s', { now: 130_001 }, false],
    ['none yet, in the first minute', { lastSampleAt: undefined, now: 59_000 }, true],
    ['none yet, later', { lastSampleAt: undefined, now: 61_000 }, false],
    ['an API that is away', { blockedBecause: 'pods cannot be followed' }, true],
  ])('%s', (_what, change, expected) => {
    expect(isHealthy({ ...health, ...change })).toBe(expected);
  });

  test('has the fields of MBCAS', async () => {
    const answer = await healthEndpoint(() => health)(new URLSearchParams());
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({
      healthy: true,
      cgroupDetection: 'cgroup v2',
      podsTracked: 2,
      lastSampleTime: '1970-01-01T00:01:40.000Z',
      lastWriteTime: null,
      samplesSinceStart: 3,
      writesSinceStart: 0,
      startTime: '1970-01-01T00:00:00.000Z',
      uptime: '101s',
      inGracePeriod: false,
    });
  });

  test('readiness says what is missing', async () => {
    expect(await readyEndpoint(() => 'no sample')(new URLSearchParams())).toMatchObject({
      status: 503,
      body: 'not ready: no sample\n',
    });
    expect(await readyEndpoint(() => undefined)(new URLSearchParams())).toMatchObject({ status: 200 });
  });
});

test('steady time goes on evenly, and takes up a wall clock that was set when it is told to', async () => {
  const clock = createVirtualClock(1_000_000);
  let shift = 0;
  const start = clock.now();
  const steady = createSteadyTime({ ...clock, now: () => clock.now() + shift }, () => clock.now() - start);
  await clock.advance(1000);
  shift = 4000;
  expect([steady.correct(), steady.now()]).toEqual([undefined, 1_001_000]);
  shift = -90_000;
  expect(steady.now()).toBe(1_001_000);
  expect(steady.correct()).toBe(-90_000);
  expect(steady.now()).toBe(911_000);
});

describe('two levels of throttling', () => {
  const window = (throttledRatio: number | undefined) => ({
    spanMillis: 1000,
    usageMillicores: 1,
    periods: 10,
    throttledRatio,
    throttledMillis: 0,
    pressureRatio: undefined,
  });
  test.each([
    [0.1, [0.5], 0.5],
    [0.6, [0.5, 0.2], 0.6],
    [undefined, [0.3, undefined], 0.3],
    [undefined, [undefined], undefined],
  ])('pod %s, containers %j: the tighter one counts', (pod, containers, ratio) => {
    expect(tighterRatio(window(pod), containers.map(window))).toBe(ratio);
  });
});
