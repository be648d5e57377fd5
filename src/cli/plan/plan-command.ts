/** `stowage plan`: what would be done, and why, without doing any of it. */
import { InvalidArgumentError } from 'commander';
import { parseMinOnDemand, parseSpotPercentage } from '../../api/annotations-values.ts';
import { InvalidValueError } from '../../lib/errors.ts';
import type { AddCommand } from '../command-definition.ts';
import { addInputOptions, type InputOptions } from '../input-options.ts';

export interface PlanOptions extends InputOptions {
  readonly assumeEnabled?: boolean;
  readonly spotPercentage?: string;
  readonly minOnDemand?: string;
  readonly exitCode?: boolean;
}

const EXAMPLES = `
Examples:
  stowage plan                        # the cluster of the current kubeconfig
  stowage plan -n shop --exit-code    # exit code 3 if something is to be done
  stowage plan -f manifests/ --assume-enabled --spot-percentage 70
  kubectl get ns,no,po,rs,deploy,sts,pdb,pvc,pv -A -o json | stowage plan -f -
  stowage plan -f dump.json -o json

It never writes to the cluster.`;

export const addPlanCommand: AddCommand = (program, register) => {
  const command = addInputOptions(program.command('plan'))
    .description('Show what Stowage would do with the workloads of a cluster, or of files, and why; writes nothing.')
    .option('--assume-enabled', 'plan as if all namespaces and workloads carried the label spotalis.io/enabled: "true"')
    .option('--spot-percentage <percent>', 'with --assume-enabled: percentage for every workload', parsePercentage)
    .option('--min-on-demand <count>', 'with --assume-enabled: floor for every workload, e.g. 2 or 30%', parseFloor)
    .option('--exit-code', 'exit with 3 if something would be done')
    .addHelpText('after', EXAMPLES);
  register<PlanOptions>(command, async (context, options) => (await import('./run-plan.ts')).runPlan(context, options));
  return command;
};

/** By the code that reads the annotation, and here: one message instead of one for every workload. */
const parsePercentage = checkedBy(parseSpotPercentage);
const parseFloor = checkedBy(parseMinOnDemand);

function checkedBy(parse: (text: string) => unknown): (text: string) => string {
  return (text) => {
    try {
      parse(text);
      return text;
    } catch (error) {
      if (error instanceof InvalidValueError) throw new InvalidArgumentError(`Give ${error.accepted}.`);
      throw error;
    }
  };
}
