/**
 * The dashboard in a real Chromium: what somebody in front of it sees and does, that nothing fails on the way, and that
 * axe finds nothing. STOWAGE_SCREENSHOTS names a folder for pictures of every page, to be looked at.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { resources } from '../../src/api/resources.ts';
import { describeError } from '../../src/lib/errors.ts';
import {
  addReplicasOfTheirOwn,
  type DashboardWorld,
  startDashboardWorld,
} from '../../src/operator/testing/dashboard-world.ts';
import type { OverviewAnswer } from '../../src/web/dashboard/answers.ts';
import { comparisonText } from '../../src/web/dashboard/testing/reports.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { ensureChromium } from './find-chromium.ts';
import type { Tab, TabOptions } from './tab.ts';

const hasChromium = await ensureChromium().then(
  () => true,
  (error: unknown) => {
    console.log(`tests in a browser are left out: ${describeError(error)}`);
    return false;
  },
);
const pictures = process.env['STOWAGE_SCREENSHOTS'];
let folder: string;
let chromium: Chromium;
let world: DashboardWorld;

async function open(address: string, options?: TabOptions): Promise<Tab> {
  const tab = await chromium.open(world.url + address, options);
  onTestFinished(() => tab.close());
  return tab;
}
async function foundByAxe(tab: Tab, rules = ''): Promise<unknown> {
  await tab.evaluate(`${axe.source}; 0`);
  return await tab.evaluate(
    `axe.run(document${rules}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
  );
}

const pages = [
  ['overview', '#/', "document.querySelectorAll('.tile').length >= 6 && document.querySelector('.decision') !== null"],
  ['workloads', '#/workloads', "document.querySelectorAll('tbody tr').length === 7"],
  ['workload', '#/workload/Deployment/shop/checkout', "document.querySelectorAll('.chip').length === 6"],
  ['nodes', '#/nodes', "document.querySelectorAll('.node').length === 5"],
  ['policies', '#/policies', "document.body.innerText.includes('shop/sizes')"],
  ['simulations', '#/simulations', "document.querySelectorAll('tbody tr').length === 1"],
  ['simulation', '#/simulation/storm.json', "document.querySelectorAll('.tile').length === 6"],
] as const;

describe.skipIf(!hasChromium)('the dashboard in Chromium', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-chromium-'));
    chromium = await startChromium(folder);
  });
  afterAll(async () => {
    await chromium.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    world = await startDashboardWorld();
    const isThere = async (): Promise<boolean> => {
      const response = await fetch(`${world.url}api/overview`);
      const { sizing, allocation } = (await response.json()) as OverviewAnswer;
      return sizing?.results['Recommended'] === 6 && (allocation?.pods ?? 0) > 20;
    };
    await world.until('advice and shares', async () => {
      await world.clock.advance(2_000);
      return await isThere();
    });
  });

  test.each([
    ['light', 1280, ''],
    // The other rules have been seen to hold; colours are others.
    ['dark', 390, ", { runOnly: ['color-contrast'] }"],
  ] as const)(
    'every page in the %s at a width of %i: no error, nothing axe finds, nothing too wide',
    async (scheme, width, rules) => {
      for (const [name, address, isDrawn] of pages) {
        const tab = await open(address, { scheme, width });
        await tab.until(isDrawn);
        if (pictures !== undefined) await tab.screenshot(join(pictures, `${name}-${scheme}.png`), true);
        expect(await tab.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
        expect([name, await foundByAxe(tab, rules)]).toEqual([name, []]);
        expect(tab.problems).toEqual([]);
        await tab.close();
      }
    },
  );

  test('a workload is found, opened and told about', async () => {
    const tab = await open('#/workloads');
    await tab.until("document.querySelectorAll('tbody tr').length === 7");
    await tab.evaluate("document.querySelector('input[type=search]').focus()");
    await tab.type('checkout');
    await tab.until("document.querySelectorAll('tbody tr').length === 1 && location.hash === '#/workloads?q=checkout'");
    expect(await tab.evaluate('document.activeElement.type')).toBe('search');
    await tab.click('tbody a');
    await tab.until(
      "document.querySelector('h1')?.innerText.startsWith('checkout') && document.querySelectorAll('.chip').length === 6",
    );
    // Whoever reads by ear begins at the new heading.
    expect(await tab.evaluate('document.activeElement.tagName')).toBe('H1');
    const text = await tab.text();
    expect(text).toContain('OutsideWindow');
    expect(text).toMatch(/\d on spot, \d on on-demand, 6 and 0 wanted; \d to move\./);
    expect(text).toContain('Share of CPU');
    await tab.click("details[data-key='stages app'] summary");
    expect(await tab.text()).toContain('90');
    await tab.evaluate('history.back()');
    await tab.until("document.querySelector('input[type=search]')?.value === 'checkout'");
    expect(tab.problems).toEqual([]);
  });

  test('the usage behind advice is drawn, said in words, and told in figures', async () => {
    const tab = await open('#/workload/Deployment/shop/web');
    await tab.until("document.querySelectorAll('figure.usage').length === 2");
    expect(await tab.evaluate("document.querySelectorAll('figure.usage .mark.request').length")).toBe(2);
    expect(await tab.evaluate("document.querySelectorAll('figure.usage .mark.advised').length")).toBe(2);
    expect(await tab.text()).toMatch(/Requested 300m CPU\s+Advised 1\d\dm CPU\s+No limit/);
    expect(await tab.text()).toMatch(/half of them at most 1\d\dm CPU, nine of ten at most 1\d\dm CPU/);
    await tab.evaluate('document.querySelector("[data-key=\'usage CPU used by app\'] summary").focus()');
    await tab.press('Enter');
    await tab.until('document.querySelector("[aria-label=\'CPU used by app in figures\'] tbody tr") !== null');
    // What was opened stays open when the page is refreshed.
    await world.clock.advance(6_000);
    await tab.click('#pause');
    await tab.click('#pause');
    await tab.until('document.querySelector("[data-key=\'usage CPU used by app\']").open');
    expect(tab.problems).toEqual([]);
  });

  test('sizes of replicas stand beside each other, with what is advised for each', async () => {
    await addReplicasOfTheirOwn(world);
    const tab = await open('#/workload/StatefulSet/shop/db');
    await tab.until('document.querySelectorAll("[aria-label=\'Sizes by replica\'] tbody tr").length === 3');
    const text = await tab.text();
    expect(text).toContain('3 of 3 replicas have sizes of their own');
    expect(text).toContain('No replica has this size now: it is for new ones.');
    expect(text).toMatch(/2\s+db-2\s+app\s+500m\s+\d+m\s+\d+ MiB\s+\d+ MiB\s+its own/);
    expect(await foundByAxe(tab)).toEqual([]);
    if (pictures !== undefined) await tab.screenshot(join(pictures, 'replicas.png'), true);
    expect(tab.problems).toEqual([]);
  });

  test('what pods are given and use is followed from when the page is opened', async () => {
    const tab = await open('#/workload/Deployment/shop/web');
    await tab.until("document.querySelectorAll('.shares-picture').length === 8");
    expect(await tab.text()).toContain('when this page was first opened');
    const load = { 'stowage.test/cpu': '900m' };
    const { items } = await world.api.list(resources.pods, { namespace: 'shop' });
    const pod = items.find(({ metadata }) => metadata?.name?.startsWith('web-'))?.metadata?.name ?? '';
    await world.api.patch(
      resources.pods,
      pod,
      { type: 'merge', body: { metadata: { annotations: load } } },
      { namespace: 'shop' },
    );
    const used = `[...document.querySelectorAll('.shares li')].find((each) => each.innerText.startsWith('${pod}'))?.innerText`;
    await world.until('its use', async () => {
      await world.clock.advance(10_000);
      return /used 12\dm to [3-9]\d\dm/.test(String(await tab.evaluate(used)));
    });
    expect(tab.problems).toEqual([]);
  });

  test("filters, order and pages are the operator's work, and stay in the address", async () => {
    const tab = await open('#/workloads');
    await tab.click("[data-key='state blocked']");
    await tab.until("document.querySelectorAll('tbody tr').length === 1");
    await tab.click("[data-key='state all']");
    await tab.click("[data-key='sort replicas']");
    await tab.until(
      "document.querySelector('[aria-sort=descending]') !== null && document.querySelector('tbody th')?.innerText.startsWith('web')",
    );
    await tab.goTo(`${world.url}#/workloads?size=3&page=2&sort=name`);
    await tab.until(
      "document.querySelectorAll('tbody tr').length === 3 && document.querySelector('.pager').innerText.includes('4 to 6 of 7')",
    );
    await tab.click("[data-key='pager Next']");
    await tab.until("document.querySelectorAll('tbody tr').length === 1 && location.hash.includes('page=3')");
    expect(tab.problems).toEqual([]);
  });

  test('it is used by keyboard alone', async () => {
    const tab = await open('#/');
    await tab.until("document.querySelector('.tile') !== null");
    await tab.press('Tab');
    expect(await tab.evaluate('document.activeElement.className')).toBe('skip');
    for (let times = 0; times < 3; times++) await tab.press('Tab');
    expect(await tab.evaluate('document.activeElement.innerText')).toBe('Workloads');
    await tab.press('Enter');
    await tab.until(
      "document.querySelectorAll('tbody tr').length === 7 && document.querySelector('[aria-current=page]').innerText === 'Workloads'",
    );
    expect(tab.problems).toEqual([]);
  });

  test('decisions appear as they are made, and text of the cluster is never markup', async () => {
    const tab = await open('#/');
    await tab.until("document.querySelector('.decision') !== null");
    const markup = '<img src=x onerror=alert(1)>';
    const body = { metadata: { annotations: { 'spotalis.io/spot-percentage': markup } } };
    await world.api.patch(resources.deployments, 'api', { type: 'merge', body }, { namespace: 'shop' });
    await world.clock.advance(2_000);
    await tab.until(`document.querySelector('.decisions').innerText.includes(${JSON.stringify(markup)})`);
    expect(await tab.evaluate("document.querySelectorAll('main img').length")).toBe(0);
    expect(tab.problems).toEqual([]);
  });

  test('reports of simulations are listed and opened; a file that is none is told', async () => {
    const tab = await open('#/simulations');
    await tab.until("document.querySelectorAll('tbody tr').length === 1");
    writeFileSync(join(world.reports, 'before-after.json'), comparisonText());
    writeFileSync(join(world.reports, 'notes.json'), '{}');
    await tab.until("document.querySelectorAll('tbody tr').length === 3");
    expect(await tab.evaluate("document.querySelector('.notice.bad').innerText")).toMatch(/^notes\.json: .*no report/);
    await tab.evaluate("document.querySelector('tbody a').focus()");
    await tab.press('Enter');
    await tab.until("document.querySelector('h1')?.innerText.startsWith('before and after')");
    expect(await tab.text()).toContain('Side by side');
    expect(await tab.evaluate("document.querySelector('#nav [aria-current]').innerText")).toBe('Simulations');
    await tab.goTo(`${world.url}#/simulation/gone.json`);
    await tab.until("document.querySelector('#notice').innerText === 'there is no report gone.json.'");
  });

  test('updates can be paused, also for who goes and comes back; an operator that is gone is said to be', async () => {
    const tab = await open('#/nodes');
    await tab.until("document.querySelector('.node') !== null");
    await tab.click('#pause');
    await tab.until("document.querySelector('#pause').getAttribute('aria-pressed') === 'true'");
    await tab.evaluate('ask = fetch; fetch = (...given) => ((hasAsked = true), ask(...given)); hasAsked = false');
    expect(await tab.evaluate("document.dispatchEvent(new Event('visibilitychange')), hasAsked")).toBe(false);
    const stopping = world.operator().stop();
    await world.clock.advance(10_000);
    await stopping;
    await tab.click('#pause');
    await tab.until("document.querySelector('#notice').innerText.includes('does not answer')");
  });

  test('a connection that died without a word is told of, once, and so is the age of what is still shown', async () => {
    const tab = await open('#/nodes');
    await tab.until(
      "document.querySelector('.node') !== null && document.querySelector('#status').innerText === 'leader'",
    );
    // Hundreds of times as fast as in front of people: nothing answers any more, and whoever asks may give up.
    await tab.evaluate(`
      const timer = window.setTimeout;
      window.setTimeout = (callback, millis) => timer(callback, millis / 200);
      window.asked = 0;
      window.drawn = 0;
      window.fetch = (_, { signal }) => {
        window.asked++;
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      };
      new MutationObserver(() => window.drawn++).observe(document.querySelector('#notice'), { childList: true });
      document.querySelector('#pause').click();
      document.querySelector('#pause').click();
    `);
    await tab.until("/does not answer.*What is shown is of \\d\\d:/.test(document.querySelector('#notice').innerText)");
    expect(await tab.evaluate("document.querySelector('#status').innerText")).toBe('no answer');
    expect(await tab.evaluate("document.querySelectorAll('.node').length")).toBe(5);
    // It goes on asking, and is not read out again.
    await tab.evaluate('window.asked = 0');
    await tab.until('window.asked >= 6');
    expect(await tab.evaluate('window.drawn')).toBe(1);
  });

  test('what the viewer opened, closed, focused and scrolled stays so when the page is drawn anew', async () => {
    const tab = await open('#/workload/Deployment/shop/checkout');
    await tab.until("document.querySelectorAll('.chip').length === 6");
    // So few pods are told one by one from the start; who closes the list wants it closed.
    await tab.evaluate("document.querySelector('details[data-key=pods] summary').focus()");
    await tab.press('Enter');
    await tab.evaluate("window.before = document.querySelector('details[data-key=pods]')");
    await tab.evaluate("document.querySelector('#pause').click(), document.querySelector('#pause').click()");
    await tab.until("document.querySelector('details[data-key=pods]') !== window.before");
    expect(await tab.evaluate("document.querySelector('details[data-key=pods]').open")).toBe(false);
    expect(await tab.evaluate("document.activeElement.matches('details[data-key=pods] > summary')")).toBe(true);
    expect(tab.problems).toEqual([]);
  });

  test('nothing is loaded from elsewhere, and nothing under a name that was made to point here', async () => {
    const tab = await open('#/');
    await tab.until("document.querySelector('.tile') !== null");
    for (const { url } of tab.requests) expect(new URL(url).origin).toBe(new URL(world.url).origin);
    const rebound = await chromium.open(world.url.replace('127.0.0.1', 'page.rebound.test'));
    onTestFinished(() => rebound.close());
    await rebound.until("document.body.innerText.includes('web.allowedHosts')");
  });
});
