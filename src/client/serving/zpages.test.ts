import { describe, expect, it } from 'vitest';
import { flagzResponse, statuszResponse } from './zpages.ts';

const facts = { name: 'kubelet', version: 'v1.36.4', startedMs: 0, nowMs: 61_500, paths: ['/pods', '/healthz'] };
const structured = (kind: string, version: string) => `application/json;as=${kind};v=${version};g=config.k8s.io`;

describe('the pages about a component', () => {
  it.each([undefined, '', '*/*', 'text/plain', 'text/html, */*;q=0.8'])('are text for clients that accept %s', (accept) => {
    const { code, headers, body } = statuszResponse(facts, accept);
    expect({ code, headers }).toEqual({ code: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } });
    expect(body).toContain('kubelet statusz\n');
    expect(body).toContain('Up: 61 s\n');
    expect(body).toContain('Paths: /healthz /pods\n');
  });

  it('are objects for clients that accept their kind', () => {
    const { headers, body } = statuszResponse(facts, structured('Statusz', 'v1beta1'));
    expect(headers).toEqual({ 'content-type': 'application/json' });
    expect(JSON.parse(body)).toEqual({
      ...{ kind: 'Statusz', apiVersion: 'config.k8s.io/v1beta1', metadata: { name: 'kubelet' } },
      ...{
        startTime: '1970-01-01T00:00:00Z',
        uptimeSeconds: 61,
        goVersion: 'none',
        binaryVersion: 'v1.36.4',
        paths: ['/healthz', '/pods'],
      },
    });
    const flagz = flagzResponse('kubelet', new Map([['v', '2']]), structured('Flagz', 'v1beta1'));
    expect(JSON.parse(flagz.body)).toEqual({
      ...{ kind: 'Flagz', apiVersion: 'config.k8s.io/v1beta1', metadata: { name: 'kubelet' }, flags: { v: '2' } },
    });
  });

  it('warn that v1alpha1 is deprecated', () => {
    const { headers } = flagzResponse('kubelet', new Map(), structured('Flagz', 'v1alpha1'));
    expect(headers.warning).toBe('299 - "This version of the flagz endpoint is deprecated. Please use a newer version."');
  });

  it.each(['application/json', structured('Flagz', 'v1beta1'), structured('Statusz', 'v2'), 'image/png', 'application/json;as'])(
    'are not acceptable as %s',
    (accept) => {
      expect(statuszResponse(facts, accept).code).toBe(406);
    },
  );

  it('list flags in order', () => {
    const flags = new Map([
      ['v', '2'],
      ['config', '/a'],
    ]);
    expect(flagzResponse('kubelet', flags, undefined).body).toContain('\n\nconfig=/a\nv=2\n');
  });
});
