/** A real Chromium without a window, driven over its debugging protocol. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, createSystemClock } from '../../src/lib/clock.ts';
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

const STOP_MILLIS = 5_000;

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
    // It ends by itself when these pipes close, even where this process is killed.
    '--remote-debugging-pipe',
    // Nothing but this machine can be reached.
    '--host-resolver-rules=MAP *.rebound.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    `--user-data-dir=${profile}`,
    'about:blank',
  ];
  const program = await startProgram({ name: 'chromium', command, args, env, pipes: 2 }, dir, clock);
  const stop = (): Promise<void> => program.stop(STOP_MILLIS);
  try {
    const [toChromium, fromChromium] = program.pipes;
    if (toChromium === undefined || fromChromium === undefined) throw new Error('it has no pipes');
    const tools = connectDevTools(toChromium, fromChromium);
    await tools.call('Browser.getVersion');
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
