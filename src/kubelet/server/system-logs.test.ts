import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeletContent } from './kubelet-call.ts';
import { journalArguments, parseLogQuery } from './log-query.ts';
import { systemLogs } from './system-logs.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'system-logs-'));
  await mkdir(path.join(directory, 'web server'));
  await writeFile(path.join(directory, 'kern.log'), 'kernel\n');
  await writeFile(path.join(directory, 'web server', 'a<b.log'), 'page\n');
  await symlink('/etc', path.join(directory, 'outside'));
  await symlink('kern.log', path.join(directory, 'inside'));
});
afterAll(() => rm(directory, { recursive: true }));

async function get(url: string, allowsQueries = false) {
  const { pathname, searchParams } = new URL(url, 'http://kubelet');
  const names = pathname.split('/').slice(2).map(decodeURIComponent);
  const answer = (await systemLogs(
    names,
    { method: 'GET', path: pathname, query: searchParams },
    { directory, allowsQueries },
  )) as KubeletContent;
  let text = '';
  for await (const chunk of answer.body) text += Buffer.from(chunk).toString();
  return { code: answer.code, location: answer.headers.location, text };
}

describe('/logs/', () => {
  it('has the files of the directory of logs, and lists of them', async () => {
    expect(await get('/logs/kern.log')).toMatchObject({ code: 200, text: 'kernel\n' });
    expect(await get('/logs/inside')).toMatchObject({ code: 200, text: 'kernel\n' });
    expect((await get('/logs/')).text).toContain('<a href="kern.log">kern.log</a>\n');
    expect((await get('/logs/web%20server/')).text).toContain('<a href="a%3Cb.log">a&lt;b.log</a>\n');
    expect(await get('/logs/web%20server')).toMatchObject({ code: 301, location: 'web%20server/' });
    expect(await get('/logs')).toMatchObject({ code: 301, location: 'logs/' });
  });

  it.each(['/logs/none', '/logs/outside/', '/logs/outside/passwd', '/logs/..%2f..%2fetc/passwd', '/logs/a%00b'])(
    'has no %s',
    async (url) => {
      expect((await get(url)).code).toBe(404);
    },
  );

  it('answers queries for files, and for services that write to files, where they are allowed', async () => {
    expect((await get('/logs/?query=/kern.log', true)).text).toBe('kernel\n');
    expect((await get('/logs/?query=kern', true)).text).toBe('kernel\n');
    expect((await get('/logs/?query=none', true)).text).toBe('\nlog not found for none\n');
    expect((await get('/logs/?query=kern&tailLines=1', true)).text).toContain('query resolved to log files for [kern]');
    expect((await get('/logs/?query=kern')).text).toContain('<pre>');
    await expect(get('/logs/?query=/../../etc/passwd', true)).rejects.toThrow('no such file');
  });
});

describe('a query for logs', () => {
  it.each([
    ['query=%20', 'query: Invalid value'],
    ['tailLines=1', 'query: Required value: cannot be empty with options'],
    ['query=a;b', 'query: Invalid value: "a;b": input contains unsupported characters'],
    ['query=a&boot=1', 'boot: Invalid value: 1: must be less than 1'],
    ['query=a&tailLines=x', 'tailLines: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
    ['query=a&tailLines=100001', 'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive'],
    ['query=a&query=/b', 'cannot specify a file and service'],
    ['query=/a&query=/b', 'cannot specify more than one file'],
    ['query=/a&boot=0', 'cannot specify file with options'],
    ['query=a&sinceTime=now', 'sinceTime: Invalid value: "now": invalid time format'],
    ['query=a&sinceTime=2024-01-02T00:00:00Z&untilTime=2024-01-01T00:00:00Z', 'must be after `sinceTime`'],
    ['query=a&query=b&query=c&query=d&query=e', 'query: Too many: 5: must have at most 4 items'],
  ])('is refused: %s', (query, problem) => {
    expect(() => parseLogQuery(new URLSearchParams(query))).toThrow(problem);
  });

  it('is undefined without parameters, otherwise arguments of journalctl', () => {
    expect(parseLogQuery(new URLSearchParams())).toBeUndefined();
    const { services = [], options = {} } =
      parseLogQuery(new URLSearchParams('query=kubelet&sinceTime=2024-01-02T03:04:05Z&tailLines=9&boot=-1&pattern=a|b')) ?? {};
    expect(journalArguments(options, services)).toEqual([
      ...['--utc', '--no-pager', '--output=short-precise', '--since=2024-01-02 03:04:05', '--pager-end', '--lines=9', '--unit=kubelet'],
      ...['--grep=a|b', '--boot=-1'],
    ]);
  });
});
