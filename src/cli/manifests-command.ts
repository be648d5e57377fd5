/** `stowage manifests`: the whole installation as plain manifests, without helm or, for values of one's own, by it. */
import { Argument } from 'commander';
import type { AddCommand } from './command-definition.ts';
import { profileNames } from './manifests/profiles.ts';
import type { ManifestsOptions } from './manifests/run-manifests.ts';

const EXAMPLES = `
Examples:
  stowage manifests -n stowage-system | kubectl apply --server-side -f -
  stowage manifests all --image registry.example.com/stowage:1.0 -n platform
  stowage manifests --values values.yaml -n stowage-system \\
    | kubectl diff --server-side --force-conflicts -f -
  stowage manifests -n stowage-system --to-delete \\
    | kubectl delete --ignore-not-found -f -               # uninstall

--values needs helm.`;

export const addManifestsCommand: AddCommand = (program, register) => {
  const command = program
    .command('manifests')
    .description('Print everything an installation consists of, as YAML for kubectl apply.')
    .addArgument(
      new Argument('[profile]', 'which engines (default: placement; not with --values)').choices(profileNames),
    )
    .option('--values <file>', 'values of the Helm chart instead; helm must be on the PATH')
    .option('--image <image>', 'image to run instead of the published one')
    .option('--to-delete', 'only what may be deleted: neither the namespace nor the definitions of kinds')
    .addHelpText('after', EXAMPLES);
  register<ManifestsOptions>(command, async (context, options, [profile]) =>
    (await import('./manifests/run-manifests.ts')).runManifests(context, options, profile),
  );
  return command;
};
