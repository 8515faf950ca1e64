// npm test [-- filters of vitest]: installs if needed, then types, lint and every test. Ends with `N passed, M failed`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureInstalled } from './install.mjs';
import { ROOT } from './root.mjs';

/** More failed files than this are a broken tree, not a busy machine. */
const MAX_FLAKY_FILES = 5;
/** Further tries of each test that failed, once its file runs alone. */
const RETRIES = 2;

ensureInstalled();
const filters = process.argv.slice(2);
const results = [
  check('types', ['tsc', '--noEmit', '--declaration']),
  check('lint', ['biome', 'check', '--error-on-warnings']),
  runTests(),
];
const sum = (of) => results.reduce((total, result) => total + result[of], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') === 0 ? 0 : 1;

/** One check counts as one test. */
function check(name, [command, ...args]) {
  const ok = run(command, args) === 0;
  console.log(`${ok ? '✓' : '✗'} ${name}`);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

function runTests() {
  const directory = mkdtempSync(path.join(tmpdir(), 'sampan-test-'));
  try {
    const first = vitest(path.join(directory, 'first.json'), filters);
    printSkipped(first.files);
    return runAgain(first, path.join(directory, 'again.json'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Tests drive real containers, kernels and clocks beside each other on two cores. A few failed files run once more, alone: what passes then is
 * flaky and is named, what fails again has failed. Many failures, or an error outside every test, are never run again.
 */
function runAgain(first, report) {
  const failed = first.files.filter(hasFailed);
  if (failed.length === 0) return first.status === 0 ? first : { ...first, failed: 1 };
  if (failed.length > MAX_FLAKY_FILES) return first;
  const names = failed.map(({ name }) => path.relative(ROOT, name));
  console.log(`\nfailed, run again alone: ${names.join(', ')}`);
  const again = vitest(report, ['--maxWorkers=1', `--retry=${RETRIES}`, ...names]);
  for (const file of failed) {
    if (!again.files.some((other) => other.name === file.name && !hasFailed(other))) continue;
    console.log(`flaky: ${path.relative(ROOT, file.name)}: ${failedTests(file).join('; ') || 'the file itself'}`);
  }
  // A file that did not run at all the second time counts as failed.
  const missing = failed.filter(({ name }) => !again.files.some((other) => other.name === name)).length;
  const passed = countTests(first.files.filter((file) => !hasFailed(file))).passed + again.passed;
  return { passed, failed: again.failed + missing || (again.status === 0 ? 0 : 1) };
}

function vitest(report, args) {
  const status = run('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args]);
  const files = readReport(report).testResults ?? [];
  const counts = countTests(files);
  return { ...counts, failed: status !== 0 && files.length === 0 ? 1 : counts.failed, status, files };
}

function hasFailed(file) {
  return file.status === 'failed' || failedTests(file).length > 0;
}

function failedTests({ assertionResults }) {
  return assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
}

/** A file that fails without a failed test, as when it cannot be loaded or leaks, counts as one failure. */
function countTests(files) {
  const counts = { passed: 0, failed: 0 };
  for (const file of files) {
    counts.passed += file.assertionResults.filter(({ status }) => status === 'passed').length;
    counts.failed += failedTests(file).length || (hasFailed(file) ? 1 : 0);
  }
  return counts;
}

/** What did not run is said, so that nobody takes it for passed. */
function printSkipped(files) {
  for (const { name, assertionResults } of files) {
    const skipped = assertionResults.filter(({ status }) => status === 'skipped' || status === 'pending').length;
    if (skipped > 0) console.log(`- ${skipped} skipped in ${path.relative(ROOT, name)}`);
  }
}

function readReport(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return {};
  }
}

function run(command, args) {
  const bin = path.join(ROOT, 'node_modules/.bin', command);
  return spawnSync(bin, args, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' }).status;
}
