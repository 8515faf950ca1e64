import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';

/** What the program is made from. */
const SOURCES = ['src', 'scripts', 'package.json', 'package-lock.json'];
const UNKNOWN_DATE = '1970-01-01T00:00:00Z';

/** The commit that is checked out, and when it was made, in seconds since 1970; empty outside a clone. */
export function currentCommit(root = ROOT) {
  // Without the check, an unpacked archive would take the commit of whatever repository it lies in.
  const [commit = '', seconds = ''] = existsSync(path.join(root, '.git')) ? git(root, ['log', '-1', '--format=%H %ct']).split(' ') : [];
  return { commit, seconds };
}

/**
 * What the build is stamped with. The same sources give the same stamp: the date is that of the commit, or what SOURCE_DATE_EPOCH says
 * (reproducible-builds.org), never the time of the build.
 */
export function buildInfo({ root = ROOT, env = process.env } = {}) {
  const { commit, seconds } = currentCommit(root);
  const treeState = commit === '' ? '' : git(root, ['status', '--porcelain', '--', ...SOURCES]) === '' ? 'clean' : 'dirty';
  return { commit, treeState, date: dateOf(env.SOURCE_DATE_EPOCH ?? seconds) };
}

function dateOf(seconds) {
  if (seconds === '') return UNKNOWN_DATE;
  if (!/^\d+$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH must be whole seconds since 1970, not '${seconds}'`);
  return new Date(Number(seconds) * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

function git(root, args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}
