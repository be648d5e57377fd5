/** `npm run test:build`: builds the programs of the control plane and of the nodes where they are missing, fetches helm, Prometheus and a browser, and runs nothing. */
import { describeError } from '../../src/lib/errors.ts';
import { ensureChromium } from '../browser/find-chromium.ts';
import { ensureHelm } from '../chart/helm.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { runCommand } from '../controlplane/run-command.ts';
import { ensurePrometheus } from '../prometheus/find-prometheus.ts';
import { obstacles } from './host/requirements.ts';
import { ensureNodePrograms } from './programs/ensure-programs.ts';

await runCommand('programs', async ({ clock, report, signal }) => {
  const options = { clock, env: process.env, report, signal };
  await ensureBinaries(options);
  if (obstacles().length === 0) await ensureNodePrograms(options);
  else report('no node programs: a real node cannot run here');
  const helm = await ensureHelm(options);
  if (!helm.ok) report(`no tests of the chart: ${helm.reason}`);
  for (const [what, ensure] of [
    ['with Prometheus', ensurePrometheus],
    ['in a browser', ensureChromium],
  ] as const)
    await ensure().catch((error: unknown) => report(`no tests ${what}: ${describeError(error)}`));
  return 0;
});
