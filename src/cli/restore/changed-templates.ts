/** Workloads whose template rightsizing wrote: putting that back is a rollout, which is for people to begin. */
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { KubeObject } from '../../api/core.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { type Reader, readAllowed } from '../input/read-allowed.ts';

const types: readonly ResourceType[] = [resources.deployments, resources.statefulSets, resources.daemonSets];

/** A sentence each, with the command that takes it back. Of what may not be listed nothing is told. */
export async function changedTemplates(reader: Reader, namespace: string | undefined): Promise<readonly string[]> {
  const found = await Promise.all(types.map((type) => changedOf(reader, type, namespace)));
  return found.flat().sort();
}

async function changedOf(reader: Reader, type: ResourceType, within: string | undefined): Promise<string[]> {
  let lines: string[] = [];
  const begin = () => {
    lines = [];
    const add = ({ metadata }: KubeObject): void => {
      const had = metadata?.annotations?.[sizingKeys.originalResources];
      if (had === undefined) return;
      const { namespace = '', name = '' } = metadata ?? {};
      lines.push(
        `${type.kind} ${namespace}/${name}: its template was changed, too, and had ${had}. Apply your manifest, or: kubectl -n ${namespace} rollout undo ${type.kind.toLowerCase()}/${name}`,
      );
    };
    return { add };
  };
  const refused = await readAllowed(reader, type, within, begin);
  return refused === undefined ? lines : [];
}
