import { describe, expect, test } from 'vitest';
import { ConfigError } from '../lib/errors.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { type ConfigChange, changedKeys, followConfigFile, keptUntilRestart } from './reload.ts';
import { configOf } from './testing/load-text.ts';

/** A follower of a file that is a variable, in virtual time, with a directory that reports only when told to. */
function follow(initialText: string) {
  const clock = createVirtualClock(0);
  const stop = new AbortController();
  const changes: ConfigChange[] = [];
  const invalid: string[] = [];
  let isValid = true;
  const file: { text: string | undefined } = { text: initialText };
  let touch = (): void => {};
  let watched = '';
  let watching = true;
  followConfigFile({
    path: '/etc/spotalis/config.yaml',
    env: {},
    clock,
    initial: configOf(initialText),
    signal: stop.signal,
    onChange: (change) => changes.push(change),
    onInvalid: (error) => {
      invalid.push(error.message);
      isValid = false;
    },
    onValid: () => {
      isValid = true;
    },
    watchDirectory(directory, onEvent) {
      watched = directory;
      touch = onEvent;
      return () => {
        watching = false;
      };
    },
    read(path) {
      if (file.text === undefined) throw new ConfigError([`failed to load config from file ${path}: gone`]);
      return file.text;
    },
  });
  return {
    clock,
    stop,
    changes,
    invalid,
    isValid: () => isValid,
    file,
    /** Something changed in the directory, and stays as it is. */
    async touch() {
      touch();
      await clock.advance(500);
    },
    /** Something changed, and the next thing is about to. */
    glimpse: () => touch(),
    watched: () => watched,
    watching: () => watching,
  };
}

describe('followConfigFile', () => {
  test('a change is seen by the watch on the directory, as soon as it has stayed for half a second', async () => {
    const follower = follow('placement:\n  rounding: ceil\n');
    expect(follower.watched()).toBe('/etc/spotalis');
    follower.file.text = 'placement:\n  rounding: floor\n';
    await follower.touch();
    expect(follower.changes).toMatchObject([
      { changed: ['placement.rounding'], needRestart: [], config: { placement: { rounding: 'floor' } } },
    ]);
  });

  test('a file that is being written in place is not taken while it is empty or cut off', async () => {
    const whole = 'operator:\n  readOnlyMode: true\nplacement:\n  allowSingleReplica: true\n';
    const follower = follow(whole);
    for (const part of ['', 'operator:\n', 'operator:\n  readOnlyMode: true\n', whole]) {
      follower.file.text = part;
      follower.glimpse();
      await follower.clock.advance(499);
    }
    await follower.clock.advance(60_000);
    expect(follower.changes).toEqual([]);
    expect(follower.invalid).toEqual([]);
  });

  test('what changes again before it was taken waits anew, also where nobody tells', async () => {
    const follower = follow('');
    follower.file.text = 'operator:\n';
    follower.glimpse();
    await follower.clock.advance(400);
    follower.file.text = 'operator:\n  readOnlyMode: true\n';
    await follower.clock.advance(100);
    expect(follower.changes).toEqual([]);
    await follower.clock.advance(500);
    expect(follower.changes.map(({ changed }) => changed)).toEqual([['operator.readOnlyMode']]);
  });

  test('a change is seen within eleven seconds where nothing is reported', async () => {
    const follower = follow('');
    follower.file.text = 'operator:\n  readOnlyMode: true\n';
    await follower.clock.advance(10_499);
    expect(follower.changes).toEqual([]);
    await follower.clock.advance(1);
    expect(follower.changes.map(({ changed }) => changed)).toEqual([['operator.readOnlyMode']]);
  });

  test('it tells which changes need a restart, and carries the warnings', async () => {
    const follower = follow('');
    follower.file.text = 'webhook:\n  port: 10250\nplacement:\n  allowSingleReplica: true\nnonsense: 1\n';
    await follower.touch();
    expect(follower.changes).toMatchObject([
      {
        changed: ['placement.allowSingleReplica', 'webhook.port'],
        needRestart: ['webhook.port'],
        warnings: [expect.stringContaining('nonsense')],
      },
    ]);
  });

  test('the same text, and text that means the same, is no change', async () => {
    const follower = follow('operator:\n  readOnlyMode: false\n');
    await follower.touch();
    follower.file.text = '# a comment\n';
    await follower.touch();
    await follower.clock.advance(60_000);
    expect(follower.changes).toEqual([]);
    expect(follower.invalid).toEqual([]);
  });

  test.each([
    ['one that cannot be read', 'webhook:\n  port: x\n'],
    ['none', undefined],
  ])('after %s, what is in force is valid again, and no change', async (_, text) => {
    const follower = follow('placement:\n  rounding: floor\n');
    follower.file.text = text;
    await follower.touch();
    expect(follower.isValid()).toBe(false);
    follower.file.text = 'placement:\n  rounding: floor\n';
    await follower.touch();
    expect(follower.isValid()).toBe(true);
    expect(follower.changes).toEqual([]);
    follower.file.text = 'placement:\n  rounding: ceil\n';
    await follower.touch();
    expect([follower.isValid(), follower.changes.length]).toEqual([true, 1]);
  });

  test('an invalid file keeps the old configuration and is reported once', async () => {
    const follower = follow('');
    follower.file.text = 'webhook:\n  port: x\n';
    await follower.touch();
    await follower.clock.advance(60_000);
    expect(follower.invalid).toEqual([expect.stringContaining('/etc/spotalis/config.yaml:2: webhook.port')]);
    expect(follower.changes).toEqual([]);

    follower.file.text = 'webhook:\n  port: y\n';
    await follower.touch();
    expect(follower.invalid).toHaveLength(2);

    follower.file.text = 'placement:\n  allowSingleReplica: true\n';
    await follower.touch();
    expect(follower.changes.map(({ changed }) => changed)).toEqual([['placement.allowSingleReplica']]);
  });

  test('a file that is gone is reported once, and followed again when it is back', async () => {
    const follower = follow('');
    follower.file.text = undefined;
    await follower.clock.advance(60_000);
    expect(follower.invalid).toEqual([expect.stringContaining('failed to load config from file')]);
    follower.file.text = 'placement:\n  allowSingleReplica: true\n';
    await follower.clock.advance(10_500);
    expect(follower.changes).toHaveLength(1);
  });

  test('going back to the first text is a change again', async () => {
    const follower = follow('');
    follower.file.text = 'placement:\n  allowSingleReplica: true\n';
    await follower.touch();
    follower.file.text = '';
    await follower.touch();
    expect(follower.changes.map(({ config }) => config.placement.allowSingleReplica)).toEqual([true, false]);
  });

  test('it ends with the signal, leaving no timer and no watch', async () => {
    const follower = follow('');
    follower.stop.abort();
    expect(follower.watching()).toBe(false);
    expect(follower.clock.pendingTimers()).toBe(0);
    follower.file.text = 'placement:\n  allowSingleReplica: true\n';
    await follower.clock.advance(60_000);
    expect(follower.changes).toEqual([]);
  });

  test('it does not start after the signal', () => {
    const clock = createVirtualClock(0);
    const ignore = (): void => {};
    followConfigFile({
      path: '/x/y',
      env: {},
      clock,
      initial: configOf(''),
      signal: AbortSignal.abort(),
      onChange: ignore,
      onInvalid: ignore,
      onValid: ignore,
    });
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('changedKeys', () => {
  test('compares values, not identities', () => {
    const text =
      'controllers:\n  nodeClassifier:\n    profiles: [gke]\n  namespaceSelector:\n    matchLabels: {a: b}\n';
    expect(changedKeys(configOf(text), configOf(text))).toEqual([]);
    expect(changedKeys(configOf(''), configOf(text))).toEqual([
      'controllers.namespaceSelector',
      'controllers.nodeClassifier.profiles',
    ]);
    expect(changedKeys(configOf(text), configOf(''))).toHaveLength(2);
  });
});

describe('keptUntilRestart', () => {
  test('keys that need a restart keep what the process was started with, all others are the new ones', () => {
    const [before, after] = [configOf('webhook:\n  port: 9443'), configOf('webhook:\n  port: 9444\n  enabled: false')];
    expect(keptUntilRestart(before, after)).toEqual(before);
    const next = configOf('operator:\n  readOnlyMode: true\n  namespace: other\nplacement:\n  rounding: floor');
    expect(keptUntilRestart(before, next)).toEqual({
      ...before,
      operator: { ...before.operator, readOnlyMode: true },
      placement: { ...before.placement, rounding: 'floor' },
    });
  });

  test('what is not given stays not given', () => {
    const selecting = configOf('controllers:\n  namespaceSelector:\n    matchLabels: { team: a }');
    const plain = configOf('');
    expect(keptUntilRestart(plain, selecting)).toEqual(plain);
    expect(keptUntilRestart(selecting, plain)).toEqual(selecting);
  });
});
