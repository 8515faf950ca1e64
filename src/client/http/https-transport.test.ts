import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { realClock, silentLogger } from '#base';
import { httpsTransport } from './https-transport.ts';

it('a transport has many requests under way without a warning of Node', async () => {
  const waiting: (() => void)[] = [];
  const server = createServer((_, response) => {
    waiting.push(() => response.setHeader('content-type', 'application/json').end('{"kind":"Status"}'));
    if (waiting.length === 20) for (const answer of waiting) answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const warnings: string[] = [];
  const record = ({ name }: Error) => void warnings.push(name);
  process.on('warning', record);
  try {
    const { port } = server.address() as AddressInfo;
    const transport = httpsTransport({ server: `http://127.0.0.1:${port}` }, { clock: realClock, logger: silentLogger });
    await Promise.all(Array.from({ length: 20 }, () => transport.request({ method: 'GET', path: '/version' })));
    await transport[Symbol.asyncDispose]?.();
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', record);
    server.close();
  }
});
