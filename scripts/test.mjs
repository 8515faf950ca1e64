// npm test [-- filters of vitest]: installs if needed, then types, lint and every test. Ends with `N passed, M failed`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureInstalled } from './install.mjs';
import { ROOT } from './root.mjs';

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
  const report = path.join(directory, 'report.json');
  const status = run('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...filters]);
  const counts = countTests(report);
  printSkipped(report);
  rmSync(directory, { recursive: true });
  // An error outside every test fails the run, too.
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** A file that fails without a failed test, as when it cannot be loaded or leaks, counts as one failure. */
function countTests(report) {
  const { testResults = [] } = readReport(report);
  const counts = { passed: 0, failed: 0 };
  for (const { status, assertionResults } of testResults) {
    const failed = assertionResults.filter((test) => test.status === 'failed').length;
    counts.passed += assertionResults.filter((test) => test.status === 'passed').length;
    counts.failed += failed || (status === 'failed' ? 1 : 0);
  }
  return counts;
}

/** What did not run is said, so that nobody takes it for passed. */
function printSkipped(report) {
  for (const { name, assertionResults } of readReport(report).testResults ?? []) {
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
