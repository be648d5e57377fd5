/** Process of the simulated nodes on a real control plane: kubelets, volume provisioner and, where pools are given, an autoscaler. Started by nodes.ts. */
import { homedir } from 'node:os';
import { createAutoscaler } from '../../src/cluster/autoscaler/autoscaler.ts';
import { createCaches } from '../../src/cluster/caches.ts';
import { createKubelet } from '../../src/cluster/kubelet/kubelet.ts';
import type { StandInContext } from '../../src/cluster/stand-in.ts';
import { loadConnection } from '../../src/kube/auth/load-connection.ts';
import { createKubeApi } from '../../src/kube/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { describeError } from '../../src/lib/errors.ts';
import { createLogger, createStderrWriter } from '../../src/lib/log.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import { createSimulatedAgents, type SeenPlan } from '../../src/simulator/simulated-agents.ts';
import { createTestAuthority } from './authority.ts';
import { isNodeRequest, type NodeAgentSettings, type NodeCommand, type NodeReply } from './node-protocol.ts';
import { createDefaultStorageClass, createVolumeProvisioner } from './volume-provisioner.ts';

const clock = createSystemClock();
const log = createLogger({ level: 'info', format: 'text', clock, write: createStderrWriter() });

/** Real scrapers come every few seconds. */
const LOAD_STEP_MILLIS = 1000;
/** Of an agent, for who asks what it has seen. */
const KEPT_PLANS = 600;

/** One for all kubelets, which share an address; as of real ones, nobody knows its authority. */
async function kubeletCertificate(): Promise<{ cert: string; key: string }> {
  const { certificatePem, privateKeyPem } = await (await createTestAuthority(clock)).issueServer([]);
  return { cert: certificatePem, key: privateKeyPem };
}

interface Agent {
  handle(command: Exclude<NodeCommand, { name: 'start' }>): Promise<NodeReply['value']>;
}

async function start(settings: NodeAgentSettings): Promise<Agent> {
  const connectionOf = (kubeconfig: string): Promise<Connection> =>
    loadConnection({ kubeconfig, env: {}, homeDirectory: homedir(), clock });
  const connection = await connectionOf(settings.kubeconfigPath);
  const random = createSystemRandom();
  // Kubelets are many clients; one limit for all of them must not slow them down.
  const limits = { qps: 1000, burst: 2000 };
  const api = createKubeApi({ connection, clock, random, log, limits, userAgent: 'simulated-nodes' });
  const caches = createCaches({ api, clock, random, log });
  const context: StandInContext = { api, caches, clock, random, log };
  const { startMillis, stopMillis, removesNotReadyTaint, pools } = settings;
  const behaviour = { startMillis, readyMillis: 0, stopMillis };
  const kubelet = createKubelet(context, {
    behaviour,
    heartbeats: true,
    removesNotReadyTaint,
    load: { stepMillis: LOAD_STEP_MILLIS },
    ...(settings.servesMetrics ? { endpoints: { tls: await kubeletCertificate() } } : {}),
  });
  const autoscaler = pools.length === 0 ? undefined : createAutoscaler(context, { pools, machines: kubelet });
  const standIns = [kubelet, createVolumeProvisioner(context), ...(autoscaler === undefined ? [] : [autoscaler])];
  await createDefaultStorageClass(api);
  const stopper = new AbortController();
  const { signal } = stopper;
  const work = Promise.all([
    caches.run(signal),
    caches.synced().then(() => Promise.all(standIns.map((each) => each.run(signal)))),
  ]);
  const plans = new Map<string, SeenPlan[]>();
  const agents = createSimulatedAgents({
    usage: kubelet.usage,
    clock,
    random,
    log,
    onPlan: (node, plan) => plans.set(node, [...(plans.get(node) ?? []), plan].slice(-KEPT_PLANS)),
  });
  /** Each agent has a connection of its own, as on a node of its own. */
  const clients = new Map<string, ReturnType<typeof createKubeApi>>();
  const disconnect = (node: string): void => {
    clients.get(node)?.close();
    clients.delete(node);
  };
  await caches.synced();
  for (const node of settings.nodes) await kubelet.addNode(node);

  return {
    async handle(command) {
      switch (command.name) {
        case 'addNode':
          await kubelet.addNode(command.spec);
          return undefined;
        case 'loseNode':
          kubelet.loseNode(command.node);
          return undefined;
        case 'recoverNode':
          await kubelet.recoverNode(command.node);
          return undefined;
        case 'shutDownNode':
          await kubelet.shutDownNode(command.node);
          return undefined;
        case 'interrupt':
          if (autoscaler === undefined)
            throw new Error('no pools were given, so there is no autoscaler to interrupt nodes');
          await autoscaler.interrupt(command.node);
          return undefined;
        case 'startAgent': {
          const own = await connectionOf(command.kubeconfigPath);
          const client = createKubeApi({ connection: own, clock, random, log, userAgent: 'simulated-agent' });
          clients.set(command.node, client);
          agents.start(command.node, client, command.env);
          return undefined;
        }
        case 'killAgent':
          await agents.kill(command.node);
          disconnect(command.node);
          return undefined;
        case 'agentPlans':
          return plans.get(command.node) ?? [];
        case 'cutOffAgent':
          disconnect(command.node);
          return undefined;
        case 'oomKill':
          return kubelet.oomKill(command.podKey, command.container);
        case 'endContainer':
          return kubelet.endContainer(command.podKey, command.container, command.exitCode);
        case 'stop':
          await agents.stop();
          for (const node of [...clients.keys()]) disconnect(node);
          stopper.abort();
          await work;
          api.close();
          return undefined;
      }
    },
  };
}

let agent: Agent | undefined;

async function answer(command: NodeCommand): Promise<NodeReply['value']> {
  if (command.name === 'start') {
    agent = await start(command.settings);
    return undefined;
  }
  if (agent === undefined) throw new Error(`${command.name} came before start`);
  return agent.handle(command);
}

process.on('message', (message) => {
  if (!isNodeRequest(message)) return;
  const { id, command } = message;
  const reply = (content: Omit<NodeReply, 'id'>): void => {
    process.send?.({ id, ...content }, () => {
      if (command.name === 'stop') process.disconnect();
    });
  };
  answer(command).then(
    (value) => reply(value === undefined ? {} : { value }),
    (error: unknown) => reply({ error: describeError(error) }),
  );
});
// The test process is gone, cleanly or not: nothing is left to simulate for.
process.on('disconnect', () => process.exit(0));
