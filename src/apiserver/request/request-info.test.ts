import { describe, expect, it } from 'vitest';
import { parseRequestInfo, selectedName } from './request-info.ts';

const read = (path: string, method = 'GET') => parseRequestInfo({ method, path, watch: false });

describe('a path', () => {
  it.each([
    ['/api/v1/namespaces/n/pods/p/exec', { verb: 'get', namespace: 'n', resource: 'pods', name: 'p', subresource: 'exec' }],
    ['/api/v1/watch/namespaces/n/pods', { verb: 'watch', namespace: 'n', resource: 'pods', name: '', legacyWatch: true }],
    [
      '/api/v1/proxy/namespaces/n/pods/p/x',
      { verb: 'proxy', namespace: 'n', resource: 'pods', name: 'p', subresource: '', legacyWatch: false },
    ],
    ['/api/v1/namespaces/n/status', { resource: 'namespaces', name: 'n', namespace: 'n', subresource: 'status' }],
    ['/apis/apps/v1/deployments', { verb: 'list', group: 'apps', version: 'v1', resource: 'deployments' }],
    ['/apis/apps/v1', { isResource: false, verb: 'get' }],
  ])('says what is asked for: %s', (path, expected) => {
    expect(read(path)).toMatchObject(expected);
  });

  it('DELETE without a name is deletecollection', () => {
    expect(read('/api/v1/nodes', 'DELETE').verb).toBe('deletecollection');
  });
});

describe('the name in a field selector', () => {
  it.each([
    ['metadata.name=a', 'a'],
    ['spec.x=y,metadata.name==a', 'a'],
    ['metadata.name!=a', undefined],
    ['metadata.name=a/b', undefined],
    ['metadata.name=..', undefined],
    [null, undefined],
  ])('%s is %s, if an object can have it', (selector, expected) => {
    expect(selectedName(selector)).toBe(expected);
  });
});
