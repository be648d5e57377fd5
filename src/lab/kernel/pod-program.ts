/**
 * What runs inside a pod of the experiment, as functions that are handed over as text: they work from the sources and from the
 * bundle alike, and may therefore refer to nothing outside themselves.
 */

/** From the experiment to a pod's process, once, when it is to begin. */
export interface PodOrders {
  /** Requests: when each is sent (milliseconds of the monotonic clock) and what CPU it wants; empty for a pod that spins. */
  readonly atMillis: Float64Array;
  readonly workMillis: Float64Array;
  readonly spins: boolean;
  readonly patienceMillis: number;
}

/** The process: starts its threads, hands them the work, answers with latencies when asked, and ends with who started it. */
function podMain(threadSource: string, threads: number): void {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const workers = Array.from({ length: threads }, () => new Worker(threadSource, { eval: true }));
  let ready = 0;
  for (const worker of workers) {
    worker.on('message', () => {
      ready++;
      if (ready === threads) process.send?.({ isReady: true });
    });
  }
  const shared = (values: Float64Array): Float64Array => {
    const copy = new Float64Array(new SharedArrayBuffer(values.byteLength));
    copy.set(values);
    return copy;
  };
  let answers: Float64Array = new Float64Array(0);
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message: { orders?: PodOrders }) => {
    const { orders } = message;
    if (orders === undefined) {
      process.send?.({ latencies: Float64Array.from(answers) });
      return;
    }
    answers = shared(new Float64Array(orders.atMillis.length));
    const next = new Int32Array(new SharedArrayBuffer(4));
    const atMillis = shared(orders.atMillis);
    const workMillis = shared(orders.workMillis);
    for (const worker of workers) worker.postMessage({ ...orders, atMillis, workMillis, answers, next });
  });
}

/**
 * A thread: takes the next request when it is due, computes for as long as it wants, notes how long it took from when it was
 * meant to be sent. The kernel brings a thread's CPU time up to date at its ticks only, so work is counted in turns of a loop,
 * measured over many ticks: beforehand, and again and again, as a machine that others share is not equally fast all the time.
 */
function threadMain(): void {
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  const CALIBRATION_MILLIS = 150;
  const FOLLOW_MILLIS = 500;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const now = (): number => Number(process.hrtime.bigint()) / 1e6;
  let sink = 0;
  const turn = (count: number): void => {
    for (let index = 0; index < count; index++) sink = (sink * 31 + index) | 0;
  };
  const millisSince = (start: NodeJS.CpuUsage): number => {
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1000;
  };
  const measure = (): number => {
    const start = process.threadCpuUsage();
    for (let turns = 100_000; ; turns += 100_000) {
      turn(100_000);
      const millis = millisSince(start);
      if (millis >= CALIBRATION_MILLIS) return turns / millis;
    }
  };
  // The first time warms up the compiler.
  measure();
  let turnsPerMilli = measure();
  let turned = 0;
  let since = process.threadCpuUsage();
  const work = (millis: number): void => {
    const turns = Math.round(millis * turnsPerMilli);
    turn(turns);
    turned += turns;
  };
  const follow = (): void => {
    const millis = millisSince(since);
    if (millis < FOLLOW_MILLIS) return;
    turnsPerMilli = turned / millis;
    turned = 0;
    since = process.threadCpuUsage();
  };
  parentPort?.on('message', (orders: PodOrders & { readonly answers: Float64Array; readonly next: Int32Array }) => {
    const { atMillis, workMillis, answers, next, spins, patienceMillis } = orders;
    while (spins) turn(1_000_000);
    for (;;) {
      const index = Atomics.add(next, 0, 1);
      const due = atMillis[index];
      if (due === undefined) return;
      for (let early = due - now(); early > 0; early = due - now()) Atomics.wait(pause, 0, 0, early);
      // Whoever asked has left: a server that goes on with such requests serves nobody.
      if (now() - due > patienceMillis) continue;
      work(workMillis[index] ?? 0);
      answers[index] = now() - due;
      follow();
    }
  });
  parentPort?.postMessage('ready');
}

/** For `node --eval`. */
export function podSource(threads: number): string {
  return `(${podMain.toString()})(${JSON.stringify(`(${threadMain.toString()})()`)}, ${threads})`;
}
