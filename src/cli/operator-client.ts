/** Asks a running operator what it knows of workloads: what it did, what is in flight, what it waits for. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { journalKinds } from '../act/journal.ts';
import { RequestTimeoutError, startDeadline } from '../kube/deadline.ts';
import { describeError, describeFileError, StowageError } from '../lib/errors.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import { type WorkloadRef, workloadKey } from '../model/cluster-view.ts';
import type { CliIo } from './cli-context.ts';
import { CommandError } from './cli-error.ts';

const TIMEOUT_MILLIS = 10_000;

/** A field that JSON leaves out is undefined, as it was before it became JSON. */
const maybe = <Value>(schema: z.ZodType<Value>) => schema.optional().transform((value) => value);

const block = z.object({
  reason: z.string(),
  message: z.string(),
  advice: z.string(),
  retryAfterMillis: maybe(z.number()),
});
const journalEntry = z.object({
  kind: z.enum(journalKinds),
  reason: z.string(),
  message: z.string(),
  pod: maybe(z.string()),
  /** Absent in answers of operators before there was `stowage journal`. */
  engine: maybe(z.string()),
  numbers: maybe(z.record(z.string(), z.union([z.number(), z.string(), z.boolean()]))),
  firstAt: z.number(),
  lastAt: z.number(),
  count: z.number(),
});
const podPlan = z.object({
  ref: z.object({ namespace: z.string(), name: z.string(), uid: z.string() }),
  revision: z.string(),
  slot: maybe(z.number()),
  stampedSlot: maybe(z.number()),
  wantedSide: maybe(z.enum(['spot', 'on-demand'])),
  actualSide: z.enum(['spot', 'on-demand', 'unknown']),
  node: maybe(z.string()),
  ready: z.boolean(),
  state: z.enum(['settled', 'wrong-side', 'unknown', 'surplus', 'terminating', 'ended']),
  note: z.string(),
});
const cost = z.object({
  pods: z.number(),
  pricedPods: z.number(),
  actual: z.number(),
  allOnDemand: z.number(),
  perReplica: z.object({ spot: maybe(z.number()), onDemand: maybe(z.number()) }),
  target: maybe(z.number()),
  floor: maybe(z.object({ replicas: z.number(), cost: maybe(z.number()) })),
  unknown: z.array(z.string()),
});
const note = z.object({ stage: z.string(), text: z.string() });
const sizing = z.object({
  policy: z.string(),
  mode: z.string(),
  others: z.array(z.string()),
  entry: maybe(
    z.object({
      status: maybe(z.string()),
      reason: maybe(z.string()),
      message: maybe(z.string()),
      lastApplied: maybe(z.string()),
      replicaSizes: maybe(z.string()),
      recommendations: maybe(
        z.array(z.object({ container: z.string(), cpu: maybe(z.string()), memory: maybe(z.string()) })),
      ),
    }),
  ),
  containers: z.array(
    z.object({
      container: z.string(),
      current: z.object({
        cpuRequest: maybe(z.number()),
        cpuLimit: maybe(z.number()),
        memoryRequest: maybe(z.number()),
        memoryLimit: maybe(z.number()),
      }),
      cpu: z.array(note),
      memory: z.array(note),
    }),
  ),
  replicas: maybe(z.array(z.object({ replica: z.string(), sizes: z.string() }))),
  isForNobody: maybe(z.boolean()),
  unread: maybe(z.string()),
  ongoing: maybe(
    z.object({
      phase: z.string(),
      method: z.string(),
      since: z.string(),
      firstPod: maybe(z.string()),
      note: maybe(z.string()),
    }),
  ),
});
/** What rightsizing makes of one workload. */
export type OperatorSizing = z.output<typeof sizing>;
const allocatedPod = z.object({
  pod: z.string(),
  node: z.string(),
  agent: z.string(),
  share: z.string(),
  ceiling: maybe(z.string()),
  applied: maybe(z.string()),
  appliedLimit: maybe(z.string()),
  claim: maybe(z.string()),
  want: maybe(z.string()),
  usage: maybe(z.string()),
  weight: maybe(z.number()),
  mode: maybe(z.string()),
  shadowPrice: maybe(z.number()),
  phase: z.string(),
  reason: z.string(),
  message: z.string(),
  clamps: z.array(z.string()),
});
/** What allocation makes of one pod. */
export type OperatorAllocation = z.output<typeof allocatedPod>;
/** Whether what is told is of now, and all; absent in answers of earlier operators. */
const news = { synced: maybe(z.boolean()), stale: maybe(z.array(z.string())) };
const explanation = z.object({
  at: z.number(),
  isLeader: z.boolean(),
  ...news,
  lastDisruption: maybe(z.number()),
  journal: z.array(journalEntry),
  cost: maybe(cost),
  sizing: maybe(sizing),
  allocation: maybe(z.array(allocatedPod)),
  plan: z.object({ policy: z.object({ state: z.enum(['managed', 'unmanaged', 'invalid']) }) }),
  story: z.object({
    workload: z.string(),
    headline: z.string(),
    policy: z.array(z.string()),
    pods: z.array(podPlan),
    notes: z.array(z.string()),
    blocks: z.array(block),
    next: z.string(),
  }),
});
/** One workload as the operator sees it. */
export type OperatorExplanation = z.output<typeof explanation>;
export type OperatorJournalEntry = z.output<typeof journalEntry>;

const fleet = z.object({
  at: z.number(),
  isLeader: z.boolean(),
  ...news,
  workloads: z.array(
    z.object({
      workload: z.string(),
      headline: z.string(),
      /** Of a workload that is left alone; absent in answers of earlier operators. */
      why: maybe(z.array(z.string())),
      blocks: z.array(block),
      next: z.string(),
      lastDisruption: maybe(z.number()),
    }),
  ),
});
/** All enabled workloads as the operator sees them, in short. */
export type OperatorFleet = z.output<typeof fleet>;

/** Where the operator is and what it takes to ask. */
export type OperatorAddress = { readonly url: URL; readonly io: Pick<CliIo, 'clock' | 'signal' | 'env'> };

/** Names a file with a bearer token, for an operator that asks for one (observability.metrics.authentication). */
export const TOKEN_FILE_VARIABLE = 'STOWAGE_OPERATOR_TOKEN_FILE';

/**
 * What an operator of another version tells besides what is known here is left out; what it no longer tells is a
 * CommandError.
 * @throws CommandError where the operator cannot be asked, and where it does not know the workload.
 */
export async function fetchExplanation(address: OperatorAddress, ref: WorkloadRef): Promise<OperatorExplanation> {
  return await ask(address, `explain?workload=${encodeURIComponent(workloadKey(ref))}`, explanation);
}

/** @throws CommandError where the operator cannot be asked. */
export async function fetchFleet(address: OperatorAddress): Promise<OperatorFleet> {
  return await ask(address, 'explain', fleet);
}

const journalAnswer = z.object({
  at: z.number(),
  isLeader: z.boolean(),
  leadingSince: maybe(z.number()),
  forgottenUntil: maybe(z.number()),
  entries: z.array(journalEntry.extend({ workload: z.string() })),
  omitted: z.number(),
});
/** What the operator did, advised or left alone, of all workloads. */
export type OperatorJournal = z.output<typeof journalAnswer>;

/** @throws CommandError where the operator cannot be asked. */
export async function fetchJournal(address: OperatorAddress, query: URLSearchParams): Promise<OperatorJournal> {
  return await ask(address, `journal?${query}`, journalAnswer);
}

/** @param what path and query, from the operator's address on. */
async function ask<Answer>({ url, io }: OperatorAddress, what: string, schema: z.ZodType<Answer>): Promise<Answer> {
  const target = new URL(what, url.href.endsWith('/') ? url : `${url.href}/`);
  const deadline = startDeadline(io.clock, TIMEOUT_MILLIS, target.href, io.signal);
  try {
    const headers = authorizationFrom(io.env[TOKEN_FILE_VARIABLE]);
    const response = await fetch(target, { headers, signal: deadline.signal, redirect: 'error' });
    // Read apart from being understood: what breaks off, or comes too late, is no answer of another version.
    const body = tryParseJson(await response.text());
    if (response.status === 404 && body === undefined) {
      const why = 'it is of an older version, or --operator is not its metrics port';
      throw new CommandError(`the operator at ${url.href} does not serve ${target.pathname}: ${why}`);
    }
    if (!response.ok) throw new CommandError(`the operator at ${url.href} says: ${problemIn(body, response.status)}`);
    const result = schema.safeParse(body);
    if (result.success) return result.data;
    throw new CommandError(`what ${target.href} answers is not of an operator of this version; check --operator`);
  } catch (error) {
    const isLate = error instanceof RequestTimeoutError;
    if ((error instanceof StowageError && !isLate) || io.signal.aborted) throw error;
    // The error speaks of the API server, which has no part in it.
    const why = isLate ? `no complete answer within ${TIMEOUT_MILLIS / 1000} s` : describeError(error);
    const hint = 'Check --operator: it is the metrics port (kubectl port-forward), and leave it out to do without';
    throw new CommandError(`the operator at ${url.href} cannot be asked: ${why}. ${hint}.`, { cause: error });
  } finally {
    deadline.end();
  }
}

/** @throws CommandError where the file cannot be read. */
function authorizationFrom(path: string | undefined): Record<string, string> {
  if (path === undefined || path === '') return {};
  try {
    return { authorization: `Bearer ${readFileSync(path, 'utf8').trim()}` };
  } catch (error) {
    throw new CommandError(`${TOKEN_FILE_VARIABLE} names a file that cannot be read: ${describeFileError(error)}`);
  }
}

function problemIn(body: unknown, status: number): string {
  const told = z.object({ message: z.string() }).safeParse(body);
  return told.success ? told.data.message : `status ${status}`;
}
