import { expect, test } from 'vitest';
import { type Logger, silentLogger } from '../logging/logger.ts';
import { HttpEndpoint } from './http-endpoint.ts';

test('a route that fails is answered with 500 and logged, and others are served', async () => {
  const logged: object[] = [];
  const logger: Logger = { ...silentLogger, error: (_, fields = {}) => void logged.push(fields) };
  await using endpoint = new HttpEndpoint((path) => {
    if (path === '/metrics') throw new Error('no figures');
    return path === '/healthz' ? { code: 200, body: 'ok' } : undefined;
  }, logger);
  await endpoint.listen('127.0.0.1:0');
  const codeOf = async (path: string) => {
    const { status, body } = await fetch(`http://127.0.0.1:${endpoint.port}${path}`, { headers: { connection: 'close' } });
    await body?.cancel();
    return status;
  };
  expect([await codeOf('/metrics'), await codeOf('/healthz'), await codeOf('/other')]).toEqual([500, 200, 404]);
  expect(logged).toMatchObject([{ path: '/metrics' }]);
});
