/** What tests do behind the API server's back, through etcd's JSON gateway (etcd documentation, "Why gRPC gateway"). */
import { probeOnce } from './health.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');

async function post(url: string, body: object): Promise<string> {
  const answer = await probeOnce({ url, method: 'POST', body: JSON.stringify(body) });
  if (answer.status !== 200) throw new Error(`etcd answered ${answer.status} to ${url}: ${answer.body}`);
  return answer.body;
}

/** Deletes history up to now, so that reading or watching from an older resourceVersion answers 410. */
export async function compactHistory(etcdUrl: string): Promise<void> {
  const range = await post(`${etcdUrl}/v3/kv/range`, { key: encode('/') });
  const revision = /"revision":\s*"?(\d+)"?/.exec(range)?.[1];
  if (revision === undefined) throw new Error(`etcd named no revision: ${range}`);
  // Where API servers tell each other how far history is gone. Without it their caches go on serving old lists from snapshots;
  // with it they drop those within 15 s (apiserver pkg/storage/etcd3/compact.go and pkg/storage/cacher/compactor.go).
  await post(`${etcdUrl}/v3/kv/put`, { key: encode('compact_rev_key'), value: encode(revision) });
  await post(`${etcdUrl}/v3/kv/compaction`, { revision, physical: true });
}

/** Removes one object, e.g. `/registry/configmaps/default/a`, as an API server that nobody here talks to would. */
export async function deleteStored(etcdUrl: string, key: string): Promise<void> {
  await post(`${etcdUrl}/v3/kv/deleterange`, { key: encode(key) });
}
