/** A KubeApi that stores objects in memory with resource versions and conflicts; for electors and recorders in virtual time. */
import type { KubeObject } from '../../api/core.ts';
import type { CallOptions, KubeApi } from '../../api/kube-api.ts';
import type { ResourceType } from '../../api/resources.ts';
import { keyOf } from '../store.ts';
import { kubeError } from './scripted-api.ts';

export interface MemoryApi {
  readonly api: KubeApi;
  /** `verb plural/namespace/name`, oldest first. */
  readonly calls: string[];
  /** Runs before each call; throw to fail it, wait to delay it. */
  before: (call: string, options: CallOptions) => Promise<void> | void;
  /** Runs after a write was stored; throw to lose the answer. */
  after: (call: string) => Promise<void> | void;
  get(type: ResourceType, key: string): KubeObject | undefined;
  put(type: ResourceType, object: KubeObject): void;
  remove(type: ResourceType, key: string): void;
  all(type: ResourceType): KubeObject[];
}

export function createMemoryApi(): MemoryApi {
  const objects = new Map<string, KubeObject>();
  let version = 0;
  const id = (type: ResourceType, key: string): string => `${type.plural}/${key}`;
  const keyIn = (name: string, options: CallOptions = {}): string =>
    keyOf({ metadata: { name, ...(options.namespace && { namespace: options.namespace }) } });

  const enter = async (verb: string, place: string, options: CallOptions = {}): Promise<string> => {
    const call = `${verb} ${place}`;
    memory.calls.push(call);
    options.signal?.throwIfAborted();
    await memory.before(call, options);
    options.signal?.throwIfAborted();
    return call;
  };
  const store = (place: string, object: KubeObject): KubeObject => {
    const stored = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } });
    objects.set(place, stored);
    return structuredClone(stored);
  };
  const load = (place: string): KubeObject => {
    const found = objects.get(place);
    if (found === undefined) throw kubeError(404, 'NotFound', `${place} not found`);
    return structuredClone(found);
  };
  const unused = (): never => {
    throw new Error('This call is not part of the memory API.');
  };

  const memory: MemoryApi = {
    calls: [],
    before: () => {},
    after: () => {},
    get: (type, key) => objects.get(id(type, key)),
    put: (type, object) => void store(id(type, keyOf(object)), object),
    remove: (type, key) => void objects.delete(id(type, key)),
    all: (type) => [...objects].filter(([place]) => place.startsWith(`${type.plural}/`)).map(([, object]) => object),
    api: {
      list: unused,
      watch: unused,
      createSubresource: unused,
      async get(type, name, options) {
        const place = id(type, keyIn(name, options));
        await enter('get', place, options);
        return load(place) as never;
      },
      async create(type, object, options) {
        const place = id(type, keyOf(object));
        const call = await enter('create', place, options);
        if (objects.has(place)) throw kubeError(409, 'AlreadyExists', `${place} already exists`);
        const stored = store(place, object);
        await memory.after(call);
        return stored as never;
      },
      async replace(type, object, options) {
        const place = id(type, keyOf(object));
        const call = await enter('replace', place, options);
        if (load(place).metadata?.resourceVersion !== object.metadata?.resourceVersion) {
          throw kubeError(409, 'Conflict', `${place} has been modified`);
        }
        const stored = store(place, object);
        await memory.after(call);
        return stored as never;
      },
      async patch(type, name, patch, options) {
        const place = id(type, keyIn(name, options));
        const call = await enter('patch', place, options);
        const stored = store(place, Object.assign(load(place), patch.body));
        await memory.after(call);
        return stored as never;
      },
      async delete(type, name, options) {
        const place = id(type, keyIn(name, options));
        await enter('delete', place, options);
        objects.delete(place);
      },
    },
  };
  return memory;
}
