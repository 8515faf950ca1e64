import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '#base';
import { contentResponse, type KubeletCall, KubeletError, type KubeletResponse, notFound } from './kubelet-call.ts';
import { journalArguments, type LogQuery, parseLogQuery } from './log-query.ts';

export interface SystemLogsConfig {
  /** `/var/log`, on a real machine. */
  readonly directory: string;
  /** As `enableSystemLogQuery`. */
  readonly allowsQueries: boolean;
}

const TEXT = 'text/plain; charset=utf-8';
/** What a query may take, as upstream. */
const QUERY_MS = 30_000;

/** Serves `/logs/`: files and listings of the log directory, and journal queries. */
export async function systemLogs(names: readonly string[], call: KubeletCall, config: SystemLogsConfig): Promise<KubeletResponse> {
  if (config.allowsQueries) {
    const query = parseLogQuery(call.query);
    if (query !== undefined) return queried(query, config.directory);
  }
  // Relative links of the list need the slash.
  if (names.length === 0) return redirect('logs/');
  const isDirectoryPath = names.at(-1) === '';
  const file = await fileInside(config.directory, names.join('/'));
  if (file === undefined) return notFound();
  if (!file.isDirectory) return isDirectoryPath ? redirect(`../${encodeURIComponent(names.at(-2) ?? '')}`) : fileResponse(file.path);
  if (!isDirectoryPath) return redirect(`${encodeURIComponent(names.at(-1) ?? '')}/`);
  return contentResponse(200, 'text/html; charset=utf-8', await listing(file.path));
}

function redirect(location: string): KubeletResponse {
  return { ...contentResponse(301, TEXT, ''), headers: { location } };
}

function fileResponse(file: string): KubeletResponse {
  return { code: 200, headers: { 'content-type': TEXT }, body: contentOf(file) };
}

/** Opened when it is read, which fails if the file is gone by then. */
async function* contentOf(file: string): AsyncIterable<Uint8Array> {
  yield* createReadStream(file);
}

interface LogFile {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Symlinks out of the directory are not followed: pods may be able to create them. Undefined: the file does not exist. */
async function fileInside(directory: string, name: string): Promise<LogFile | undefined> {
  try {
    const root = await realpath(directory);
    const file = await realpath(path.join(root, path.posix.normalize(`/${name}`)));
    if (file !== root && !file.startsWith(`${root}/`)) return undefined;
    const status = await stat(file);
    if (!status.isFile() && !status.isDirectory()) return undefined;
    return { path: file, isDirectory: status.isDirectory() };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code) || error instanceof TypeError) return undefined;
    throw error;
  }
}

async function listing(directory: string): Promise<string> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const link = (name: string) => `<a href="${name.split('/').map(encodeURIComponent).join('/')}">${escapeHtml(name)}</a>\n`;
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${names.map(link).join('')}</pre>\n`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');
}

async function queried({ services, file, options }: LogQuery, directory: string): Promise<KubeletResponse> {
  if (file !== undefined) {
    const logFile = await fileInside(directory, file);
    if (logFile === undefined || logFile.isDirectory) throw new KubeletError(400, `query: Invalid value: "${file}": no such file`);
    return fileResponse(logFile.path);
  }
  const units = await journalUnits();
  const inJournal = services.filter((service) => units.has(`${service}.service`));
  const inFiles = services.filter((service) => !units.has(`${service}.service`));
  const body = async function* () {
    if (inJournal.length > 0) yield* journal(journalArguments(options, inJournal));
    if (inFiles.length > 0 && Object.keys(options).length > 0) {
      const list = `[${inFiles.join(' ')}]`;
      yield Buffer.from(`\noptions present and query resolved to log files for ${list}\ntry without specifying options\n`);
    } else for (const service of inFiles) yield* serviceFile(directory, service);
  };
  return { code: 200, headers: { 'content-type': TEXT }, body: body() };
}

/** Empty on a machine without a journal. */
async function journalUnits(): Promise<ReadonlySet<string>> {
  const output = await runProgram('journalctl', ['--field', '_SYSTEMD_UNIT'], { timeoutMs: QUERY_MS }).catch(() => '');
  return new Set(output.split('\n'));
}

async function* journal(args: readonly string[]): AsyncIterable<Uint8Array> {
  const child = spawn('journalctl', args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: QUERY_MS, killSignal: 'SIGKILL' });
  const failed = new Promise<never>((_, reject) => child.on('error', reject));
  failed.catch(() => {});
  try {
    yield* child.stdout;
    if (child.exitCode === null && child.pid === undefined) await failed;
  } catch {
    yield Buffer.from('\nerror: journal output not available\n');
  } finally {
    child.kill('SIGKILL');
  }
}

async function* serviceFile(directory: string, service: string): AsyncIterable<Uint8Array> {
  for (const name of [service, `${service}.log`, `${service}/${service}.log`]) {
    const file = await fileInside(directory, name);
    if (file === undefined || file.isDirectory) continue;
    yield* contentOf(file.path);
    return;
  }
  yield Buffer.from(`\nlog not found for ${service}\n`);
}
