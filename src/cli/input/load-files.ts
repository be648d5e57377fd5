/** The cluster as files describe it. */
import type { CliIo } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import { type ClusterInput, createClusterInputBuilder } from './cluster-input.ts';
import { readPath } from './read-path.ts';

export interface FileInputOptions {
  /** Files, directories, or `-` for standard input. */
  readonly paths: readonly string[];
  /** Namespace of objects that name none. */
  readonly defaultNamespace: string;
}

/** @throws CommandError for a path in which there is no Kubernetes object. Objects that cannot be read are problems of the result. */
export async function loadFiles({ paths, defaultNamespace }: FileInputOptions, io: CliIo): Promise<ClusterInput> {
  const builder = createClusterInputBuilder({ defaultNamespace });
  for (const path of paths) {
    const { objects, problems } = await readPath(path, io);
    if (objects.length === 0) throw new CommandError(`-f ${problems[0] ?? `${path}: ${NOTHING_FOUND}`}`);
    for (const object of objects) builder.add(object);
    for (const problem of problems) builder.addProblem(problem);
  }
  return builder.build();
}

const NOTHING_FOUND = 'no Kubernetes object in there; give manifests or the output of `kubectl get -o yaml`';
