/** A simulation beside the demo, for the dashboard to show its report: hours of virtual time, a second or two of a core. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, sleep } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { loadScenario } from '../../simulator/scenario/load-scenario.ts';
import { simulate } from '../../simulator/simulate.ts';
import type { StartOperator } from '../operator-port.ts';
import { renderDocument } from '../output.ts';
import { simulationDocument } from '../simulate/simulation-document.ts';
import type { Cleanup } from './cleanup.ts';

export interface DemoReportOptions {
  /** Is made; the report is written there. */
  readonly folder: string;
  readonly startOperator: StartOperator;
  readonly clock: Clock;
  readonly log: Logger;
  readonly cleanup: Cleanup;
}

const SCENARIO = 'spot-storm';
/** The start of the demo itself comes first. */
const AFTER_MILLIS = 8_000;

/** Returns at once. What goes wrong is logged: the demo does without. */
export function startDemoReport({ folder, startOperator, clock, log, cleanup }: DemoReportOptions): void {
  mkdirSync(folder);
  const stopping = new AbortController();
  const { signal } = stopping;
  const make = async (): Promise<void> => {
    await sleep(clock, AFTER_MILLIS, signal);
    const report = await simulate({ ...loadScenario(SCENARIO), startOperator, signal });
    writeFileSync(join(folder, `${SCENARIO}.json`), renderDocument(simulationDocument(report), 'json') ?? '');
  };
  const made = make().catch((error: unknown) => {
    if (!signal.aborted) log.warn({ error, scenario: SCENARIO }, 'The dashboard has no report of a simulation');
  });
  cleanup.defer(async () => {
    stopping.abort(new Error('The demo is ending.'));
    await made;
  });
}
