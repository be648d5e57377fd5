/** Where the leader's webhook is, published on the Lease for the other replicas. */
import type { ObservedLeader } from '../kube/leader.ts';
import type { LeaderAddress } from '../webhook/forward.ts';

const ADDRESS = 'stowage.io/webhook-address';

/** What the leader writes on its Lease, for the other replicas to find it. */
export function addressAnnotations({ host, port }: LeaderAddress): Readonly<Record<string, string>> {
  return { [ADDRESS]: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}` };
}

/** Undefined when nobody leads, or the leader publishes no address that can be read. */
export function addressOf(leader: ObservedLeader | undefined): LeaderAddress | undefined {
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(leader?.annotations[ADDRESS] ?? '') ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host !== undefined && port > 0 && port <= 65_535 ? { host, port } : undefined;
}
