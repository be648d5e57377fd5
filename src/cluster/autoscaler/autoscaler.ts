/** Stand-in of a node autoscaler and its cloud: adds nodes for waiting pods, removes empty ones, loses spot ones. */
import { resources } from '../../api/resources.ts';
import { aborted } from '../../lib/until-aborted.ts';
import type { StandInContext } from '../stand-in.ts';
import type { Autoscaler, AutoscalerOptions } from './autoscaler-api.ts';
import { createScope } from './autoscaler-scope.ts';
import { createEmptiness } from './emptiness.ts';
import { createInterruptions } from './interruptions.ts';
import { createMachines } from './machines.ts';
import { createOfferings } from './offerings.ts';
import { createProvisioner } from './provisioner.ts';

/** Behaves as Karpenter for adding and emptying nodes; it does not consolidate nodes that are in use. */
export function createAutoscaler(context: StandInContext, options: AutoscalerOptions): Autoscaler {
  const { caches, clock } = context;
  const { pools, batchMillis = 1000, emptyMillis = 60_000, onInterruption = 'drain' } = options;
  const stopper = new AbortController();
  const scope = createScope(context, options.machines, stopper.signal);
  const { fleet } = scope;
  const offerings = createOfferings(clock);
  const machines = createMachines(scope, {
    onJoined(name, machine) {
      interruptions.arm(name, machine);
      emptiness.watch(name);
    },
    onLaunchFailed: () => provisioner.schedulePass(),
  });
  const interruptions = createInterruptions(scope, machines, onInterruption);
  const emptiness = createEmptiness(scope, machines, emptyMillis);
  const provisioner = createProvisioner(scope, { pools, offerings, machines, batchMillis });

  caches.of(resources.pods).onChange((before, after) => {
    provisioner.onPod(before, after);
    for (const pod of [before, after]) if (pod?.spec?.nodeName !== undefined) emptiness.watch(pod.spec.nodeName);
  });
  // A pass for pods that were left over when the last node they were meant for went away.
  caches.of(resources.nodes).onChange((before, after) => {
    if (before !== undefined && after === undefined && provisioner.hasWaitingPods()) provisioner.schedulePass();
  });

  return {
    name: 'autoscaler',
    async run(signal) {
      provisioner.start();
      for (const pool of pools) await machines.keepMinimum(pool, true);
      if (provisioner.hasWaitingPods()) provisioner.schedulePass();
      await aborted(signal);
      provisioner.stop();
      stopper.abort();
      fleet.cancelTimers();
    },
    interrupt: interruptions.interrupt,
    storm: interruptions.storm,
    loseNode: interruptions.loseNode,
    interruptions: interruptions.interruptions,
    setPoolAvailability: offerings.setAvailable,
    nodesOf: fleet.namesOf,
    nodeHours: fleet.nodeHours,
    cost: fleet.cost,
  };
}
