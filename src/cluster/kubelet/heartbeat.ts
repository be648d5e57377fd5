/** A node's heartbeat: its Lease in `kube-node-lease`, renewed every ten seconds. */
import type { Lease } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isNotFound, unless } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';

/** Source: KubeletConfiguration `nodeLeaseDurationSeconds`; renewed every quarter of it. */
export const LEASE_SECONDS = 40;
const RENEW_MILLIS = 10_000;
/** Where a real node lifecycle controller looks for them. */
export const LEASE_NAMESPACE = 'kube-node-lease';

export interface Heartbeat {
  /** Renews at once and from then on. */
  start(): void;
  stop(): void;
}

export interface HeartbeatOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly node: string;
}

/** A renewal that fails is warned of and tried again at the next beat. */
export function createHeartbeat({ api, clock, log, node }: HeartbeatOptions): Heartbeat {
  let timer: Timer | undefined;
  /** One for each start: a renewal still under way when the beat was stopped and started again must not go on as a second beat. */
  let beating: object | undefined;

  const renew = async (): Promise<void> => {
    const spec = { holderIdentity: node, leaseDurationSeconds: LEASE_SECONDS, renewTime: microTime(clock.now()) };
    const options = { namespace: LEASE_NAMESPACE };
    const renewal = api.patch(resources.leases, node, { type: 'merge', body: { spec } }, options);
    if ((await unless(isNotFound, renewal)) !== undefined) return;
    const metadata = { name: node, namespace: LEASE_NAMESPACE };
    const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    await api.create(resources.leases, lease, options);
  };

  const beat = async (own: object): Promise<void> => {
    try {
      await renew();
    } catch (error) {
      log.warn({ node, error }, 'Renewing the lease of a node failed');
    }
    if (beating === own) timer = clock.setTimer(RENEW_MILLIS, () => void beat(own));
  };

  return {
    start() {
      if (beating !== undefined) return;
      beating = {};
      void beat(beating);
    },
    stop() {
      beating = undefined;
      timer?.cancel();
    },
  };
}

/** `metav1.MicroTime`: six digits after the second. */
function microTime(epochMillis: number): string {
  return new Date(epochMillis).toISOString().replace('Z', '000Z');
}
