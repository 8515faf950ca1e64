// npm run bench [-- names…] [--json] [--out file]: measures what test/bench/*.bench.ts define, each figure beside its
// baseline. A name selects files or benchmarks that contain it; without names those that take very long are left out. Prints a table, then JSON
// (with --json only that).
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';
import { ROOT } from './root.mjs';

ensureInstalled();
const { BUNDLE_OPTIONS, ensureBuilt } = await import('./build.mjs');
const { build } = await import('esbuild');

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, out: { type: 'string' } },
});
const WORK = path.join(ROOT, '.sampan/bench');

await ensureBuilt();
mkdirSync(WORK, { recursive: true });
const results = [];
for (const file of benchFiles()) results.push(...(await runFile(file)));
rmSync(WORK, { recursive: true });
if (results.length === 0) fail(names.length > 0 ? `no benchmark is called ${names.join(' or ')}` : 'there are no benchmarks');

const report = { node: process.version, cpu: cpus()[0]?.model, cores: availableParallelism(), results };
if (!options.json) console.log(`${table(results)}\n`);
console.log(JSON.stringify(report, undefined, 2));
if (options.out) writeFileSync(options.out, `${JSON.stringify(report, undefined, 2)}\n`);

function benchFiles() {
  return readdirSync(path.join(ROOT, 'test/bench'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.bench.ts'));
}

/** Each file in a process of its own: what one leaves in the heap and in the compiler must not slow the next. */
async function runFile(file) {
  const program = path.join(WORK, `${path.basename(file, '.ts')}.mjs`);
  const output = `${program}.json`;
  // A name of the file selects all that it defines.
  const selection = { names: names.some((name) => file.includes(name)) ? [] : names, withLong: names.length > 0 };
  const contents = `import { benchmarks } from './test/bench/${file.split(path.sep).join('/')}';
    import { runToFile } from './test/bench/run.ts';
    await runToFile(benchmarks, ${JSON.stringify(selection)}, ${JSON.stringify(output)});`;
  await build({ ...BUNDLE_OPTIONS, stdin: { contents, resolveDir: ROOT, loader: 'ts' }, outfile: program });
  const { status } = spawnSync(process.execPath, ['--expose-gc', program], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) fail(`the benchmarks of ${file} failed`);
  return JSON.parse(readFileSync(output, 'utf8'));
}

function table(rows) {
  const cells = rows.map(({ name, unit, baseline, subject, ratio }) => [
    name,
    `${subject.name}: ${show(subject.median)} ${unit}`,
    `${baseline.name}: ${show(baseline.median)} ${unit}`,
    `${ratio.toFixed(2)}×`,
  ]);
  const lines = [['benchmark', 'ours', 'baseline', 'better by'], ...cells];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function show(value) {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
