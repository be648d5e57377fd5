/** The installations that are rendered beforehand (`npm run manifests`), and where they and the chart lie. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const profileNames = ['placement', 'rightsizing', 'allocation', 'all'] as const;
export type ProfileName = (typeof profileNames)[number];

/** The repository, or what is laid out like it: beside src/ as beside dist/. */
const root = new URL(import.meta.url.endsWith('.ts') ? '../../../' : '../', import.meta.url);

export const chartFolder = fileURLToPath(new URL('charts/stowage', root));

/** Groups of the definitions that an installation of this profile needs. */
export const definitionGroups: Readonly<Record<ProfileName, readonly string[]>> = {
  placement: [],
  rightsizing: ['optipod.io', 'optipod.optipod.io'],
  allocation: ['allocation.mbcas.io'],
  all: ['optipod.io', 'optipod.optipod.io', 'allocation.mbcas.io'],
};

/** The namespace of the rendered files. It stands for nothing else in them. */
export const RENDERED_NAMESPACE = 'spotalis-system';

export function isProfileName(text: string | undefined): text is ProfileName {
  return profileNames.some((name) => name === text);
}

/** @throws Error when the file is missing: the package is not whole. */
export function readProfile(name: ProfileName): string {
  return readFileSync(new URL(`deploy/profiles/${name}.yaml`, root), 'utf8');
}
