/** A real Chromium without a window, driven over its debugging protocol. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, createSystemClock, sleep } from '../../src/lib/clock.ts';
import { readLogTail, startProgram } from '../controlplane/process-group.ts';
import { connectDevTools } from './dev-tools.ts';
import { ensureChromium } from './find-chromium.ts';
import { createTab, type Tab, type TabOptions } from './tab.ts';

export interface Chromium {
  /** A tab of its own, without anything in common with the others. */
  open(url: string, options?: TabOptions): Promise<Tab>;
  /** Ends it and waits until it has ended. */
  stop(): Promise<void>;
}

const START_MILLIS = 30_000;
const STOP_MILLIS = 5_000;
const POLL_MILLIS = 25;

/** @param dir for its profile and log; the caller's to delete. @throws Error with the end of its log when it does not start. */
export async function startChromium(dir: string, clock: Clock = createSystemClock()): Promise<Chromium> {
  const { command, env } = await ensureChromium();
  const profile = join(dir, 'profile');
  mkdirSync(profile, { recursive: true });
  const args = [
    '--headless',
    // Its sandbox needs rights that containers do not give; what it loads here is ours.
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--no-first-run',
    '--hide-scrollbars',
    '--force-color-profile=srgb',
    '--remote-debugging-port=0',
    // Nothing but this machine can be reached.
    '--host-resolver-rules=MAP *.rebound.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    `--user-data-dir=${profile}`,
    'about:blank',
  ];
  const program = await startProgram({ name: 'chromium', command, args, env }, dir, clock);
  const stop = (): Promise<void> => program.stop(STOP_MILLIS);
  try {
    const tools = await connectDevTools(await debuggingUrl(profile, program.isRunning, clock));
    return {
      open: (url, options) => createTab(tools, url, options),
      async stop() {
        tools.close();
        await stop();
      },
    };
  } catch (cause) {
    await stop();
    throw new Error(`Chromium did not start:\n${readLogTail(dir, 'chromium', 20)}`, { cause });
  }
}

async function debuggingUrl(profile: string, isRunning: () => boolean, clock: Clock): Promise<string> {
  for (let waited = 0; waited < START_MILLIS && isRunning(); waited += POLL_MILLIS) {
    const [port, path] = readLines(join(profile, 'DevToolsActivePort'));
    if (port !== undefined && path !== undefined) return `ws://127.0.0.1:${port}${path}`;
    await sleep(clock, POLL_MILLIS);
  }
  throw new Error('it has not said where it listens');
}

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
