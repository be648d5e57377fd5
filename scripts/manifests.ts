/** `npm run manifests`: writes deploy/ from the Helm chart. Fetches helm first where it is missing. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createSystemClock } from '../src/lib/clock.ts';
import { ensureHelm } from '../test/chart/helm.ts';
import { renderDeployManifests } from './deploy-manifests.ts';

const root = resolve(import.meta.dirname, '..');
const found = await ensureHelm({ clock: createSystemClock(), env: process.env });
if (found.ok) {
  for (const [path, text] of renderDeployManifests(found.programs, root)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(`wrote ${path}`);
  }
} else {
  console.error(`deploy/ cannot be rendered here: ${found.reason}`);
  process.exitCode = 1;
}
