import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';

/** Installs the dependencies unless those of the lock file are there. Needs nothing but Node and npm. */
export function ensureInstalled() {
  const reason = staleness();
  if (!reason) return;
  console.error(`sampan: installing dependencies (${reason})…`);
  // NODE_ENV=production must not leave out what the build needs. The packages bring their binaries, so none has to run a script of its own.
  const { status, error } = npm([
    'ci',
    '--include=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--progress=true',
  ]);
  if (status === 0) return;
  console.error(`sampan: could not install the dependencies${error ? `: ${error.message}` : ''}`);
  console.error('hint: is the npm registry reachable? Try `npm ci` by hand.');
  process.exit(1);
}

function npm(args) {
  const options = { cwd: ROOT, stdio: ['ignore', 2, 2] };
  const script = process.env.npm_execpath;
  if (script) return spawnSync(process.execPath, [script, ...args], options);
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}

/** Why the installed packages are not those of the lock file; undefined when they are. */
function staleness() {
  const installed = readPackages('node_modules/.package-lock.json');
  if (!installed) return 'first run';
  const required = Object.entries(readPackages('package-lock.json') ?? {});
  const stale = required.find(([name, { version, optional }]) => name !== '' && !optional && installed[name]?.version !== version);
  return stale && `${stale[0].replace(/^.*node_modules\//, '')} is not at ${stale[1].version}`;
}

function readPackages(name) {
  try {
    return JSON.parse(readFileSync(path.join(ROOT, name), 'utf8')).packages;
  } catch {
    return undefined;
  }
}
