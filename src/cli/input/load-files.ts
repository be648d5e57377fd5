/** The cluster as files describe it. */
import type { CliIo } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import { type ClusterInput, createClusterInputBuilder } from './cluster-input.ts';
import { parseDocuments } from './parse-documents.ts';
import { readSources } from './read-sources.ts';

export interface FileInputOptions {
  readonly paths: readonly string[];
  /** Namespace of objects that name none. */
  readonly defaultNamespace: string;
}

/** @throws CommandError when a path cannot be read, or nothing in any of them is a Kubernetes object. */
export async function loadFiles({ paths, defaultNamespace }: FileInputOptions, io: CliIo): Promise<ClusterInput> {
  const builder = createClusterInputBuilder({ defaultNamespace });
  let found = 0;
  let firstProblem: string | undefined;
  for (const { name, text } of await readSources(paths, io)) {
    const { objects, problems } = parseDocuments(text, name);
    for (const object of objects) builder.add(object);
    for (const problem of problems) builder.addProblem(problem);
    found += objects.length;
    firstProblem ??= problems[0];
  }
  if (found === 0)
    throw new CommandError(
      firstProblem ??
        `-f ${paths.join(', ')}: no Kubernetes object in there; give manifests or the output of \`kubectl get -o yaml\``,
    );
  return builder.build();
}
