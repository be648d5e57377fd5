/**
 * What the source uses and Node 20 lacks; put before the code by scripts/build.mjs. Node 24 runs the source itself and never sees this.
 * A test runs the build on an old Node where there is one.
 */
import { setMaxListeners } from 'node:events';

// Newer Nodes do not count the listeners of abort signals; here one signal ends dozens of loops, rightly.
setMaxListeners(0);

Promise.withResolvers ??= function withResolvers() {
  let resolve;
  let reject;
  const promise = new this((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
};

Map.groupBy ??= function groupBy(items, keyOf) {
  const groups = new Map();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
};
