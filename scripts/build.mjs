// npm run build [-- --no-types]: bundles src/ to dist/, so that a start loads few files.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildInfo, currentCommit } from './build-info.mjs';
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
  // Native modules find their binaries next to their own files; the last two are optional parts of ws.
  external: ['lmdb', 'bufferutil', 'utf-8-validate'],
  // Bundled CommonJS packages call require, which ES modules do not have.
  banner: { js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);" },
  logLevel: 'warning',
};

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
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { SAMPAN_BUILD: JSON.stringify(JSON.stringify(buildInfo())), 'import.meta.url': 'moduleUrl' },
    entryPoints: ['src/cli/main.ts'],
    outfile: SERVER,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
  });
  rmSync(CODE_CACHE, { force: true });
  await writeCodeCache().catch((error) =>
    console.error(`sampan: starts will be slower, since no code could be compiled: ${error.message}`),
  );
}

/** Starts a cluster, so that V8 compiles what a start needs, and has it kept. */
async function writeCodeCache() {
  const directory = mkdtempSync(path.join(tmpdir(), 'sampan-build-'));
  try {
    const args = ['up', '--store', 'memory', '--data-dir', directory, '--port', '0', '--no-merge', '--output', 'json'];
    const env = { ...process.env, SAMPAN_WRITE_CODE_CACHE: CODE_CACHE };
    const child = spawn(process.execPath, [path.join(DIST, 'sampan.js'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const errors = [];
    child.stderr.on('data', (chunk) => errors.push(chunk));
    const timeout = setTimeout(() => child.kill('SIGKILL'), 60_000);
    let isReady = false;
    child.stdout.once('data', () => {
      isReady = true;
      child.kill('SIGINT');
    });
    await new Promise((resolve) => child.once('exit', resolve));
    clearTimeout(timeout);
    if (isReady) return;
    rmSync(CODE_CACHE, { force: true });
    throw new Error(Buffer.concat(errors).toString().trim() || 'the cluster did not start');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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
  for (const name of [...sources.sort(), 'package.json', 'package-lock.json', 'scripts/build.mjs', 'scripts/build-info.mjs']) {
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
