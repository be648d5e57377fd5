/**
 * Where the groups of pods and containers are: found by looking, by pod uid and container id, never by assuming a
 * layout.
 */
import { readdirSync } from 'node:fs';
import { isContainerGroup, isKubepodsRoot, isQosGroup, podUidOf } from './names.ts';

/** What the last look found; nothing is looked for when it is asked. */
export interface PodFolders {
  /** Path of a pod's group below the tree, without leading slash; undefined where there is none now. */
  pod(uid: string): string | undefined;
  /** Path of a container's group below the tree. */
  container(podPath: string, id: string): string | undefined;
  /** Paths of all `kubepods` groups found. */
  roots(): readonly string[];
  /** Looks again below the roots known, or for roots as well: `everywhere` may look into thousands of folders. */
  refresh(where: 'known-roots' | 'everywhere'): void;
}

/** kind in docker lies five folders deep; a few more for container engines in containers. */
const MAX_DEPTH = 8;
/** Folders looked into at most, so that a machine full of groups costs a bounded search. */
const MAX_FOLDERS = 4000;

/** @param tree folder of the control group tree that holds the CPU controller. */
export function createPodFolders(tree: string): PodFolders {
  let roots: readonly string[] = [];
  let pods = new Map<string, string>();

  const foldersIn = (path: string): string[] => {
    try {
      return readdirSync(path === '' ? tree : `${tree}/${path}`, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name);
    } catch {
      // It went away between two looks, or is not for us to read: the same as not there.
      return [];
    }
  };

  /** Breadth first: the nearest come first, and a root's own inside is not searched for others. */
  const findRoots = (): string[] => {
    const found: string[] = [];
    let level = [''];
    let seen = 0;
    for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
      const next: string[] = [];
      for (const path of level) {
        if (++seen > MAX_FOLDERS) return found;
        for (const name of foldersIn(path)) {
          const child = path === '' ? name : `${path}/${name}`;
          if (isKubepodsRoot(name)) found.push(child);
          else next.push(child);
        }
      }
      level = next;
    }
    return found;
  };

  /** Pods below all roots, Guaranteed ones directly, others below their class. */
  const index = (): Map<string, string> => {
    const found = new Map<string, string>();
    for (const root of roots) {
      for (const name of foldersIn(root)) {
        const uid = podUidOf(name);
        if (uid !== undefined) found.set(uid, `${root}/${name}`);
        else if (isQosGroup(name)) {
          for (const inner of foldersIn(`${root}/${name}`)) {
            const innerUid = podUidOf(inner);
            if (innerUid !== undefined) found.set(innerUid, `${root}/${name}/${inner}`);
          }
        }
      }
    }
    return found;
  };

  return {
    pod: (uid) => pods.get(uid.toLowerCase()),
    container(podPath, id) {
      const name = foldersIn(podPath).find((each) => isContainerGroup(each, id));
      return name === undefined ? undefined : `${podPath}/${name}`;
    },
    roots: () => roots,
    refresh(where) {
      if (where === 'everywhere' || roots.length === 0) roots = findRoots();
      pods = index();
    },
  };
}
