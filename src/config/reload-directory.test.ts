import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigError } from '../lib/errors.ts';
import { eventually } from '../lib/testing/eventually.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { type ConfigChange, followConfigFile } from './reload.ts';
import { configOf } from './testing/load-text.ts';

describe('on a real directory', () => {
  const directories: string[] = [];
  afterEach(() => {
    for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
  });

  test('the swap of a mounted ConfigMap is seen without a poll', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mounted-'));
    directories.push(directory);
    const publish = (version: string, text: string): void => {
      mkdirSync(join(directory, version));
      writeFileSync(join(directory, version, 'config.yaml'), text);
      symlinkSync(version, join(directory, '..data_tmp'));
      renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
    };
    publish('..v1', 'placement:\n  allowSingleReplica: false\n');
    symlinkSync(join('..data', 'config.yaml'), join(directory, 'config.yaml'));

    const stop = new AbortController();
    // Its poll is never due: only the watch can tell.
    const clock = createVirtualClock(0);
    const seen = new Promise<ConfigChange>((resolve, reject) => {
      followConfigFile({
        path: join(directory, 'config.yaml'),
        env: {},
        clock,
        initial: configOf(''),
        signal: stop.signal,
        onChange: resolve,
        onInvalid: reject,
        onValid: () => {},
      });
    });
    publish('..v2', 'placement:\n  allowSingleReplica: true\n');
    await eventually(() => expect(clock.pendingTimers()).toBe(2));
    await clock.advance(500);
    expect(await seen).toMatchObject({
      changed: ['placement.allowSingleReplica'],
      config: { placement: { allowSingleReplica: true } },
    });
    stop.abort();
  });

  test('a directory that does not exist leaves the poll', async () => {
    const clock = createVirtualClock(0);
    const stop = new AbortController();
    const messages: string[] = [];
    const onInvalid = (error: ConfigError): void => void messages.push(error.message);
    followConfigFile({
      path: '/nowhere/config.yaml',
      env: {},
      clock,
      initial: configOf(''),
      signal: stop.signal,
      onChange: () => {},
      onInvalid,
      onValid: () => {},
    });
    await clock.advance(30_000);
    expect(messages).toEqual([expect.stringContaining('there is no such file')]);
    stop.abort();
  });
});
