/**
 * `npm run sbom`: the bill of materials (CycloneDX) of what runs in production. `npm sbom --omit dev` leaves out packages that tools
 * need, too (npm 11.19), so everything is listed by npm and filtered here by the lock file.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** `name@version` of every package that is neither a tool nor optional. */
function productionPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return new Set(
    Object.entries(packages)
      .filter(([path, each]) => path !== '' && !each.dev && !each.optional && !each.devOptional)
      .map(
        ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`,
      ),
  );
}

const npm = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
if (npm.status === 0) {
  const kept = productionPackages();
  const bill = JSON.parse(npm.stdout);
  const isOwn = (ref) => ref === bill.metadata.component['bom-ref'];
  bill.components = bill.components.filter((component) => kept.has(component['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => isOwn(ref) || kept.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
  process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);
} else {
  process.stderr.write(`sbom: npm cannot list the packages: ${npm.error?.message ?? npm.stderr}\n`);
  process.exitCode = 1;
}
