/** The memory baseline: lists all pods in pages of 500 and keeps every object whole, then waits to be ended. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';

const { clusters } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
};
const cluster = clusters[0]?.cluster;
if (cluster === undefined) throw new Error('the kubeconfig names no cluster');
const session = connect(cluster.server, { ca: Buffer.from(cluster['certificate-authority-data'], 'base64') });

function readPage(path: string): Promise<{ items: unknown[]; metadata: { continue?: string } }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const stream = session.request({ ':path': path });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
    stream.once('error', reject);
    stream.end();
  });
}

const kept: unknown[] = [];
let token = '';
do {
  const page = await readPage(`/api/v1/pods?limit=500&continue=${encodeURIComponent(token)}`);
  kept.push(...page.items);
  token = page.metadata.continue ?? '';
} while (token !== '');
console.log(kept.length);
process.on('SIGTERM', () => process.exit(kept.length > 0 ? 0 : 1));
setInterval(() => kept.length, 60_000);
