/** Replicas of the webhook, each with a view and a ledger of its own, behind one address: connections go to each in turn, the others ask the leader. */
import { Agent, request } from 'node:https';
import { createAuthority, issueServerCertificate } from '../src/lib/certificates.ts';
import { createSystemClock } from '../src/lib/clock.ts';
import { createSilentLogger } from '../src/lib/log.ts';
import { createCoordinatedHandler } from '../src/webhook/coordinated-handler.ts';
import { createForwarder, type Forwarder } from '../src/webhook/forward.ts';
import { type KeyPair, startWebhookServer, type WebhookServer } from '../src/webhook/server.ts';
import type { WebhookBench } from './webhook-bench-setup.ts';

export interface ReplicatedWebhook {
  /** Sends all at once over kept-alive connections; answers in the order of the bodies. */
  sendAll(bodies: readonly string[]): Promise<string[]>;
  close(): Promise<void>;
}

/** An API server keeps about so many idle connections to a webhook. */
const CONNECTIONS = 25;
const HOST = '127.0.0.1';

/** The first replica leads. All run in this process, so its CPU is that of client and replicas together. */
export async function startReplicatedWebhook(benches: readonly WebhookBench[]): Promise<ReplicatedWebhook> {
  const clock = createSystemClock();
  const log = createSilentLogger();
  const { keyPair, ca } = await issue(clock.now());
  const servers: WebhookServer[] = [];
  const forwarders: Forwarder[] = [];
  const leader = () => servers[0] && { host: HOST, port: servers[0].port };
  for (const [index, { handle }] of benches.entries()) {
    const forwarder = createForwarder({ leader, certificate: () => keyPair.cert, clock, log });
    const isLeader = (): boolean => index === 0;
    const coordinated = createCoordinatedHandler({
      decide: handle,
      isLeader,
      isSynced: () => true,
      forward: forwarder.forward,
      onForwarded: () => {},
      clock,
    });
    servers.push(await startWebhookServer({ port: 0, host: HOST, keyPair, handle: coordinated, clock, log }));
    forwarders.push(forwarder);
  }
  const agents = servers.map(
    () => new Agent({ keepAlive: true, maxSockets: Math.ceil(CONNECTIONS / servers.length), ca }),
  );

  return {
    sendAll: (bodies) =>
      Promise.all(
        bodies.map((body, index) => {
          const turn = index % servers.length;
          return send({ agent: agents[turn], host: HOST, port: servers[turn]?.port }, body);
        }),
      ),
    async close() {
      for (const agent of agents) agent.destroy();
      for (const forwarder of forwarders) forwarder.close();
      await Promise.all(servers.map((server) => server.drain({ graceMillis: 1000 })));
    },
  };
}

async function issue(now: number): Promise<{ readonly keyPair: KeyPair; readonly ca: string }> {
  const validity = { notBeforeMillis: now - 60_000, notAfterMillis: now + 86_400_000 };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueServerCertificate(authority, { commonName: 'localhost', ipAddresses: [HOST], ...validity });
  return { keyPair: { cert: leaf.certificatePem, key: leaf.privateKeyPem }, ca: authority.certificatePem };
}

interface Target {
  readonly agent: Agent | undefined;
  readonly host: string;
  readonly port: number | undefined;
}

function send(target: Target, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const call = request({ ...target, path: '/mutate', method: 'POST', headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        answer += text;
      });
      response.once('end', () =>
        response.statusCode === 200 ? resolve(answer) : reject(new Error(`status ${response.statusCode}`)),
      );
    });
    call.once('error', reject);
    call.end(body);
  });
}
