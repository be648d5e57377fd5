/** One page in Chromium, as somebody in front of it would use it. */
import { writeFileSync } from 'node:fs';
import { createSystemClock, sleep } from '../../src/lib/clock.ts';
import { isRecord } from '../../src/lib/is-record.ts';
import type { DevTools, Fields } from './dev-tools.ts';

export interface TabOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
}

export interface Tab {
  /** Errors of scripts, on the console, of loading and of the content security policy so far. */
  readonly problems: readonly string[];
  /** What was asked for over the network, with the status once it is known. */
  readonly requests: readonly { readonly url: string; status?: number; bytes?: number }[];
  goTo(url: string): Promise<void>;
  /** The value of an expression in the page; promises are waited for. */
  evaluate(expression: string): Promise<unknown>;
  /** Until the expression is true. @throws Error with what the page shows. */
  until(expression: string): Promise<void>;
  /** The text of the page as it is seen. */
  text(): Promise<string>;
  click(selector: string): Promise<void>;
  type(text: string): Promise<void>;
  press(key: 'Tab' | 'Enter'): Promise<void>;
  /** A PNG of the visible part, or of the whole page. */
  screenshot(path: string, isWhole?: boolean): Promise<void>;
  /** Twice is the same as once. */
  close(): Promise<void>;
}

const PATIENCE_MILLIS = 60_000;
const POLL_MILLIS = 30;

export async function createTab(tools: DevTools, url: string, options: TabOptions = {}): Promise<Tab> {
  const { width = 1280, height = 900, scheme = 'light' } = options;
  const clock = createSystemClock();
  const { browserContextId } = await tools.call('Target.createBrowserContext');
  const { targetId } = await tools.call('Target.createTarget', { url: 'about:blank', browserContextId });
  const attached = await tools.call('Target.attachToTarget', { targetId, flatten: true });
  const session = String(attached['sessionId']);
  const call = (method: string, params?: Fields): Promise<Fields> => tools.call(method, params, session);
  let isClosed = false;
  const problems: string[] = [];
  const requests = new Map<string, { url: string; status?: number; bytes?: number }>();
  tools.onEvent(session, (method, params) => {
    const problem = problemOf(method, params);
    if (problem !== undefined) problems.push(problem);
    const id = String(params['requestId']);
    const { request, response, encodedDataLength } = params;
    if (method === 'Network.requestWillBeSent' && isRecord(request)) requests.set(id, { url: String(request['url']) });
    const known = requests.get(id);
    if (known === undefined) return;
    if (method === 'Network.responseReceived' && isRecord(response)) known.status = Number(response['status']);
    if (method === 'Network.loadingFinished') known.bytes = Number(encodedDataLength);
  });
  for (const domain of ['Runtime', 'Log', 'Network', 'Page']) await call(`${domain}.enable`);
  await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  await call('Emulation.setEmulatedMedia', {
    features: [
      { name: 'prefers-color-scheme', value: scheme },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ],
  });

  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await call('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (isRecord(exceptionDetails)) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return isRecord(result) ? result['value'] : undefined;
  };
  const text = async (): Promise<string> => String(await evaluate('document.body.innerText'));
  const tab: Tab = {
    problems,
    get requests() {
      return [...requests.values()];
    },
    async goTo(target) {
      await call('Page.navigate', { url: target });
    },
    evaluate,
    text,
    async until(expression) {
      const until = clock.now() + PATIENCE_MILLIS;
      while (clock.now() < until) {
        if ((await evaluate(expression).catch(() => false)) === true) return;
        await sleep(clock, POLL_MILLIS);
      }
      throw new Error(`never: ${expression}\n${problems.join('\n')}\nThe page shows:\n${await text()}`);
    },
    async click(selector) {
      const found = JSON.stringify(selector);
      await tab.until(`document.querySelector(${found}) !== null`);
      await evaluate(`document.querySelector(${found}).click()`);
    },
    async type(typed) {
      await call('Input.insertText', { text: typed });
    },
    async press(key) {
      const code = key === 'Tab' ? 9 : 13;
      const event = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' && { text: '\r' }) };
      await call('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
      await call('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    async screenshot(path, isWhole = false) {
      const { data } = await call('Page.captureScreenshot', { format: 'png', captureBeyondViewport: isWhole });
      writeFileSync(path, Buffer.from(String(data), 'base64'));
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await tools.call('Target.disposeBrowserContext', { browserContextId });
    },
  };
  await tab.goTo(url);
  return tab;
}

function problemOf(method: string, params: Fields): string | undefined {
  const { exceptionDetails, type, args, entry } = params;
  if (method === 'Runtime.exceptionThrown') return JSON.stringify(exceptionDetails);
  if (method === 'Runtime.consoleAPICalled' && (type === 'error' || type === 'warning')) return JSON.stringify(args);
  if (method === 'Log.entryAdded' && isRecord(entry)) return JSON.stringify(entry);
  return undefined;
}
