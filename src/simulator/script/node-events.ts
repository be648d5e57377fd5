/** Events of clouds and machines: pools without capacity, nodes that are taken, die, are drained or fall silent. */
import { resources } from '../../api/resources.ts';
import { drainNode } from '../people.ts';
import type { EventPlayers } from './event-players.ts';

type NodeEvents = EventPlayers<'close-pools' | 'open-pools' | 'storm' | 'lose-nodes' | 'drain-nodes' | 'silence-nodes'>;

export const nodeEvents: NodeEvents = {
  async 'close-pools'(event, { market, onPools, pause, poolsLike }) {
    const end = market.close(poolsLike(event.pools), event.zone);
    onPools();
    if (event.for === undefined) return;
    await pause(event.for);
    end();
    onPools();
  },
  'open-pools'(event, { market, onPools, poolsLike }) {
    market.open(poolsLike(event.pools), event.zone);
    onPools();
  },
  storm(event, { cluster, poolsLike }) {
    for (const { name } of poolsLike(event.pools).filter((pool) => pool.class === 'spot'))
      cluster.autoscaler.storm({ pool: name, share: event.share, withinMillis: event.within });
  },
  'lose-nodes'(event, { cluster, onNodeLost, someNodes }) {
    for (const node of someNodes(event.pools, event.count)) {
      onNodeLost(node);
      cluster.autoscaler.loseNode(node);
    }
  },
  async 'drain-nodes'(event, { onNodeDrained, people, someNodes }) {
    const drained = someNodes(event.pools, event.count);
    for (const node of drained) onNodeDrained(node);
    await Promise.all(drained.map((node) => drainNode(node, event.for, people)));
  },
  async 'silence-nodes'(event, { cluster, onNodeDrained, pause, someNodes }) {
    const silent = someNodes(event.pools, event.count);
    for (const node of silent) {
      onNodeDrained(node);
      cluster.kubelet.loseNode(node);
    }
    await pause(event.for);
    const nodes = cluster.caches.of(resources.nodes);
    for (const node of silent) if (nodes.get(node) !== undefined) await cluster.kubelet.recoverNode(node);
  },
};
