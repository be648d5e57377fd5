/** `stowage crds`: the CustomResourceDefinitions, ready for `kubectl apply`. */
import { APPLY_DEFINITIONS } from '../api/pruned-field.ts';
import { UsageError } from './cli-error.ts';
import type { AddCommand } from './command-definition.ts';
import { exitCodes } from './exit-codes.ts';

interface CrdsOptions {
  readonly group?: readonly string[];
}

const EXAMPLES = `
Examples:
  ${APPLY_DEFINITIONS}
  stowage crds --group optipod.io    # one API group only; may be repeated
  stowage crds -o json`;

export const addCrdsCommand: AddCommand = (program, register) => {
  const command = program
    .command('crds')
    .description('Print the definitions of the kinds Stowage serves, as YAML for kubectl apply.')
    .option('--group <group>', 'only this API group', (group: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      group,
    ])
    .addHelpText('after', EXAMPLES);
  register<CrdsOptions>(command, async (context, { group: wanted }) => {
    // Schemas are slow to load, and no other command needs them.
    const [{ crdDescriptions }, { crdsYaml }, { customResourceDefinition }] = await Promise.all([
      import('../api/crd/crds.ts'),
      import('../api/crd/crd-yaml.ts'),
      import('../api/crd/crd.ts'),
    ]);
    const groups = crdDescriptions.map(({ group }) => group);
    const unknown = wanted?.find((group) => !groups.includes(group));
    if (unknown !== undefined)
      throw new UsageError(`there is no group ${JSON.stringify(unknown)}; accepted: ${groups.join(', ')}`);
    const chosen = crdDescriptions.filter(({ group }) => wanted === undefined || wanted.includes(group));
    const list = { apiVersion: 'v1', kind: 'List', items: chosen.map(customResourceDefinition) };
    context.io.out.write(
      context.global.output === 'json' ? `${JSON.stringify(list, undefined, 2)}\n` : crdsYaml(chosen),
    );
    return exitCodes.ok;
  });
  return command;
};
