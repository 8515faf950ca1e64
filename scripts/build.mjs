// npm run build [-- --no-types]: bundles src/ to dist/, so that a start loads few files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildInfo, currentCommit } from './build-info.mjs';
import { ROOT } from './root.mjs';

const DIST = path.join(ROOT, 'dist');
const STAMP = path.join(DIST, '.stamp');

/** What package.json names as `bin` and `exports`. */
const ENTRY_POINTS = {
  sampan: 'src/cli/main.ts',
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
  const { build } = await import('esbuild');
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
  hash.update(`${currentCommit().commit} ${process.env.SOURCE_DATE_EPOCH ?? ''}\n`);
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
