/** Makes known what sequences are about besides built-in kinds: Stowage's own. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Endpoint } from '../endpoint.ts';

const DEFINITIONS = join(import.meta.dirname, '../../../charts/stowage/crds');
const COLLECTIONS = [
  '/apis/optipod.io/v1alpha1/optimizationpolicies',
  '/apis/allocation.mbcas.io/v1alpha1/podallocations',
];
/** A real server takes a second or so until it serves what was defined. */
const MOST_TRIES = 5_000;

/** Resolves when the kinds are served. @throws Error when they are not */
export async function define({ call }: Endpoint): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const file of readdirSync(DEFINITIONS)) {
    const body: unknown = parse(readFileSync(join(DEFINITIONS, file), 'utf8'));
    const { status, text } = await call('POST', path, { body });
    if (status !== 201 && status !== 409) throw new Error(`${file}: ${status} ${text}`);
  }
  for (const collection of COLLECTIONS) {
    let tries = 0;
    while ((await call('GET', collection)).status !== 200)
      if (++tries > MOST_TRIES) throw new Error(`${collection} is not served`);
  }
}
