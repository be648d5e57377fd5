/** The dashboard: shows the page the address asks for, and keeps it up to date while somebody looks. */
import type { DecisionTold, OperatorAnswer, OperatorTold } from '../answers.ts';
import { ask } from './api.ts';
import { type Child, fill, h } from './dom.ts';
import { counted } from './format.ts';
import { nodesPage } from './nodes-page.ts';
import { overviewPage } from './overview-page.ts';
import type { Host, Page } from './page.ts';
import { badge } from './parts.ts';
import { policiesPage } from './policies-page.ts';
import { createRefreshPace } from './refresh-pace.ts';
import { linkTo, type PageName, parseRoute } from './route.ts';
import { simulationPage } from './simulation-page.ts';
import { simulationsPage } from './simulations-page.ts';
import { isSilence, troubleText } from './trouble.ts';
import { workloadPage } from './workload-page.ts';
import { workloadsPage } from './workloads-page.ts';

const REFRESH_MILLIS = 5000;
/** What the viewer asks for, and bursts of decisions, come together. */
const SOON_MILLIS = 150;
/** Pods of one workload may be resized dozens of times a second, for hours. */
const NEWS_APART_MILLIS = 1000;
/**
 * Nobody who answers takes longer. A forwarded port can die without a word, and what is shown would pass for fresh for
 * ever.
 */
const PATIENCE_MILLIS = 20_000;

const byId = (id: string): HTMLElement => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no #${id}`);
  return element;
};
const main = byId('main');
const notice = byId('notice');
const status = byId('status');
const pause = byId('pause');

const pace = createRefreshPace({
  ask: () => void refresh(),
  setTimer(callback, millis) {
    const timer = window.setTimeout(callback, millis);
    return () => window.clearTimeout(timer);
  },
  soonMillis: SOON_MILLIS,
  apartMillis: NEWS_APART_MILLIS,
});
const host: Host = {
  refresh: () => pace.askIn(SOON_MILLIS),
  news: pace.news,
  replace: (address) => history.replaceState(null, '', address),
};
const makers: Readonly<Record<PageName, () => Page>> = {
  overview: overviewPage,
  workloads: () => workloadsPage(host),
  workload: () => workloadPage(host),
  nodes: () => nodesPage(host),
  policies: policiesPage,
  simulations: simulationsPage,
  simulation: simulationPage,
};
/** Of pages that are reached from another. */
const parents: Readonly<Partial<Record<PageName, PageName>>> = { workload: 'workloads', simulation: 'simulations' };

let shown: { readonly name: PageName; readonly subject: string; readonly page: Page } | undefined;
let asking = new AbortController();
/** Of when what the page shows is, by the operator's clock; undefined: nothing is shown yet. */
let drawnAt: number | undefined;
/** What the status is of, so that it is drawn, and read out, only when it changes. */
let statusKey = '';
let isPaused = false;
let decisions: EventSource | undefined;

function showRoute(isFirst: boolean): void {
  const route = parseRoute(location.hash);
  const isNew = shown?.name !== route.page || shown.subject !== route.subject;
  if (isNew) {
    const page = makers[route.page]();
    shown = { name: route.page, subject: route.subject, page };
    drawnAt = undefined;
    page.show(route);
    main.replaceChildren(page.element);
    document.title = `${route.subject === '' ? page.title : route.subject} - Stowage`;
    // For who reads by ear: a new page begins at its heading.
    if (!isFirst) page.element.querySelector('h1')?.focus();
    window.scrollTo(0, 0);
  } else shown?.page.show(route);
  for (const link of byId('nav').querySelectorAll('a')) {
    const name = parents[route.page] ?? route.page;
    if (link.dataset['page'] === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  void refresh();
}

async function refresh(): Promise<void> {
  pace.began();
  asking.abort();
  const mine = new AbortController();
  asking = mine;
  let isLate = false;
  const patience = window.setTimeout(() => {
    isLate = true;
    mine.abort();
  }, PATIENCE_MILLIS);
  try {
    const [operator] = await Promise.all([
      ask<OperatorAnswer>('operator', undefined, mine.signal),
      shown?.page.refresh(mine.signal),
    ]);
    if (asking !== mine) return;
    drawnAt = operator.at;
    showStatus(operator);
    tell('');
  } catch (error) {
    if (asking !== mine) return;
    if (isSilence({ error, isLate })) {
      drawStatus('no answer', badge('no answer', 'bad', 'Nobody knows whether what is shown still holds'));
    }
    tell(troubleText({ error, isLate, drawnAt }));
  } finally {
    window.clearTimeout(patience);
  }
  listen();
  pace.ended(isPaused || document.hidden ? undefined : REFRESH_MILLIS);
}

/** An alert is read out whenever it is drawn: once is enough. */
function tell(trouble: string): void {
  if (notice.textContent !== trouble) fill(notice, trouble !== '' && h('p', { class: 'notice bad' }, trouble));
}

/** Decisions are listened to only where they are shown and somebody looks. */
function listen(): void {
  const isWanted = shown?.page.onDecision !== undefined && !isPaused && !document.hidden;
  if (!isWanted) {
    decisions?.close();
    decisions = undefined;
  } else if (decisions === undefined || decisions.readyState === EventSource.CLOSED) {
    decisions = new EventSource('api/decisions');
    decisions.addEventListener('message', ({ data }: MessageEvent<string>) => {
      shown?.page.onDecision?.(JSON.parse(data) as DecisionTold);
    });
  }
}

function showStatus({ isLeader, readOnly, synced, stale }: OperatorTold): void {
  drawStatus(
    JSON.stringify([isLeader, readOnly, synced, stale]),
    badge(
      isLeader ? 'leader' : 'not the leader',
      isLeader ? 'good' : 'warn',
      isLeader ? 'This replica decides' : 'Another replica decides',
    ),
    readOnly && [' ', badge('read-only', 'warn', 'It decides and reports, and changes nothing')],
    !synced && [' ', badge('starting', 'warn', 'The first lists are not complete')],
    stale.length > 0 && [' ', badge(`no news of ${staleText(stale)}`, 'bad', `No news of: ${stale.join(', ')}`)],
  );
}

function drawStatus(key: string, ...badges: readonly Child[]): void {
  if (statusKey === key) return;
  statusKey = key;
  fill(status, badges);
}

const staleText = ([first = '', ...more]: readonly string[]): string =>
  more.length === 0 ? first : `${first} and ${counted(more.length, 'other')}`;

const pages: readonly (readonly [PageName, string])[] = [
  ['overview', 'Overview'],
  ['workloads', 'Workloads'],
  ['nodes', 'Nodes'],
  ['policies', 'Policies'],
  ['simulations', 'Simulations'],
];
byId('nav').append(...pages.map(([name, title]) => h('a', { href: linkTo(name), 'data-page': name }, title)));
pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  pause.textContent = isPaused ? 'Updates paused' : 'Pause updates';
  void refresh();
});
document.addEventListener('visibilitychange', () => {
  if (isPaused || document.hidden) listen();
  else void refresh();
});
window.addEventListener('hashchange', () => showRoute(false));
showRoute(true);
