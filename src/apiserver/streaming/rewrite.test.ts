import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { htmlRewriter } from './rewrite-html.ts';
import { rewriteUrl } from './rewrite-url.ts';

const PREFIX = '/api/v1/namespaces/ns/services/web/proxy';
const PLACE = { sourceHost: '10.0.0.1:80', requestHost: 'localhost:8001', pathPrefix: PREFIX };

describe('a URL in a proxied page', () => {
  it.each([
    ['/page', `${PREFIX}/page`],
    ['/', `${PREFIX}/`],
    ['page', 'page'],
    ['../page', '../page'],
    ['?q=1', '?q=1'],
    ['', ''],
    ['mailto:a@example.com', 'mailto:a@example.com'],
    ['https://example.com/page', 'https://example.com/page'],
    ['http://10.0.0.1:80/page?q', `${PREFIX}/page?q`],
    ['http://10.0.0.1:80', `${PREFIX}/`],
    ['//10.0.0.1:80/page', `${PREFIX}/page`],
    ['http://localhost:8001/page', `http://localhost:8001${PREFIX}/page`],
    [`${PREFIX}/page`, `${PREFIX}/page`],
  ])('%j becomes %j', (url, rewritten) => {
    expect(rewriteUrl(url, PLACE)).toBe(rewritten);
  });
});

async function rewritten(html: string, pieceLength: number): Promise<string> {
  const rewriter = htmlRewriter((url) => `[${url}]`);
  for (let at = 0; at < html.length; at += pieceLength) rewriter.write(html.slice(at, at + pieceLength));
  rewriter.end();
  return text(rewriter);
}

describe('a proxied page', () => {
  const page = `<!DOCTYPE html><!-- <a href="/no"> --><html><body class=x background = '/b'>
<a title="a > b" href="/x?y=1&amp;z">text href="/not"</a><img src=/i.png alt><form action="/f" data-action="/no"></form>
<script src="/s.js">if (a < b) document.write('<a href="/no">')</script><style>a{background:url("</b")}</style>
<a href='/q' href2><br/><p cite="/no">é 1 < 2</p><link href="/l"/></body></html>`;
  const expected = page
    .replace("'/b'", "'[/b]'")
    .replace('"/x?y=1&amp;z"', '"[/x?y=1&amp;z]"')
    .replace('src=/i.png', 'src=[/i.png]')
    .replace('action="/f"', 'action="[/f]"')
    .replace('"/s.js"', '"[/s.js]"')
    .replace("'/q'", "'[/q]'")
    .replace('"/l"', '"[/l]"');

  it.each([1, 2, 7, 10_000])('has its links rewritten when it comes in pieces of %d', async (pieceLength) => {
    expect(await rewritten(page, pieceLength)).toBe(expected);
  });

  it('passes a tag that never ends', async () => {
    const html = `<a href="${'x'.repeat(200_000)}`;
    expect((await rewritten(html, 5000)).length).toBe(html.length);
  });
});
