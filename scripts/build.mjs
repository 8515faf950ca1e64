// npm run build [-- --no-types]: bundles src/ to dist/, so that a start loads few files.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildInfo, currentCommit } from './build-info.mjs';
import { rewrittenSources } from './rewritten-sources.mjs';
import { ROOT } from './root.mjs';

const DIST = path.join(ROOT, 'dist');
const STAMP = path.join(DIST, '.stamp');
const SERVER = path.join(DIST, 'server.cjs');
const CODE_CACHE = path.join(DIST, 'server.code-cache');

/** What package.json names as `bin` and `exports`. */
const ENTRY_POINTS = {
  sampan: 'src/cli/launch.ts',
  index: 'src/index.ts',
  client: 'src/client/index.ts',
  testing: 'src/testing/index.ts',
};

/** How everything of ours is bundled, benchmarks included. */
export const BUNDLE_OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  conditions: ['source'],
  plugins: [rewrittenSources],
  // Native modules find their binaries next to their own files; the last two are optional parts of ws.
  external: ['lmdb', 'bufferutil', 'utf-8-validate'],
  // Bundled CommonJS packages call require, which ES modules do not have.
  banner: { js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);" },
  logLevel: 'warning',
};

/** The server's source is read at every start, so it is short; but minifySyntax would take out again what shared-shapes adds. */
export const SERVER_MINIFICATION = { minifyWhitespace: true };

/** Bundles unless nothing changed since the last time. */
export async function ensureBuilt() {
  const stamp = sourceStamp();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return;
  console.error('sampan: building…');
  await buildBundles();
  writeFileSync(STAMP, stamp);
}

export async function buildBundles() {
  const { build, stop } = await import('esbuild');
  const entryPoints = Object.fromEntries(Object.entries(ENTRY_POINTS).filter(([, source]) => existsSync(path.join(ROOT, source))));
  const { metafile } = await build({
    ...BUNDLE_OPTIONS,
    define: { SAMPAN_BUILD: JSON.stringify(JSON.stringify(buildInfo())) },
    entryPoints,
    outdir: 'dist',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    sourcemap: true,
    legalComments: 'linked',
    metafile: true,
  });
  removeStale(new Set(Object.keys(metafile.outputs)));
  const bin = path.join(DIST, 'sampan.js');
  if (existsSync(bin)) chmodSync(bin, 0o755);
  await buildServer(build);
  // Its process would stay for as long as ours, which may go on to be the cluster.
  await stop();
}

/** The command line once more, as one script: only scripts can be loaded from what was compiled before. */
async function buildServer(build) {
  await build({
    ...BUNDLE_OPTIONS,
    format: 'cjs',
    // A function already in the file: to put one around three megabytes would copy them.
    banner: {
      js: "(function (exports, require, module, __filename) { const moduleUrl = require('node:url').pathToFileURL(__filename).href;",
    },
    footer: { js: '})' },
    define: { SAMPAN_BUILD: JSON.stringify(JSON.stringify(buildInfo())), 'import.meta.url': 'moduleUrl' },
    entryPoints: ['src/cli/main.ts'],
    outfile: SERVER,
    ...SERVER_MINIFICATION,
    legalComments: 'none',
  });
  refuseOtherThanAscii();
  rmSync(CODE_CACHE, { force: true });
  await writeCodeCache().catch((error) =>
    console.error(`sampan: starts will be slower, since no code could be compiled: ${error.message}`),
  );
}

/** One other character makes decoding the script at every start take a third longer. esbuild escapes them in strings, but not in regular expressions. */
function refuseOtherThanAscii() {
  const [nonAscii] = /[^\0-\x7f]/.exec(readFileSync(SERVER, 'utf8')) ?? [];
  if (nonAscii !== undefined) throw new Error(`${SERVER} has the character ${nonAscii}: write it as an escape in the source`);
}

/** Starts a cluster and runs a pod in it, so that V8 compiles what that needs, and has it kept. */
async function writeCodeCache() {
  const directory = mkdtempSync(path.join(tmpdir(), 'sampan-build-'));
  try {
    const tokens = path.join(directory, 'tokens.csv');
    writeFileSync(tokens, `${TOKEN},build,1,"system:masters"\n`, { mode: 0o600 });
    const where = ['--store', 'memory', '--data-dir', path.join(directory, 'data'), '--port', '0', '--no-merge', '--output', 'json'];
    const args = ['up', '--runtime', 'simulated', ...where, '--apiserver-arg', `token-auth-file=${tokens}`];
    const env = { ...process.env, SAMPAN_WRITE_CODE_CACHE: CODE_CACHE };
    const child = spawn(process.execPath, [path.join(DIST, 'sampan.js'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const errors = [];
    child.stderr.on('data', (chunk) => errors.push(chunk));
    const timeout = setTimeout(() => child.kill('SIGKILL'), 60_000);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    let signal = 'SIGKILL';
    try {
      const server = await Promise.race([announced(child), ended]);
      if (typeof server !== 'string') throw new Error(Buffer.concat(errors).toString().trim() || 'the cluster did not start');
      await runFirstPod(server);
      signal = 'SIGINT';
    } finally {
      child.kill(signal);
      await ended;
      clearTimeout(timeout);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Good for a cluster that lives for a moment, on this machine only. */
const TOKEN = randomUUID();
const PODS = '/api/v1/namespaces/default/pods';
const POD = { metadata: { name: 'first' }, spec: { containers: [{ name: 'first', image: 'first' }] } };

/** The address that the cluster prints once it is ready. */
function announced({ stdout }) {
  return new Promise((resolve) => {
    let text = '';
    stdout.on('data', (chunk) => {
      text += chunk;
      try {
        resolve(JSON.parse(text).server);
      } catch {
        // The rest is on its way.
      }
    });
  });
}

async function runFirstPod(server) {
  await request('POST', new URL(PODS, server), POD);
  for (let attempt = 0; attempt < 250; attempt++) {
    const { status } = await request('GET', new URL(`${PODS}/first`, server));
    if (status?.phase === 'Running') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the first pod did not run');
}

function request(method, url, body) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    // Its certificate is of an authority that was made with it.
    const sent = https.request(url, { method, headers, rejectUnauthorized: false }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.once('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    });
    sent.once('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** Chunks of earlier builds go only after the new ones are there. */
function removeStale(outputs) {
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).map((name) => path.join('dist', name));
  for (const file of files) {
    const isBundle = /\.(js|map|txt)$/.test(file) && !file.startsWith(path.join('dist', 'types'));
    if (isBundle && !outputs.has(file.split(path.sep).join('/'))) rmSync(path.join(ROOT, file));
  }
}

/** Declarations for those who import the package. */
export function buildTypes() {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('the declarations could not be written: see the errors above');
}

/** Changes whenever a source does, or what decides how it is built, or what it is stamped with. */
function sourceStamp() {
  const sources = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).map((name) => path.join('src', name));
  const hash = createHash('sha256');
  hash.update(`${process.version} ${currentCommit().commit} ${process.env.SOURCE_DATE_EPOCH ?? ''}\n`);
  for (const name of [
    ...sources.sort(),
    'package.json',
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/build-info.mjs',
    'scripts/direct-imports.mjs',
    'scripts/rewritten-sources.mjs',
    'scripts/shared-shapes.mjs',
  ]) {
    const { mtimeMs, size } = statSync(path.join(ROOT, name));
    // A directory's time changes with every file that is made in it, tests included; its files say enough.
    if (/\.\w+$/.test(name) && !name.endsWith('.test.ts')) hash.update(`${name} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex');
}

async function main() {
  mkdirSync(DIST, { recursive: true });
  const stamp = sourceStamp();
  await buildBundles();
  writeFileSync(STAMP, stamp);
  if (!process.argv.includes('--no-types')) buildTypes();
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
