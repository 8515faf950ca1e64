import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createLogger, VirtualClock } from '#base';
import { startPluginRegistry } from './plugin-registry.ts';

it('a plugin registry whose directory is deleted goes on, and stops without an error', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'sampan-plugins-'));
  const directory = path.join(root, 'plugins_registry');
  const clock = new VirtualClock();
  const lines: string[] = [];
  const logger = createLogger({ clock, write: (line) => lines.push(line) });
  const registry = startPluginRegistry({ directory, handlers: new Map() }, { clock, logger });
  await registry.ready;
  rmSync(root, { recursive: true });
  const failedScans = () => lines.filter((line) => line.includes('cannot be read')).length;
  for (const scans of [1, 2]) {
    await clock.advance(10_000);
    await expect.poll(failedScans).toBeGreaterThanOrEqual(scans);
  }
  await registry[Symbol.asyncDispose]();
  await registry.done;
});
