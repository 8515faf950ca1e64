import { describe, expect, test } from 'vitest';
import { connectOptions } from './connect-options.ts';

const options = (kind: string, query: string) => connectOptions(kind, new URLSearchParams(query));

describe('the options object of a connect request', () => {
  test('has booleans and lists as its kind defines them', () => {
    const query = 'command=sh&command=-c&container=c&stdin=true&stdout=1&stderr=False&tty=0&unknown=x';
    const typed = { stdin: true, stdout: true, stderr: false, tty: false, container: 'c', command: ['sh', '-c'] };
    expect(options('PodExecOptions', query)).toEqual({ kind: 'PodExecOptions', apiVersion: 'v1', ...typed });
  });

  test('has a null command without one in the query', () => {
    expect(options('PodExecOptions', '')).toEqual({ kind: 'PodExecOptions', apiVersion: 'v1', command: null });
  });

  test('has ports as numbers', () => {
    expect(options('PodPortForwardOptions', 'ports=80&ports=443')).toMatchObject({ ports: [80, 443] });
  });

  test('is refused with a port that is no number', () => {
    expect(() => options('PodPortForwardOptions', 'ports=http')).toThrow('strconv.ParseInt: parsing "http": invalid syntax');
  });
});
