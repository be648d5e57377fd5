/**
 * Installs the dependencies if what is in node_modules is not what package-lock.json asks for; silent and offline if it is.
 * `npm start` and `npm test` begin with it. Plain JavaScript for Node >= 20.19, standing on nothing but Node.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Outside node_modules, which `npm ci` empties; one per checkout and user. */
const lockFile = join(
  tmpdir(),
  `stowage-install-${userInfo().uid}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`,
);

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? {};
  } catch {
    return undefined;
  }
}

/**
 * What is missing or different, as one phrase; undefined when all is there. npm records in node_modules/.package-lock.json
 * what it really installed. Optional packages (other platforms) may be absent.
 */
function findDifference() {
  const wanted = readPackages('package-lock.json');
  if (wanted === undefined) return undefined;
  const installed = readPackages('node_modules/.package-lock.json');
  if (installed === undefined) return 'nothing is installed yet';
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.link) continue;
    const found = installed[path];
    if (found === undefined || !existsSync(join(root, path, 'package.json'))) {
      if (!entry.optional && !entry.devOptional && !entry.peer) return `${path} is missing`;
    } else if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return `${path} is ${found.version}, wanted ${entry.version}`;
    }
  }
  return undefined;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readLockPid(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Takes away the lock of a process that died. Renaming is atomic, so only one of several waiters gets it. */
function breakStaleLock(deadPid) {
  const taken = `${lockFile}.${process.pid}`;
  try {
    renameSync(lockFile, taken);
    // Somebody else broke the stale lock and took it between our look and our rename: give it back.
    if (readLockPid(taken) !== deadPid) linkSync(taken, lockFile);
  } catch {
    // Gone already: the next round tries again.
  } finally {
    rmSync(taken, { force: true });
  }
}

async function takeLock() {
  // Written apart and linked into place, so that nobody ever reads a lock without its process id.
  const mine = `${lockFile}.${process.pid}.new`;
  writeFileSync(mine, String(process.pid));
  try {
    for (;;) {
      try {
        linkSync(mine, lockFile);
        return;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
      const holder = readLockPid(lockFile);
      if (holder !== undefined && !isAlive(holder)) breakStaleLock(holder);
      else await sleep(200);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Runs npm with its output held back; resolves to undefined on success, else to what it printed. */
function runNpmCi() {
  // Development and optional packages are part of it (test runner, pinned Node), whatever the caller's npm settings say.
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const [command, commandArgs] = npm?.endsWith('.js') ? [process.execPath, [npm, ...args]] : ['npm', args];
  return new Promise((resolve) => {
    const child = spawn(command, commandArgs, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => resolve(`${command}: ${error.message}`));
    child.on('close', (code) => resolve(code === 0 ? undefined : output));
  });
}

async function installIfNeeded() {
  if (findDifference() === undefined) return 0;
  await takeLock();
  try {
    const difference = findDifference();
    if (difference === undefined) return 0;
    process.stderr.write(`stowage: installing dependencies (${difference}); this takes about half a minute, once.\n`);
    const failure = await runNpmCi();
    if (failure === undefined) return 0;
    process.stderr.write(
      `${failure.trimEnd()}\nstowage: the dependencies could not be installed. Check the connection to the package registry, then run \`npm ci\` in ${root}.\n`,
    );
    return 1;
  } finally {
    rmSync(lockFile, { force: true });
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (readLockPid(lockFile) === process.pid) rmSync(lockFile, { force: true });
    process.exit(130);
  });
}
process.exitCode = await installIfNeeded();
