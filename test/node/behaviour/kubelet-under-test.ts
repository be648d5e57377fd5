/** One kubelet under test, real or embedded, and what a behaviour suite may do with it. */
import type { Pod } from '../../../src/api/core.ts';
import type { KubeApi } from '../../../src/api/kube-api.ts';

export interface KubeletUnderTest {
  readonly name: 'real' | 'embedded';
  /** May do everything. */
  readonly api: KubeApi;
  /** Allocatable: 1.5 CPUs at least, as {@link allocatableMillis} says. */
  readonly node: string;
  /** A node whose kubelet gives Guaranteed pods CPUs of their own (`cpuManagerPolicy: static`), tainted `stowage.test/pinned`. */
  readonly pinnedNode: string;
  now(): number;
  namespace(): Promise<string>;
  /** Removes the pods of a namespace at once and waits until the node is free of them. */
  clear(namespace: string): Promise<void>;
  /** Retries until `assertion` holds, in this kubelet's own time. */
  eventually<T>(assertion: () => Promise<T> | T, timeoutMillis?: number): Promise<T>;
  /** Lets time pass during which nothing should happen. */
  pass(millis: number): Promise<void>;
  /** Lets a container of the load image hold memory. Past its limit the kernel kills it. */
  useMemory(pod: Pod, container: string, mebibytes: number): Promise<void>;
  /** Lets a container answer its readiness probe as told. */
  setReady(pod: Pod, container: string, isReady: boolean): Promise<void>;
  exit(pod: Pod, container: string, code: number): Promise<void>;
  stop(): Promise<void>;
}
