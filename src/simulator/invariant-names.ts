/** What must hold whatever happens, by name. */
export const invariants = {
  floor:
    'no eviction by Stowage leaves fewer ready on-demand pods than the floor; but for the one whose replacement, of another size, takes its place',
  budget: 'no eviction by Stowage breaks a PodDisruptionBudget',
  paced: 'at most one pod of a workload is being disrupted by Stowage',
  concurrency:
    'no more evictions and rollouts under way than placement.maxConcurrentEvictions, of all engines together',
  oscillation: 'no place is moved twice for one cause',
  bounded: 'no more evictions than changes explain',
  progress: 'where nobody else changes anything, pods are replaced ever more rarely once it gains nothing',
  webhook: 'every admission is answered, in time, and lets the pod in',
  readOnly: 'in read-only mode nothing is written but reports',
  stranger: 'nothing is evicted that is not managed',
  exact: 'at rest the mix is exact, or what keeps it is explained',
  oneResize: 'no pod is resized while a resize of it is under way',
  capacity: 'no resize makes the requests on a node more than it has',
  qos: 'no size changes the QoS class of a pod or template',
  memory: 'no memory limit is set below what the container uses',
  inForce: 'at rest pods have the sizes that are in force for their workload, or what keeps them from it is told',
  consent: 'sizes change only where a policy in mode Auto, or allocation, may change them; never in a dry run',
  bounds: "sizes that rightsizing sets are within the policy's bounds",
  restarts: 'pods are recreated, and containers restarted, for a size only where the policy allows it',
  steady: 'no size that rightsizing sets goes up and down again and again',
  apart: 'no size that a replica has of its own is changed again and again, or goes up and down',
  yields:
    'a pod that another writer resized is left to that until it is replaced, and a template it writes is not fought for',
  pace: 'no pod is resized by allocation more often than its rules say',
  journal: 'what was done is in the journal',
  window: 'nothing is disrupted outside the disruption window of its workload',
  cooldown: 'two disruptions of a workload are a cooldown apart, whoever leads',
  aim: 'every eviction for placement takes from a side that has more than it should',
  leader: 'only the replica that holds the lease writes',
  idle: 'no write changes nothing',
  quiet: 'no object is written again and again, and nothing told of it again and again',
  asking: 'nothing is listed, and no watch begun, again and again',
  sound: 'no warning tells of a mistake of the program',
  untouched: 'pods of workloads that are not managed are let in as they are',
  returned: 'pods whose agent is gone get back what they had before allocation',
} as const;

export type Invariant = keyof typeof invariants;
